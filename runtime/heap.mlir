// The heap of the calls of a model that have one arena: buffers whose sizes are known only when it
// runs. One thread at a time uses it. It lies at the arena's start; without blocks it is all zero.
//
// C's heap takes some 100 ns for an aligned block, which is more than a step of a small loop may
// take in all, and gives the pages of large ones back to the system. Here memory stays from call to
// call: the region, a block of C's heap as long as any call so far needed.
//
// Places are counted in bytes from the region's start on. A block gets the first gap between those
// that are alive. If that lies beyond the region, it is a block of C's heap until its end, and
// the next call begins with a region that it would have fitted into: as the places do not depend on
// the region, the same call once more takes nothing from C's heap.
//
// Blocks of up to 256 KiB are cut from pieces, which double in size, and are kept by size when they
// are given back: four sizes in each octave, so that at most a quarter is left over. Pieces and
// larger blocks have places of their own.
//
// What the caller is to free is a block of C's heap. It may give such blocks back for the next call,
// whose results take them again, one that is less than twice as long as they need.
//
// runtime/heap.py puts in the target's `!size`.

!size = i64  // C's size_t

!heap = !llvm.struct<(
  ptr,                  // 0: the first block, by place
  ptr,                  // 1: the first free byte of the piece that is cut
  ptr,                  // 2: its end
  !size,                // 3: bytes of the last piece
  ptr,                  // 4: the region, or null
  !size,                // 5: its bytes
  !size,                // 6: what the call that needed most would have it be
  ptr,                  // 7: results that the caller gave back
  array<48 x ptr>       // 8: blocks that were given back, by kind
)>

// The 64 bytes before each block, and at the start of each piece.
!header = !llvm.struct<(
  ptr,                  // 0: the next of the list
  ptr,                  // 1: the one before it, or the heap
  !size,                // 2: the kind, 0 of a block that has a place of its own
  !size,                // 3: its place
  !size                 // 4: where the place ends
)>

// A result that the caller gave back.
!result = !llvm.struct<(
  ptr,                  // 0: the next
  !size                 // 1: its bytes
)>

llvm.func @aligned_alloc(!size, !size) -> !llvm.ptr
llvm.func @free(!llvm.ptr)

// Begins a call. What is left of one that did not end goes first.
llvm.func internal @nnc_heap_start(%heap: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %none = llvm.mlir.constant(0 : !size) : !size
  %line = llvm.mlir.constant(64 : !size) : !size
  %first = llvm.load %heap : !llvm.ptr -> !llvm.ptr
  %clean = llvm.icmp "eq" %first, %null : !llvm.ptr
  llvm.cond_br %clean, ^begin, ^clear
^clear:
  llvm.call @nnc_heap_end(%heap) : (!llvm.ptr) -> ()
  llvm.br ^begin
^begin:
  %region_place = llvm.getelementptr %heap[0, 4] : (!llvm.ptr) -> !llvm.ptr, !heap
  %bytes_place = llvm.getelementptr %heap[0, 5] : (!llvm.ptr) -> !llvm.ptr, !heap
  %needed_place = llvm.getelementptr %heap[0, 6] : (!llvm.ptr) -> !llvm.ptr, !heap
  %bytes = llvm.load %bytes_place : !llvm.ptr -> !size
  %needed = llvm.load %needed_place : !llvm.ptr -> !size
  %enough = llvm.icmp "uge" %bytes, %needed : !size
  llvm.cond_br %enough, ^end, ^make
^make:
  %region = llvm.call @aligned_alloc(%line, %needed) : (!size, !size) -> !llvm.ptr
  %failed = llvm.icmp "eq" %region, %null : !llvm.ptr
  %made = llvm.select %failed, %none, %needed : i1, !size
  llvm.store %region, %region_place : !llvm.ptr, !llvm.ptr
  llvm.store %made, %bytes_place : !size, !llvm.ptr
  llvm.br ^end
^end:
  llvm.return
}

