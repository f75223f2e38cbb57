// The thread pool that is emitted with a model that has parallel loops.
//
// A pool of n threads is the caller and n - 1 workers, which live as long as the pool. A job is
// a task, its environment, and a range of indices that is cut into n pieces of nearly equal
// length, so that results depend on nothing but n. Piece i is thread i's, which finds in its caches
// what it wrote in the job before; but what a worker has not begun when the caller is done with
// its own piece, the caller does: a worker may be asleep, or its processor taken by others, and
// waiting for it could take longer than the whole job.
//
// Waiting spins for some tens of microseconds, longer than the code between two parallel loops
// of a model usually takes, and then sleeps on a condition variable.
//
// A pool runs one job at a time. A job that is started while another runs, from inside it or by
// another thread that shares the pool, is done by its caller alone.
//
// A worker on its caller's processor would not run before its caller sleeps. Linux wakes it there
// on virtual machines: a virtual processor that idles has halted, and to the scheduler a halted one
// looks taken by the host (`vcpu_is_preempted`). So a worker that is woken, or that is late, is kept
// off the processors of the others until it is up.
//
// `nnc_pause` is added by runtime/threadpool.py, as it depends on the processor, as are functions
// that fail in place of those that a system does not have.

!pool = !llvm.struct<(
  i64,                  // 0: threads, the caller included
  ptr,                  // 1: task: void (void *environment, int64_t begin, int64_t end)
  ptr,                  // 2: environment
  i64,                  // 3: begin of the range
  i64,                  // 4: end of the range
  array<24 x i8>,
  i32,                  // 6: generation: how many jobs were started; workers wait for a change
  array<60 x i8>,       //    (what different threads write is on different cache lines)
  i32,                  // 8: pending: workers that have not finished the job
  array<60 x i8>,
  i32,                  // 10: busy: whether a job runs
  i32,                  // 11: sleepers: workers that sleep, or are about to
  i32,                  // 12: waiting: whether the caller sleeps until `pending` is 0
  i32,                  // 13: stop: the next generation is the end
  array<48 x i8>,
  array<64 x i8>,       // 15: pthread_mutex_t
  array<64 x i8>,       // 16: pthread_cond_t on which workers sleep
  array<64 x i8>        // 17: pthread_cond_t on which the caller sleeps
)>

// One for each thread, after the pool; the first stays empty.
!worker = !llvm.struct<(
  ptr,                  // 0: pool
  i64,                  // 1: number of the thread
  i64,                  // 2: pthread_t
  i32,                  // 3: claimed: the generation of the last job whose piece somebody took
  i32,                  // 4: processor on which it lay down
  i32,                  // 5: 0 present, 1 absent: asleep or late, 2 absent and kept off some processors
  i32,
  array<128 x i8>       // 6: cpu_set_t: all of its processors, while that is 2
)>

llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
llvm.func @free(!llvm.ptr)
llvm.func @pthread_create(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
llvm.func @pthread_join(i64, !llvm.ptr) -> i32
llvm.func @pthread_mutex_init(!llvm.ptr, !llvm.ptr) -> i32
llvm.func @pthread_mutex_lock(!llvm.ptr) -> i32
llvm.func @pthread_mutex_unlock(!llvm.ptr) -> i32
llvm.func @pthread_mutex_destroy(!llvm.ptr) -> i32
llvm.func @pthread_cond_init(!llvm.ptr, !llvm.ptr) -> i32
llvm.func @pthread_cond_wait(!llvm.ptr, !llvm.ptr) -> i32
llvm.func @pthread_cond_signal(!llvm.ptr) -> i32
llvm.func @pthread_cond_broadcast(!llvm.ptr) -> i32
llvm.func @pthread_cond_destroy(!llvm.ptr) -> i32
llvm.func @sched_yield() -> i32
llvm.func @sched_getcpu() -> i32
llvm.func @pthread_getaffinity_np(i64, i64, !llvm.ptr) -> i32
llvm.func @pthread_setaffinity_np(i64, i64, !llvm.ptr) -> i32
llvm.func @nnc_pause()

// nnc_pool *nnc_pool_create(int32_t threads)
//
// Null for fewer than 2 threads, and where there is no memory; a null pool runs everything in
// its caller. Has fewer threads than asked for where the system grants no more.
llvm.func @nnc_pool_create(%threads: i32) -> !llvm.ptr {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i8) : i8
  %no = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i64) : i64
  %two = llvm.mlir.constant(2 : i32) : i32
  %line = llvm.mlir.constant(64 : i64) : i64
  %few = llvm.icmp "slt" %threads, %two : i32
  llvm.cond_br %few, ^nothing, ^allocate
