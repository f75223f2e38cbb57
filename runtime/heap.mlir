// The heap of one call of a model: buffers whose sizes are known only when it runs.
//
// C's heap takes some 100 ns for an aligned block, which is more than a step of a small loop may
// take in all. Here one that was given back is taken again in a few instructions, as long as the
// call lasts, and what is left at its end goes back at once. One thread at a time uses it.
//
// Blocks are cut from pieces of C's heap that double in size, and are kept by size when they are
// given back: four sizes in each octave, so that at most a quarter is left over. Those of more than
// 256 KiB come from C's heap and return to it one by one.
//
// runtime/heap.py puts in the target's `!size`.

!size = i64  // C's size_t

!heap = !llvm.struct<(
  ptr,                  // 0: the last block of C's heap
  ptr,                  // 1: the first free byte of the piece that is cut
  ptr,                  // 2: its end
  !size,                // 3: bytes of the next piece
  array<48 x ptr>       // 4: blocks that were given back, by kind
)>

// The 64 bytes before each block, and at the start of each piece.
!header = !llvm.struct<(
  ptr,                  // 0: the next of the list
  ptr,                  // 1: the previous block of C's heap
  !size                 // 2: the kind, 0 of a block of C's heap
)>

llvm.func @aligned_alloc(!size, !size) -> !llvm.ptr
llvm.func @free(!llvm.ptr)

// A heap without blocks.
llvm.func internal @nnc_heap_start(%heap: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i8) : i8
  %first = llvm.mlir.constant(65536 : !size) : !size
  %behind = llvm.getelementptr %null[1] : (!llvm.ptr) -> !llvm.ptr, !heap
  %bytes = llvm.ptrtoint %behind : !llvm.ptr to !size
  "llvm.intr.memset"(%heap, %zero, %bytes) <{isVolatile = false}> : (!llvm.ptr, i8, !size) -> ()
  %next = llvm.getelementptr %heap[0, 3] : (!llvm.ptr) -> !llvm.ptr, !heap
  llvm.store %first, %next : !size, !llvm.ptr
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
  %list = llvm.getelementptr %heap[0, 4, %kind] : (!llvm.ptr, !size) -> !llvm.ptr, !heap
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
  %usual = llvm.load %size_place : !llvm.ptr -> !size
  %least = llvm.add %length, %line : !size
  %size = "llvm.intr.umax"(%usual, %least) : (!size, !size) -> !size
  %piece = llvm.call @nnc_heap_block(%heap, %size) : (!llvm.ptr, !size) -> !llvm.ptr
  %failed = llvm.icmp "eq" %piece, %null : !llvm.ptr
  llvm.cond_br %failed, ^nothing, ^enter
^enter:
  %start = llvm.getelementptr %piece[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %last = llvm.getelementptr %piece[%size] : (!llvm.ptr, !size) -> !llvm.ptr, i8
  %double = llvm.shl %size, %one : !size
  llvm.store %last, %end_place : !llvm.ptr, !llvm.ptr
  llvm.store %double, %size_place : !size, !llvm.ptr
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

// A block of C's heap, its header included; null where there is no memory.
llvm.func internal @nnc_heap_block(%heap: !llvm.ptr, %bytes: !size) -> !llvm.ptr {
  %null = llvm.mlir.zero : !llvm.ptr
  %kind = llvm.mlir.constant(0 : !size) : !size
  %line = llvm.mlir.constant(64 : !size) : !size
  %block = llvm.call @aligned_alloc(%line, %bytes) : (!size, !size) -> !llvm.ptr
  %failed = llvm.icmp "eq" %block, %null : !llvm.ptr
  llvm.cond_br %failed, ^end, ^enter
^enter:
  %next = llvm.load %heap : !llvm.ptr -> !llvm.ptr
  %previous_place = llvm.getelementptr %block[0, 1] : (!llvm.ptr) -> !llvm.ptr, !header
  %kind_place = llvm.getelementptr %block[0, 2] : (!llvm.ptr) -> !llvm.ptr, !header
  llvm.store %next, %block : !llvm.ptr, !llvm.ptr
  llvm.store %null, %previous_place : !llvm.ptr, !llvm.ptr
  llvm.store %kind, %kind_place : !size, !llvm.ptr
  llvm.store %block, %heap : !llvm.ptr, !llvm.ptr
  %first = llvm.icmp "eq" %next, %null : !llvm.ptr
  llvm.cond_br %first, ^end, ^link
^link:
  %back_place = llvm.getelementptr %next[0, 1] : (!llvm.ptr) -> !llvm.ptr, !header
  llvm.store %block, %back_place : !llvm.ptr, !llvm.ptr
  llvm.br ^end
^end:
  llvm.return %block : !llvm.ptr
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
  %list = llvm.getelementptr %heap[0, 4, %kind] : (!llvm.ptr, !size) -> !llvm.ptr, !heap
  %known = llvm.load %list : !llvm.ptr -> !llvm.ptr
  llvm.store %known, %header : !llvm.ptr, !llvm.ptr
  llvm.store %block, %list : !llvm.ptr, !llvm.ptr
  llvm.return
^unlink:
  %previous_place = llvm.getelementptr %header[0, 1] : (!llvm.ptr) -> !llvm.ptr, !header
  %next = llvm.load %header : !llvm.ptr -> !llvm.ptr
  %previous = llvm.load %previous_place : !llvm.ptr -> !llvm.ptr
  // The heap's first field and a header's are alike.
  %first = llvm.icmp "eq" %previous, %null : !llvm.ptr
  %before = llvm.select %first, %heap, %previous : i1, !llvm.ptr
  llvm.store %next, %before : !llvm.ptr, !llvm.ptr
  %last = llvm.icmp "eq" %next, %null : !llvm.ptr
  llvm.cond_br %last, ^free, ^link
^link:
  %back_place = llvm.getelementptr %next[0, 1] : (!llvm.ptr) -> !llvm.ptr, !header
  llvm.store %previous, %back_place : !llvm.ptr, !llvm.ptr
  llvm.br ^free
^free:
  llvm.call @free(%header) : (!llvm.ptr) -> ()
  llvm.return
}

// Frees all blocks.
llvm.func internal @nnc_heap_end(%heap: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %first = llvm.load %heap : !llvm.ptr -> !llvm.ptr
  llvm.br ^look(%first : !llvm.ptr)
^look(%block: !llvm.ptr):
  %done = llvm.icmp "eq" %block, %null : !llvm.ptr
  llvm.cond_br %done, ^end, ^more
^more:
  %next = llvm.load %block : !llvm.ptr -> !llvm.ptr
  llvm.call @free(%block) : (!llvm.ptr) -> ()
  llvm.br ^look(%next : !llvm.ptr)
^end:
  llvm.return
}