// A block of so many bytes, a positive multiple of 64, at such an address; null where there is no
// memory.
llvm.func internal @nnc_heap_take(%heap: !llvm.ptr, %bytes: !size) -> !llvm.ptr {
  %null = llvm.mlir.zero : !llvm.ptr
  %one = llvm.mlir.constant(1 : !size) : !size
  %two = llvm.mlir.constant(2 : !size) : !size
  %four = llvm.mlir.constant(4 : !size) : !size
  %six = llvm.mlir.constant(6 : !size) : !size
  %line = llvm.mlir.constant(64 : !size) : !size
  %most = llvm.mlir.constant(262144 : !size) : !size
  %large = llvm.icmp "ugt" %bytes, %most : !size
  llvm.cond_br %large, ^large, ^small
^small:
  // With k leading bits that count, 1xx lines in units of 2^(k - 3) are of kind 4 (k - 3) + 1xx.
  %lines = llvm.lshr %bytes, %six : !size
  %wide = llvm.or %lines, %four : !size
  %zeros = "llvm.intr.ctlz"(%wide) <{is_zero_poison = true}> : (!size) -> !size
  %four_zeros = "llvm.intr.ctlz"(%four) <{is_zero_poison = true}> : (!size) -> !size
  %shift = llvm.sub %four_zeros, %zeros : !size
  %unit = llvm.shl %one, %shift : !size
  %less = llvm.sub %unit, %one : !size
  %more = llvm.add %lines, %less : !size
  %units = llvm.lshr %more, %shift : !size
  %octave = llvm.shl %shift, %two : !size
  %kind = llvm.add %octave, %units : !size
  %list = llvm.getelementptr %heap[0, 8, %kind] : (!llvm.ptr, !size) -> !llvm.ptr, !heap
  %known = llvm.load %list : !llvm.ptr -> !llvm.ptr
  %none = llvm.icmp "eq" %known, %null : !llvm.ptr
  llvm.cond_br %none, ^cut, ^again
^again:
  %old = llvm.getelementptr %known[-64] : (!llvm.ptr) -> !llvm.ptr, i8
  %following = llvm.load %old : !llvm.ptr -> !llvm.ptr
  llvm.store %following, %list : !llvm.ptr, !llvm.ptr
  llvm.return %known : !llvm.ptr
^cut:
  %whole = llvm.shl %units, %shift : !size
  %beyond = llvm.add %whole, %one : !size
  %length = llvm.shl %beyond, %six : !size
  %at_place = llvm.getelementptr %heap[0, 1] : (!llvm.ptr) -> !llvm.ptr, !heap
  %end_place = llvm.getelementptr %heap[0, 2] : (!llvm.ptr) -> !llvm.ptr, !heap
  %at = llvm.load %at_place : !llvm.ptr -> !llvm.ptr
  %end = llvm.load %end_place : !llvm.ptr -> !llvm.ptr
  %from = llvm.ptrtoint %at : !llvm.ptr to !size
  %to = llvm.ptrtoint %end : !llvm.ptr to !size
  %left = llvm.sub %to, %from : !size
  %fits = llvm.icmp "uge" %left, %length : !size
  llvm.cond_br %fits, ^carve(%at : !llvm.ptr), ^piece
^piece:
  %size_place = llvm.getelementptr %heap[0, 3] : (!llvm.ptr) -> !llvm.ptr, !heap
  %first_size = llvm.mlir.constant(65536 : !size) : !size
  %before = llvm.load %size_place : !llvm.ptr -> !size
  %double = llvm.shl %before, %one : !size
  %usual = "llvm.intr.umax"(%double, %first_size) : (!size, !size) -> !size
  %least = llvm.add %length, %line : !size
  %size = "llvm.intr.umax"(%usual, %least) : (!size, !size) -> !size
  %piece = llvm.call @nnc_heap_block(%heap, %size) : (!llvm.ptr, !size) -> !llvm.ptr
  %failed = llvm.icmp "eq" %piece, %null : !llvm.ptr
  llvm.cond_br %failed, ^nothing, ^enter
^enter:
  %start = llvm.getelementptr %piece[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %last = llvm.getelementptr %piece[%size] : (!llvm.ptr, !size) -> !llvm.ptr, i8
  llvm.store %last, %end_place : !llvm.ptr, !llvm.ptr
  llvm.store %size, %size_place : !size, !llvm.ptr
  llvm.br ^carve(%start : !llvm.ptr)
^carve(%place: !llvm.ptr):
  %rest = llvm.getelementptr %place[%length] : (!llvm.ptr, !size) -> !llvm.ptr, i8
  %kind_place = llvm.getelementptr %place[0, 2] : (!llvm.ptr) -> !llvm.ptr, !header
  llvm.store %rest, %at_place : !llvm.ptr, !llvm.ptr
  llvm.store %kind, %kind_place : !size, !llvm.ptr
  %made = llvm.getelementptr %place[64] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.return %made : !llvm.ptr
^large:
  %with_header = llvm.add %bytes, %line : !size
  %own = llvm.call @nnc_heap_block(%heap, %with_header) : (!llvm.ptr, !size) -> !llvm.ptr
  %refused = llvm.icmp "eq" %own, %null : !llvm.ptr
  llvm.cond_br %refused, ^nothing, ^given
^given:
  %behind = llvm.getelementptr %own[64] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.return %behind : !llvm.ptr
^nothing:
  llvm.return %null : !llvm.ptr
}

// A block of so many bytes with a place of its own, its header included; null where there is no
// memory.
llvm.func internal @nnc_heap_block(%heap: !llvm.ptr, %bytes: !size) -> !llvm.ptr {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : !size) : !size
  %line = llvm.mlir.constant(64 : !size) : !size
  %first = llvm.load %heap : !llvm.ptr -> !llvm.ptr
  llvm.br ^look(%heap, %first, %zero : !llvm.ptr, !llvm.ptr, !size)
^look(%before: !llvm.ptr, %after: !llvm.ptr, %place: !size):
  %last = llvm.icmp "eq" %after, %null : !llvm.ptr
  llvm.cond_br %last, ^found, ^measure
^measure:
  %after_place = llvm.getelementptr %after[0, 3] : (!llvm.ptr) -> !llvm.ptr, !header
  %limit = llvm.load %after_place : !llvm.ptr -> !size
  %gap = llvm.sub %limit, %place : !size
  %fits = llvm.icmp "uge" %gap, %bytes : !size
  llvm.cond_br %fits, ^found, ^onward
^onward:
  %after_end = llvm.getelementptr %after[0, 4] : (!llvm.ptr) -> !llvm.ptr, !header
  %behind = llvm.load %after_end : !llvm.ptr -> !size
  %following = llvm.load %after : !llvm.ptr -> !llvm.ptr
  llvm.br ^look(%after, %following, %behind : !llvm.ptr, !llvm.ptr, !size)
^found:
  %end = llvm.add %place, %bytes : !size
  %region_place = llvm.getelementptr %heap[0, 4] : (!llvm.ptr) -> !llvm.ptr, !heap
  %length_place = llvm.getelementptr %heap[0, 5] : (!llvm.ptr) -> !llvm.ptr, !heap
  %length = llvm.load %length_place : !llvm.ptr -> !size
  %inside = llvm.icmp "ule" %end, %length : !size
  %overflow = llvm.icmp "ult" %end, %place : !size
  llvm.cond_br %overflow, ^nothing, ^choose
^choose:
  llvm.cond_br %inside, ^within, ^beyond
^within:
  %region = llvm.load %region_place : !llvm.ptr -> !llvm.ptr
  %part = llvm.getelementptr %region[%place] : (!llvm.ptr, !size) -> !llvm.ptr, i8
  llvm.br ^enter(%part : !llvm.ptr)
^beyond:
  %new = llvm.call @aligned_alloc(%line, %bytes) : (!size, !size) -> !llvm.ptr
  %failed = llvm.icmp "eq" %new, %null : !llvm.ptr
  llvm.cond_br %failed, ^nothing, ^enter(%new : !llvm.ptr)
^enter(%block: !llvm.ptr):
  %needed_place = llvm.getelementptr %heap[0, 6] : (!llvm.ptr) -> !llvm.ptr, !heap
  %needed = llvm.load %needed_place : !llvm.ptr -> !size
  %most = "llvm.intr.umax"(%needed, %end) : (!size, !size) -> !size
  llvm.store %most, %needed_place : !size, !llvm.ptr
  %block_before = llvm.getelementptr %block[0, 1] : (!llvm.ptr) -> !llvm.ptr, !header
  %block_kind = llvm.getelementptr %block[0, 2] : (!llvm.ptr) -> !llvm.ptr, !header
  %block_place = llvm.getelementptr %block[0, 3] : (!llvm.ptr) -> !llvm.ptr, !header
  %block_end = llvm.getelementptr %block[0, 4] : (!llvm.ptr) -> !llvm.ptr, !header
  llvm.store %after, %block : !llvm.ptr, !llvm.ptr
  llvm.store %before, %block_before : !llvm.ptr, !llvm.ptr
  llvm.store %zero, %block_kind : !size, !llvm.ptr
  llvm.store %place, %block_place : !size, !llvm.ptr
  llvm.store %end, %block_end : !size, !llvm.ptr
  // The heap's first field and a header's are alike.
  llvm.store %block, %before : !llvm.ptr, !llvm.ptr
  llvm.cond_br %last, ^done, ^link
^link:
  %back_place = llvm.getelementptr %after[0, 1] : (!llvm.ptr) -> !llvm.ptr, !header
  llvm.store %block, %back_place : !llvm.ptr, !llvm.ptr
  llvm.br ^done
^done:
  llvm.return %block : !llvm.ptr
^nothing:
  llvm.return %null : !llvm.ptr
}