^nothing:
  llvm.return %null : !llvm.ptr
^allocate:
  %wanted = llvm.sext %threads : i32 to i64
  %behind = llvm.getelementptr %null[1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %after = llvm.getelementptr %behind[%wanted] : (!llvm.ptr, i64) -> !llvm.ptr, !worker
  %used = llvm.ptrtoint %after : !llvm.ptr to i64
  %most = llvm.add %used, %line : i64
  %mask = llvm.mlir.constant(-64 : i64) : i64
  %bytes = llvm.and %most, %mask : i64
  %pool = llvm.call @aligned_alloc(%line, %bytes) : (i64, i64) -> !llvm.ptr
  %failed = llvm.icmp "eq" %pool, %null : !llvm.ptr
  llvm.cond_br %failed, ^nothing, ^initialize
^initialize:
  "llvm.intr.memset"(%pool, %zero, %bytes) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
  %mutex = llvm.getelementptr %pool[0, 15] : (!llvm.ptr) -> !llvm.ptr, !pool
  %wake = llvm.getelementptr %pool[0, 16] : (!llvm.ptr) -> !llvm.ptr, !pool
  %done = llvm.getelementptr %pool[0, 17] : (!llvm.ptr) -> !llvm.ptr, !pool
  %r0 = llvm.call @pthread_mutex_init(%mutex, %null) : (!llvm.ptr, !llvm.ptr) -> i32
  %r1 = llvm.call @pthread_cond_init(%wake, %null) : (!llvm.ptr, !llvm.ptr) -> i32
  %r2 = llvm.call @pthread_cond_init(%done, %null) : (!llvm.ptr, !llvm.ptr) -> i32
  %workers = llvm.getelementptr %pool[1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %start = llvm.mlir.addressof @nnc_pool_worker : !llvm.ptr
  llvm.br ^more(%one : i64)
^more(%count: i64):
  %enough = llvm.icmp "eq" %count, %wanted : i64
  llvm.cond_br %enough, ^created(%count : i64), ^create
^create:
  %worker = llvm.getelementptr %workers[%count] : (!llvm.ptr, i64) -> !llvm.ptr, !worker
  %number = llvm.getelementptr %worker[0, 1] : (!llvm.ptr) -> !llvm.ptr, !worker
  %thread = llvm.getelementptr %worker[0, 2] : (!llvm.ptr) -> !llvm.ptr, !worker
  llvm.store %pool, %worker {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.store %count, %number {alignment = 8 : i64} : i64, !llvm.ptr
  %refused = llvm.call @pthread_create(%thread, %null, %start, %worker)
      : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
  %granted = llvm.icmp "eq" %refused, %no : i32
  %next = llvm.add %count, %one : i64
  llvm.cond_br %granted, ^more(%next : i64), ^created(%count : i64)
^created(%have: i64):
  // Workers read this after they saw the first generation, hence after this store.
  llvm.store %have, %pool {alignment = 64 : i64} : i64, !llvm.ptr
  llvm.return %pool : !llvm.ptr
}

// void nnc_pool_destroy(nnc_pool *pool)
//
// Ends the workers and frees the pool, which must not be running a job.
llvm.func @nnc_pool_destroy(%pool: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %one = llvm.mlir.constant(1 : i64) : i64
  %yes = llvm.mlir.constant(1 : i32) : i32
  %none = llvm.icmp "eq" %pool, %null : !llvm.ptr
  llvm.cond_br %none, ^end, ^stop
^stop:
  %generation = llvm.getelementptr %pool[0, 6] : (!llvm.ptr) -> !llvm.ptr, !pool
  %stop = llvm.getelementptr %pool[0, 13] : (!llvm.ptr) -> !llvm.ptr, !pool
  %mutex = llvm.getelementptr %pool[0, 15] : (!llvm.ptr) -> !llvm.ptr, !pool
  %wake = llvm.getelementptr %pool[0, 16] : (!llvm.ptr) -> !llvm.ptr, !pool
  %done = llvm.getelementptr %pool[0, 17] : (!llvm.ptr) -> !llvm.ptr, !pool
  %workers = llvm.getelementptr %pool[1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %threads = llvm.load %pool {alignment = 64 : i64} : !llvm.ptr -> i64
  %r0 = llvm.call @pthread_mutex_lock(%mutex) : (!llvm.ptr) -> i32
  llvm.store %yes, %stop {alignment = 4 : i64} : i32, !llvm.ptr
  %before = llvm.atomicrmw add %generation, %yes seq_cst : !llvm.ptr, i32
  %r1 = llvm.call @pthread_cond_broadcast(%wake) : (!llvm.ptr) -> i32
  %r2 = llvm.call @pthread_mutex_unlock(%mutex) : (!llvm.ptr) -> i32
  llvm.br ^more(%one : i64)
^more(%count: i64):
  %all = llvm.icmp "eq" %count, %threads : i64
  llvm.cond_br %all, ^free, ^join
^join:
  %thread = llvm.getelementptr %workers[%count, 2] : (!llvm.ptr, i64) -> !llvm.ptr, !worker
  %handle = llvm.load %thread {alignment = 8 : i64} : !llvm.ptr -> i64
  %r3 = llvm.call @pthread_join(%handle, %null) : (i64, !llvm.ptr) -> i32
  %next = llvm.add %count, %one : i64
  llvm.br ^more(%next : i64)
^free:
  %r4 = llvm.call @pthread_cond_destroy(%done) : (!llvm.ptr) -> i32
  %r5 = llvm.call @pthread_cond_destroy(%wake) : (!llvm.ptr) -> i32
  %r6 = llvm.call @pthread_mutex_destroy(%mutex) : (!llvm.ptr) -> i32
  llvm.call @free(%pool) : (!llvm.ptr) -> ()
  llvm.br ^end
^end:
  llvm.return
}

// Does the piece of the job that belongs to a thread:
// begin + length * number / threads up to begin + length * (number + 1) / threads.
llvm.func internal @nnc_pool_piece(%pool: !llvm.ptr, %number: i64) {
  %one = llvm.mlir.constant(1 : i64) : i64
  %task_at = llvm.getelementptr %pool[0, 1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %environment_at = llvm.getelementptr %pool[0, 2] : (!llvm.ptr) -> !llvm.ptr, !pool
  %begin_at = llvm.getelementptr %pool[0, 3] : (!llvm.ptr) -> !llvm.ptr, !pool
  %end_at = llvm.getelementptr %pool[0, 4] : (!llvm.ptr) -> !llvm.ptr, !pool
  %threads = llvm.load %pool {alignment = 64 : i64} : !llvm.ptr -> i64
  %task = llvm.load %task_at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  %environment = llvm.load %environment_at {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  %begin = llvm.load %begin_at {alignment = 8 : i64} : !llvm.ptr -> i64
  %end = llvm.load %end_at {alignment = 8 : i64} : !llvm.ptr -> i64
  %length = llvm.sub %end, %begin : i64
  %following = llvm.add %number, %one : i64
  %low = llvm.mul %length, %number : i64
  %high = llvm.mul %length, %following : i64
  %first = llvm.udiv %low, %threads : i64
  %last = llvm.udiv %high, %threads : i64
  %from = llvm.add %begin, %first : i64
  %to = llvm.add %begin, %last : i64
  %some = llvm.icmp "slt" %from, %to : i64
  llvm.cond_br %some, ^run, ^end
^run:
  llvm.call %task(%environment, %from, %to) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
  llvm.br ^end
^end:
  llvm.return
}

// Takes the piece of a thread in the job of a generation; false if it is taken. Only who has taken
// a piece may look at the job: it cannot end before.
llvm.func internal @nnc_pool_claim(%pool: !llvm.ptr, %number: i64, %generation: i32) -> i1 {
  %one = llvm.mlir.constant(1 : i32) : i32
  %workers = llvm.getelementptr %pool[1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %claimed = llvm.getelementptr %workers[%number, 3] : (!llvm.ptr, i64) -> !llvm.ptr, !worker
  %before = llvm.sub %generation, %one : i32
  %pair = llvm.cmpxchg %claimed, %before, %generation acq_rel monotonic {alignment = 4 : i64}
      : !llvm.ptr, i32
  %taken = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i1)>
  llvm.return %taken : i1
}

// Does the pieces of workers that have not begun.
llvm.func internal @nnc_pool_help(%pool: !llvm.ptr, %threads: i64, %generation: i32) {
  %first = llvm.mlir.constant(1 : i64) : i64
  %one = llvm.mlir.constant(1 : i32) : i32
  %pending = llvm.getelementptr %pool[0, 8] : (!llvm.ptr) -> !llvm.ptr, !pool
  llvm.br ^more(%first : i64)
^more(%number: i64):
  %all = llvm.icmp "eq" %number, %threads : i64
  llvm.cond_br %all, ^end, ^try
^try:
  %next = llvm.add %number, %first : i64
  %taken = llvm.call @nnc_pool_claim(%pool, %number, %generation) : (!llvm.ptr, i64, i32) -> i1
  llvm.cond_br %taken, ^work, ^more(%next : i64)
^work:
  llvm.call @nnc_pool_miss(%pool, %number) : (!llvm.ptr, i64) -> ()
  llvm.call @nnc_pool_piece(%pool, %number) : (!llvm.ptr, i64) -> ()
  %were = llvm.atomicrmw sub %pending, %one seq_cst : !llvm.ptr, i32
  llvm.br ^more(%next : i64)
^end:
  llvm.return
}

// The set of one processor, or of none for a number that no set holds.
llvm.func internal @nnc_processor_set(%processor: i32) -> i1024 {
  %none = llvm.mlir.constant(0 : i1024) : i1024
  %first = llvm.mlir.constant(1 : i1024) : i1024
  %limit = llvm.mlir.constant(1024 : i32) : i32
  %known = llvm.icmp "ult" %processor, %limit : i32
  %position = llvm.zext %processor : i32 to i1024
  %shifted = llvm.shl %first, %position : i1024
  %set = llvm.select %known, %shifted, %none : i1, i1024
  llvm.return %set : i1024
}

// Keeps each absent worker off the processors of the caller and of the other workers until it is up.
// The mutex must be held.
llvm.func internal @nnc_pool_place(%pool: !llvm.ptr) {
  %one = llvm.mlir.constant(1 : i64) : i64
  %success = llvm.mlir.constant(0 : i32) : i32
  %absent = llvm.mlir.constant(1 : i32) : i32
  %placed = llvm.mlir.constant(2 : i32) : i32
  %none = llvm.mlir.constant(0 : i1024) : i1024
  %all = llvm.mlir.constant(-1 : i1024) : i1024
  %bytes = llvm.mlir.constant(128 : i64) : i64
  %wish = llvm.alloca %one x i1024 {alignment = 8 : i64} : (i64) -> !llvm.ptr
  %workers = llvm.getelementptr %pool[1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %threads = llvm.load %pool {alignment = 64 : i64} : !llvm.ptr -> i64
  %here = llvm.call @sched_getcpu() : () -> i32
  %callers = llvm.call @nnc_processor_set(%here) : (i32) -> i1024
  %nowhere = llvm.icmp "eq" %callers, %none : i1024
  llvm.cond_br %nowhere, ^end, ^collect(%one, %callers : i64, i1024)
^collect(%count: i64, %taken: i1024):
  %last_at = llvm.getelementptr %workers[%count, 4] : (!llvm.ptr, i64) -> !llvm.ptr, !worker
  %last = llvm.load %last_at {alignment = 4 : i64} : !llvm.ptr -> i32
  %lasts = llvm.call @nnc_processor_set(%last) : (i32) -> i1024
  %more = llvm.or %taken, %lasts : i1024
  %following = llvm.add %count, %one : i64
  %collected = llvm.icmp "eq" %following, %threads : i64
  llvm.cond_br %collected, ^next(%one : i64), ^collect(%following, %more : i64, i1024)
^next(%number: i64):
  %through = llvm.icmp "eq" %number, %threads : i64
  llvm.cond_br %through, ^end, ^look
^look:
  %after = llvm.add %number, %one : i64
  %state_at = llvm.getelementptr %workers[%number, 5] : (!llvm.ptr, i64) -> !llvm.ptr, !worker
  %state = llvm.load %state_at atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %unplaced = llvm.icmp "eq" %state, %absent : i32
  llvm.cond_br %unplaced, ^ask, ^next(%after : i64)
^ask:
  %thread_at = llvm.getelementptr %workers[%number, 2] : (!llvm.ptr, i64) -> !llvm.ptr, !worker
  %own_at = llvm.getelementptr %workers[%number, 6] : (!llvm.ptr, i64) -> !llvm.ptr, !worker
  %thread = llvm.load %thread_at {alignment = 8 : i64} : !llvm.ptr -> i64
  %unknown = llvm.call @pthread_getaffinity_np(%thread, %bytes, %own_at)
      : (i64, i64, !llvm.ptr) -> i32
  %known = llvm.icmp "eq" %unknown, %success : i32
  llvm.cond_br %known, ^choose, ^next(%after : i64)
^choose:
  // Its last processor stays its own, unless the caller is there.
  %own = llvm.load %own_at {alignment = 8 : i64} : !llvm.ptr -> i1024
  %before_at = llvm.getelementptr %workers[%number, 4] : (!llvm.ptr, i64) -> !llvm.ptr, !worker
  %before = llvm.load %before_at {alignment = 4 : i64} : !llvm.ptr -> i32
  %mine = llvm.call @nnc_processor_set(%before) : (i32) -> i1024
  %not_mine = llvm.xor %mine, %all : i1024
  %others = llvm.and %more, %not_mine : i1024
  %not_free = llvm.or %others, %callers : i1024
  %free = llvm.xor %not_free, %all : i1024
  %wanted = llvm.and %own, %free : i1024
  %nothing = llvm.icmp "eq" %wanted, %none : i1024
  llvm.cond_br %nothing, ^next(%after : i64), ^place
^place:
  llvm.store %wanted, %wish {alignment = 8 : i64} : i1024, !llvm.ptr
  %refused = llvm.call @pthread_setaffinity_np(%thread, %bytes, %wish)
      : (i64, i64, !llvm.ptr) -> i32
  %accepted = llvm.icmp "eq" %refused, %success : i32
  llvm.cond_br %accepted, ^note, ^next(%after : i64)
^note:
  llvm.store %placed, %state_at atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.br ^next(%after : i64)
^end:
  llvm.return
}

// A worker that was absent is up, and may run on all of its processors again.
llvm.func internal @nnc_pool_report(%pool: !llvm.ptr, %worker: !llvm.ptr) {
  %present = llvm.mlir.constant(0 : i32) : i32
  %placed = llvm.mlir.constant(2 : i32) : i32
  %bytes = llvm.mlir.constant(128 : i64) : i64
  %mutex = llvm.getelementptr %pool[0, 15] : (!llvm.ptr) -> !llvm.ptr, !pool
  %thread_at = llvm.getelementptr %worker[0, 2] : (!llvm.ptr) -> !llvm.ptr, !worker
  %state_at = llvm.getelementptr %worker[0, 5] : (!llvm.ptr) -> !llvm.ptr, !worker
  %own = llvm.getelementptr %worker[0, 6] : (!llvm.ptr) -> !llvm.ptr, !worker
  %r0 = llvm.call @pthread_mutex_lock(%mutex) : (!llvm.ptr) -> i32
  %state = llvm.load %state_at atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  llvm.store %present, %state_at atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr
  %bound = llvm.icmp "eq" %state, %placed : i32
  llvm.cond_br %bound, ^release, ^end
^release:
  %thread = llvm.load %thread_at {alignment = 8 : i64} : !llvm.ptr -> i64
  %refused = llvm.call @pthread_setaffinity_np(%thread, %bytes, %own)
      : (i64, i64, !llvm.ptr) -> i32
  llvm.br ^end
^end:
  %r1 = llvm.call @pthread_mutex_unlock(%mutex) : (!llvm.ptr) -> i32
  llvm.return
}

// A worker has not begun its piece though it is not asleep: another thread has its processor.
llvm.func internal @nnc_pool_miss(%pool: !llvm.ptr, %number: i64) {
  %present = llvm.mlir.constant(0 : i32) : i32
  %absent = llvm.mlir.constant(1 : i32) : i32
  %mutex = llvm.getelementptr %pool[0, 15] : (!llvm.ptr) -> !llvm.ptr, !pool
  %workers = llvm.getelementptr %pool[1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %state_at = llvm.getelementptr %workers[%number, 5] : (!llvm.ptr, i64) -> !llvm.ptr, !worker
  %seen = llvm.load %state_at atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %known = llvm.icmp "ne" %seen, %present : i32
  llvm.cond_br %known, ^end, ^note
^note:
  %r0 = llvm.call @pthread_mutex_lock(%mutex) : (!llvm.ptr) -> i32
  %state = llvm.load %state_at atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %still = llvm.icmp "eq" %state, %present : i32
  llvm.cond_br %still, ^place, ^unlock
^place:
  llvm.store %absent, %state_at atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.call @nnc_pool_place(%pool) : (!llvm.ptr) -> ()
  llvm.br ^unlock
^unlock:
  %r1 = llvm.call @pthread_mutex_unlock(%mutex) : (!llvm.ptr) -> i32
  llvm.br ^end
^end:
  llvm.return
}

// Waits until the generation is not `seen`, and gives it.
llvm.func internal @nnc_pool_next_generation(%pool: !llvm.ptr, %worker: !llvm.ptr,
                                             %seen: i32) -> i32 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %spins = llvm.mlir.constant(2048 : i32) : i32
  %often = llvm.mlir.constant(127 : i32) : i32
  %generation = llvm.getelementptr %pool[0, 6] : (!llvm.ptr) -> !llvm.ptr, !pool
  %sleepers = llvm.getelementptr %pool[0, 11] : (!llvm.ptr) -> !llvm.ptr, !pool
  %mutex = llvm.getelementptr %pool[0, 15] : (!llvm.ptr) -> !llvm.ptr, !pool
  %wake = llvm.getelementptr %pool[0, 16] : (!llvm.ptr) -> !llvm.ptr, !pool
  llvm.br ^spin(%spins : i32)
^spin(%left: i32):
  %now = llvm.load %generation atomic acquire {alignment = 64 : i64} : !llvm.ptr -> i32
  %changed = llvm.icmp "ne" %now, %seen : i32
  llvm.cond_br %changed, ^end(%now : i32), ^again
^again:
  llvm.call @nnc_pause() : () -> ()
  %fewer = llvm.sub %left, %one : i32
  %phase = llvm.and %fewer, %often : i32
  %yields = llvm.icmp "eq" %phase, %zero : i32
  llvm.cond_br %yields, ^yield, ^go_on
^yield:
  // There may be more threads than processors, and the one waited for wants this one's.
  %r3 = llvm.call @sched_yield() : () -> i32
  llvm.br ^go_on
^go_on:
  %tired = llvm.icmp "eq" %fewer, %zero : i32
  llvm.cond_br %tired, ^lie_down, ^spin(%fewer : i32)
^lie_down:
  // The starter of a job raises the generation and then looks at the sleepers; here it is the
  // other way round. So either it sees this sleeper, and wakes it, or this sees the job.
  %r0 = llvm.call @pthread_mutex_lock(%mutex) : (!llvm.ptr) -> i32
  %here_at = llvm.getelementptr %worker[0, 4] : (!llvm.ptr) -> !llvm.ptr, !worker
  %here = llvm.call @sched_getcpu() : () -> i32
  llvm.store %here, %here_at {alignment = 4 : i64} : i32, !llvm.ptr
  %state_at = llvm.getelementptr %worker[0, 5] : (!llvm.ptr) -> !llvm.ptr, !worker
  %state = llvm.load %state_at atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %absent = llvm.intr.umax(%state, %one) : (i32, i32) -> i32
  llvm.store %absent, %state_at atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr
  %others = llvm.atomicrmw add %sleepers, %one seq_cst : !llvm.ptr, i32
  llvm.br ^look
^look:
  %then = llvm.load %generation atomic seq_cst {alignment = 64 : i64} : !llvm.ptr -> i32
  %started = llvm.icmp "ne" %then, %seen : i32
  llvm.cond_br %started, ^get_up, ^sleep
^sleep:
  %r1 = llvm.call @pthread_cond_wait(%wake, %mutex) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.br ^look
^get_up:
  %rest = llvm.atomicrmw sub %sleepers, %one seq_cst : !llvm.ptr, i32
  %r2 = llvm.call @pthread_mutex_unlock(%mutex) : (!llvm.ptr) -> i32
  llvm.br ^end(%then : i32)
^end(%found: i32):
  llvm.return %found : i32
}

// What a worker does: its piece of each job that it is in time for, until the pool stops.
llvm.func internal @nnc_pool_worker(%worker: !llvm.ptr) -> !llvm.ptr {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %number_at = llvm.getelementptr %worker[0, 1] : (!llvm.ptr) -> !llvm.ptr, !worker
  %pool = llvm.load %worker {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  %number = llvm.load %number_at {alignment = 8 : i64} : !llvm.ptr -> i64
  %pending = llvm.getelementptr %pool[0, 8] : (!llvm.ptr) -> !llvm.ptr, !pool
  %waiting = llvm.getelementptr %pool[0, 12] : (!llvm.ptr) -> !llvm.ptr, !pool
  %stop = llvm.getelementptr %pool[0, 13] : (!llvm.ptr) -> !llvm.ptr, !pool
  %mutex = llvm.getelementptr %pool[0, 15] : (!llvm.ptr) -> !llvm.ptr, !pool
  %done = llvm.getelementptr %pool[0, 17] : (!llvm.ptr) -> !llvm.ptr, !pool
  %state_at = llvm.getelementptr %worker[0, 5] : (!llvm.ptr) -> !llvm.ptr, !worker
  llvm.br ^wait(%zero : i32)
^wait(%seen: i32):
  %generation = llvm.call @nnc_pool_next_generation(%pool, %worker, %seen)
      : (!llvm.ptr, !llvm.ptr, i32) -> i32
  %state = llvm.load %state_at atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %present = llvm.icmp "eq" %state, %zero : i32
  llvm.cond_br %present, ^up, ^report
^report:
  llvm.call @nnc_pool_report(%pool, %worker) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.br ^up
^up:
  %stopped = llvm.load %stop {alignment = 4 : i64} : !llvm.ptr -> i32
  %ends = llvm.icmp "ne" %stopped, %zero : i32
  llvm.cond_br %ends, ^end, ^claim
^claim:
  %taken = llvm.call @nnc_pool_claim(%pool, %number, %generation) : (!llvm.ptr, i64, i32) -> i1
  llvm.cond_br %taken, ^work, ^wait(%generation : i32)
^work:
  llvm.call @nnc_pool_piece(%pool, %number) : (!llvm.ptr, i64) -> ()
  // As with sleepers: the caller says that it waits and then looks at `pending`.
  %were = llvm.atomicrmw sub %pending, %one seq_cst : !llvm.ptr, i32
  %sleeps = llvm.load %waiting atomic seq_cst {alignment = 4 : i64} : !llvm.ptr -> i32
  %last = llvm.icmp "eq" %were, %one : i32
  %somebody = llvm.icmp "ne" %sleeps, %zero : i32
  %tell = llvm.and %last, %somebody : i1
  llvm.cond_br %tell, ^signal, ^wait(%generation : i32)
^signal:
  %r0 = llvm.call @pthread_mutex_lock(%mutex) : (!llvm.ptr) -> i32
  %r1 = llvm.call @pthread_cond_signal(%done) : (!llvm.ptr) -> i32
  %r2 = llvm.call @pthread_mutex_unlock(%mutex) : (!llvm.ptr) -> i32
  llvm.br ^wait(%generation : i32)
^end:
  llvm.return %null : !llvm.ptr
}

// Waits until no worker is at the job any more.
llvm.func internal @nnc_pool_wait(%pool: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %spins = llvm.mlir.constant(4096 : i32) : i32
  %often = llvm.mlir.constant(127 : i32) : i32
  %pending = llvm.getelementptr %pool[0, 8] : (!llvm.ptr) -> !llvm.ptr, !pool
  %waiting = llvm.getelementptr %pool[0, 12] : (!llvm.ptr) -> !llvm.ptr, !pool
  %mutex = llvm.getelementptr %pool[0, 15] : (!llvm.ptr) -> !llvm.ptr, !pool
  %done = llvm.getelementptr %pool[0, 17] : (!llvm.ptr) -> !llvm.ptr, !pool
  llvm.br ^spin(%spins : i32)
^spin(%left: i32):
  %now = llvm.load %pending atomic acquire {alignment = 64 : i64} : !llvm.ptr -> i32
  %finished = llvm.icmp "eq" %now, %zero : i32
  llvm.cond_br %finished, ^end, ^again
^again:
  llvm.call @nnc_pause() : () -> ()
  %fewer = llvm.sub %left, %one : i32
  %phase = llvm.and %fewer, %often : i32
  %yields = llvm.icmp "eq" %phase, %zero : i32
  llvm.cond_br %yields, ^yield, ^go_on
^yield:
  // There may be more threads than processors, and the one waited for wants this one's.
  %r3 = llvm.call @sched_yield() : () -> i32
  llvm.br ^go_on
^go_on:
  %tired = llvm.icmp "eq" %fewer, %zero : i32
  llvm.cond_br %tired, ^lie_down, ^spin(%fewer : i32)
^lie_down:
  %r0 = llvm.call @pthread_mutex_lock(%mutex) : (!llvm.ptr) -> i32
  llvm.store %one, %waiting atomic seq_cst {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.br ^look
^look:
  %then = llvm.load %pending atomic seq_cst {alignment = 64 : i64} : !llvm.ptr -> i32
  %over = llvm.icmp "eq" %then, %zero : i32
  llvm.cond_br %over, ^get_up, ^sleep
^sleep:
  %r1 = llvm.call @pthread_cond_wait(%done, %mutex) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.br ^look
^get_up:
  llvm.store %zero, %waiting atomic seq_cst {alignment = 4 : i64} : i32, !llvm.ptr
  %r2 = llvm.call @pthread_mutex_unlock(%mutex) : (!llvm.ptr) -> i32
  llvm.br ^end
^end:
  llvm.return
}

// Calls task(environment, b, e) for pieces [b, e) of [begin, end), on all threads of the pool,
// and returns when all are done.
llvm.func @nnc_parallel_for(%pool: !llvm.ptr, %task: !llvm.ptr, %environment: !llvm.ptr,
                            %begin: i64, %end: i64) {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %caller = llvm.mlir.constant(0 : i64) : i64
  %single = llvm.mlir.constant(1 : i64) : i64
  %length = llvm.sub %end, %begin : i64
  %short = llvm.icmp "sle" %length, %single : i64
  %poolless = llvm.icmp "eq" %pool, %null : !llvm.ptr
  %simple = llvm.or %short, %poolless : i1
  llvm.cond_br %simple, ^alone, ^claim
^alone:
  llvm.call %task(%environment, %begin, %end) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
  llvm.return
^claim:
  %busy = llvm.getelementptr %pool[0, 10] : (!llvm.ptr) -> !llvm.ptr, !pool
  %was_busy = llvm.atomicrmw xchg %busy, %one acquire : !llvm.ptr, i32
  %free = llvm.icmp "eq" %was_busy, %zero : i32
  llvm.cond_br %free, ^start, ^alone
^start:
  %task_at = llvm.getelementptr %pool[0, 1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %environment_at = llvm.getelementptr %pool[0, 2] : (!llvm.ptr) -> !llvm.ptr, !pool
  %begin_at = llvm.getelementptr %pool[0, 3] : (!llvm.ptr) -> !llvm.ptr, !pool
  %end_at = llvm.getelementptr %pool[0, 4] : (!llvm.ptr) -> !llvm.ptr, !pool
  %generation = llvm.getelementptr %pool[0, 6] : (!llvm.ptr) -> !llvm.ptr, !pool
  %pending = llvm.getelementptr %pool[0, 8] : (!llvm.ptr) -> !llvm.ptr, !pool
  %sleepers = llvm.getelementptr %pool[0, 11] : (!llvm.ptr) -> !llvm.ptr, !pool
  llvm.store %task, %task_at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.store %environment, %environment_at {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.store %begin, %begin_at {alignment = 8 : i64} : i64, !llvm.ptr
  llvm.store %end, %end_at {alignment = 8 : i64} : i64, !llvm.ptr
  %threads = llvm.load %pool {alignment = 64 : i64} : !llvm.ptr -> i64
  %narrow = llvm.trunc %threads : i64 to i32
  %workers = llvm.sub %narrow, %one : i32
  llvm.store %workers, %pending atomic monotonic {alignment = 64 : i64} : i32, !llvm.ptr
  %before = llvm.atomicrmw add %generation, %one seq_cst : !llvm.ptr, i32
  %asleep = llvm.load %sleepers atomic seq_cst {alignment = 4 : i64} : !llvm.ptr -> i32
  %nobody = llvm.icmp "eq" %asleep, %zero : i32
  llvm.cond_br %nobody, ^work, ^wake
^wake:
  %mutex = llvm.getelementptr %pool[0, 15] : (!llvm.ptr) -> !llvm.ptr, !pool
  %wake = llvm.getelementptr %pool[0, 16] : (!llvm.ptr) -> !llvm.ptr, !pool
  %r0 = llvm.call @pthread_mutex_lock(%mutex) : (!llvm.ptr) -> i32
  llvm.call @nnc_pool_place(%pool) : (!llvm.ptr) -> ()
  %r1 = llvm.call @pthread_cond_broadcast(%wake) : (!llvm.ptr) -> i32
  %r2 = llvm.call @pthread_mutex_unlock(%mutex) : (!llvm.ptr) -> i32
  llvm.br ^work
^work:
  llvm.call @nnc_pool_piece(%pool, %caller) : (!llvm.ptr, i64) -> ()
  %current = llvm.add %before, %one : i32
  llvm.call @nnc_pool_help(%pool, %threads, %current) : (!llvm.ptr, i64, i32) -> ()
  llvm.call @nnc_pool_wait(%pool) : (!llvm.ptr) -> ()
  llvm.store %zero, %busy atomic release {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.return
}