// Takes a block back.
llvm.func internal @nnc_heap_give(%heap: !llvm.ptr, %block: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : !size) : !size
  %header = llvm.getelementptr %block[-64] : (!llvm.ptr) -> !llvm.ptr, i8
  %kind_place = llvm.getelementptr %header[0, 2] : (!llvm.ptr) -> !llvm.ptr, !header
  %kind = llvm.load %kind_place : !llvm.ptr -> !size
  %large = llvm.icmp "eq" %kind, %zero : !size
  llvm.cond_br %large, ^unlink, ^keep
^keep:
  %list = llvm.getelementptr %heap[0, 8, %kind] : (!llvm.ptr, !size) -> !llvm.ptr, !heap
  %known = llvm.load %list : !llvm.ptr -> !llvm.ptr
  llvm.store %known, %header : !llvm.ptr, !llvm.ptr
  llvm.store %block, %list : !llvm.ptr, !llvm.ptr
  llvm.return
^unlink:
  %before_place = llvm.getelementptr %header[0, 1] : (!llvm.ptr) -> !llvm.ptr, !header
  %after = llvm.load %header : !llvm.ptr -> !llvm.ptr
  %before = llvm.load %before_place : !llvm.ptr -> !llvm.ptr
  llvm.store %after, %before : !llvm.ptr, !llvm.ptr
  %last = llvm.icmp "eq" %after, %null : !llvm.ptr
  llvm.cond_br %last, ^leave, ^link
^link:
  %back_place = llvm.getelementptr %after[0, 1] : (!llvm.ptr) -> !llvm.ptr, !header
  llvm.store %before, %back_place : !llvm.ptr, !llvm.ptr
  llvm.br ^leave
^leave:
  llvm.call @nnc_heap_leave(%heap, %header) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}

// Frees a block with a place of its own, by its header, if that lies beyond the region.
llvm.func internal @nnc_heap_leave(%heap: !llvm.ptr, %block: !llvm.ptr) {
  %length_place = llvm.getelementptr %heap[0, 5] : (!llvm.ptr) -> !llvm.ptr, !heap
  %end_place = llvm.getelementptr %block[0, 4] : (!llvm.ptr) -> !llvm.ptr, !header
  %length = llvm.load %length_place : !llvm.ptr -> !size
  %end = llvm.load %end_place : !llvm.ptr -> !size
  %beyond = llvm.icmp "ugt" %end, %length : !size
  llvm.cond_br %beyond, ^free, ^end
^free:
  llvm.call @free(%block) : (!llvm.ptr) -> ()
  llvm.br ^end
^end:
  llvm.return
}

// Ends a call: no block is alive, and nothing is kept but a region that was long enough.
llvm.func internal @nnc_heap_end(%heap: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i8) : i8
  %none = llvm.mlir.constant(0 : !size) : !size
  %first = llvm.load %heap : !llvm.ptr -> !llvm.ptr
  llvm.br ^look(%first : !llvm.ptr)
^look(%block: !llvm.ptr):
  %done = llvm.icmp "eq" %block, %null : !llvm.ptr
  llvm.cond_br %done, ^empty, ^more
^more:
  %next = llvm.load %block : !llvm.ptr -> !llvm.ptr
  llvm.call @nnc_heap_leave(%heap, %block) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.br ^look(%next : !llvm.ptr)
^empty:
  %region_place = llvm.getelementptr %heap[0, 4] : (!llvm.ptr) -> !llvm.ptr, !heap
  %length_place = llvm.getelementptr %heap[0, 5] : (!llvm.ptr) -> !llvm.ptr, !heap
  %needed_place = llvm.getelementptr %heap[0, 6] : (!llvm.ptr) -> !llvm.ptr, !heap
  %kinds = llvm.getelementptr %heap[0, 8] : (!llvm.ptr) -> !llvm.ptr, !heap
  %heap_end = llvm.getelementptr %heap[1] : (!llvm.ptr) -> !llvm.ptr, !heap
  %from = llvm.ptrtoint %heap : !llvm.ptr to !size
  %to = llvm.ptrtoint %region_place : !llvm.ptr to !size
  %kinds_from = llvm.ptrtoint %kinds : !llvm.ptr to !size
  %kinds_to = llvm.ptrtoint %heap_end : !llvm.ptr to !size
  %front = llvm.sub %to, %from : !size
  %back = llvm.sub %kinds_to, %kinds_from : !size
  "llvm.intr.memset"(%heap, %zero, %front) <{isVolatile = false}> : (!llvm.ptr, i8, !size) -> ()
  "llvm.intr.memset"(%kinds, %zero, %back) <{isVolatile = false}> : (!llvm.ptr, i8, !size) -> ()
  llvm.call @nnc_heap_forget(%heap) : (!llvm.ptr) -> ()
  %length = llvm.load %length_place : !llvm.ptr -> !size
  %needed = llvm.load %needed_place : !llvm.ptr -> !size
  %enough = llvm.icmp "uge" %length, %needed : !size
  llvm.cond_br %enough, ^end, ^small
^small:
  %region = llvm.load %region_place : !llvm.ptr -> !llvm.ptr
  llvm.store %null, %region_place : !llvm.ptr, !llvm.ptr
  llvm.store %none, %length_place : !size, !llvm.ptr
  llvm.call @free(%region) : (!llvm.ptr) -> ()
  llvm.br ^end
^end:
  llvm.return
}

// -- results --------------------------------------------------------------------------------------

// A block of C's heap for a result of so many bytes, a multiple of 64: the shortest that was given
// back, if it is less than twice as long; null where there is no memory.
llvm.func internal @nnc_heap_result(%heap: !llvm.ptr, %bytes: !size) -> !llvm.ptr {
  %null = llvm.mlir.zero : !llvm.ptr
  %one = llvm.mlir.constant(1 : !size) : !size
  %line = llvm.mlir.constant(64 : !size) : !size
  %limit = llvm.shl %bytes, %one : !size
  %start = llvm.getelementptr %heap[0, 7] : (!llvm.ptr) -> !llvm.ptr, !heap
  llvm.br ^look(%start, %null, %limit : !llvm.ptr, !llvm.ptr, !size)
^look(%place: !llvm.ptr, %best: !llvm.ptr, %below: !size):
  %one_more = llvm.load %place : !llvm.ptr -> !llvm.ptr
  %last = llvm.icmp "eq" %one_more, %null : !llvm.ptr
  llvm.cond_br %last, ^all, ^measure
^measure:
  %length_place = llvm.getelementptr %one_more[0, 1] : (!llvm.ptr) -> !llvm.ptr, !result
  %length = llvm.load %length_place : !llvm.ptr -> !size
  %enough = llvm.icmp "uge" %length, %bytes : !size
  %less = llvm.icmp "ult" %length, %below : !size
  %better = llvm.and %enough, %less : i1
  %new_best = llvm.select %better, %place, %best : i1, !llvm.ptr
  %new_below = llvm.select %better, %length, %below : i1, !size
  llvm.br ^look(%one_more, %new_best, %new_below : !llvm.ptr, !llvm.ptr, !size)
^all:
  %none = llvm.icmp "eq" %best, %null : !llvm.ptr
  llvm.cond_br %none, ^new, ^again
^again:
  %found = llvm.load %best : !llvm.ptr -> !llvm.ptr
  %next = llvm.load %found : !llvm.ptr -> !llvm.ptr
  llvm.store %next, %best : !llvm.ptr, !llvm.ptr
  llvm.return %found : !llvm.ptr
^new:
  %made = llvm.call @aligned_alloc(%line, %bytes) : (!size, !size) -> !llvm.ptr
  llvm.return %made : !llvm.ptr
}

// Takes the memory of a result, of so many bytes, for the next call that has this arena. Nothing
// where one of them is null.
llvm.func @nnc_reuse(%arena: !llvm.ptr, %block: !llvm.ptr, %bytes: !size) {
  %null = llvm.mlir.zero : !llvm.ptr
  %no_arena = llvm.icmp "eq" %arena, %null : !llvm.ptr
  %no_block = llvm.icmp "eq" %block, %null : !llvm.ptr
  %nothing = llvm.or %no_arena, %no_block : i1
  llvm.cond_br %nothing, ^end, ^take
^take:
  %first_place = llvm.getelementptr %arena[0, 7] : (!llvm.ptr) -> !llvm.ptr, !heap
  %length_place = llvm.getelementptr %block[0, 1] : (!llvm.ptr) -> !llvm.ptr, !result
  %first = llvm.load %first_place : !llvm.ptr -> !llvm.ptr
  llvm.store %first, %block : !llvm.ptr, !llvm.ptr
  llvm.store %bytes, %length_place : !size, !llvm.ptr
  llvm.store %block, %first_place : !llvm.ptr, !llvm.ptr
  llvm.br ^end
^end:
  llvm.return
}

// Frees results that were given back.
llvm.func internal @nnc_heap_forget(%heap: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %place = llvm.getelementptr %heap[0, 7] : (!llvm.ptr) -> !llvm.ptr, !heap
  %first = llvm.load %place : !llvm.ptr -> !llvm.ptr
  llvm.br ^look(%first : !llvm.ptr)
^look(%block: !llvm.ptr):
  %done = llvm.icmp "eq" %block, %null : !llvm.ptr
  llvm.cond_br %done, ^end, ^more
^more:
  %next = llvm.load %block : !llvm.ptr -> !llvm.ptr
  llvm.call @free(%block) : (!llvm.ptr) -> ()
  llvm.br ^look(%next : !llvm.ptr)
^end:
  llvm.store %null, %place : !llvm.ptr, !llvm.ptr
  llvm.return
}

// Gives back what is kept in an arena, which then is as new; of null, nothing.
llvm.func @nnc_release(%arena: !llvm.ptr) {
  %none = llvm.mlir.constant(0 : !size) : !size
  %null = llvm.mlir.zero : !llvm.ptr
  %nothing = llvm.icmp "eq" %arena, %null : !llvm.ptr
  llvm.cond_br %nothing, ^end, ^free
^free:
  llvm.call @nnc_heap_end(%arena) : (!llvm.ptr) -> ()
  %region_place = llvm.getelementptr %arena[0, 4] : (!llvm.ptr) -> !llvm.ptr, !heap
  %length_place = llvm.getelementptr %arena[0, 5] : (!llvm.ptr) -> !llvm.ptr, !heap
  %needed_place = llvm.getelementptr %arena[0, 6] : (!llvm.ptr) -> !llvm.ptr, !heap
  %region = llvm.load %region_place : !llvm.ptr -> !llvm.ptr
  llvm.store %null, %region_place : !llvm.ptr, !llvm.ptr
  llvm.store %none, %length_place : !size, !llvm.ptr
  llvm.store %none, %needed_place : !size, !llvm.ptr
  llvm.call @free(%region) : (!llvm.ptr) -> ()
  llvm.br ^end
^end:
  llvm.return
}
