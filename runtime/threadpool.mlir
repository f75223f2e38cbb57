// The thread pool that is emitted with a model that has parallel loops.
//
// A pool of n threads is the caller and n - 1 workers, which live as long as the pool. A job is
// a task, its environment, and a range of indices that is cut into pieces. How many there are
// follows from the job alone, so that the tasks that run are the same for any number of threads.
//
// Each thread has a run of the pieces for itself, about as long as the others', and takes them from
// its front: it finds in its caches what it wrote in the job before, and goes on where it was. Who
// has none left takes the last piece of another's run: that thread may be asleep, or its processor
// taken by others, and waiting for it could take longer than the whole job. So a job never
// waits for what nobody has begun.
//
// Waiting spins for some hundred microseconds, longer than the code between two parallel loops of
// a model, or between two of its runs, usually takes, and then sleeps on a semaphore of one's own.
// There is no mutex, which who has it could take along when its processor is taken away; nor a
// condition variable, where glibc's broadcast waits until all that the last one woke have come back.
//
// A pool runs one job at a time. A job that is started while another runs, from inside it or by
// another thread that shares the pool, is done by its caller alone.
//
// A child of `fork` has the pool, but none of its workers. The caller then does all of a job; and the
// pool's end is that of its memory, for the child may have other threads of the same numbers.
//
// A worker on its caller's processor would not run before its caller sleeps. Linux wakes it there
// on virtual machines: a virtual processor that idles has halted, and to the scheduler a halted one
// looks taken by the host (`vcpu_is_preempted`). So a worker that is woken, or that is late, is kept
// off the processors of the others until it is up.
//
// runtime/threadpool.py puts in the target's `!size`, and adds what else depends on the target:
// `nnc_pause`, `nnc_pool_clock`, and functions in place of those that a system does not have.
// Indices have 64 bits on every target.

!size = i64  // C's size_t and pthread_t

!pool = !llvm.struct<(
  i32,                  // 0: threads, the caller included
  ptr,                  // 1: task: void (void *environment, index begin, index end)
  ptr,                  // 2: environment
  i64,               // 3: begin of the range
  i64,               // 4: end of the range
  i64,               // 5: indices of a piece; the last may have fewer
  array<64 x i8>,       //    (what different threads write is on different cache lines)
  i32,                  // 7: generation: how many jobs were started; workers wait for a change
  array<64 x i8>,
  i32,                  // 9: pending: pieces that are not done
  array<64 x i8>,
  i32,                  // 11: busy: whether a job runs
  i32,                  // 12: stop: the next generation is the end
  i64,                  // 13: waited: how long callers waited for others, by `nnc_pool_clock`
  i32                   // 14: process that has the workers
)>

// One for each thread, after the pool; the first is the caller's.
!worker = !llvm.struct<(
  ptr,                  // 0: pool
  i32,                  // 1: number of the thread
  !size,                // 2: pthread_t
  i32,                  // 3: begun: the generation of the last job that the thread came to
  i32,                  // 4: taken: how many pieces it has done
  i32,                  // 5: processor on which it lay down
  i32,                  // 6: 0 present, 1 absent: asleep or late, 2 absent and kept off some
                        //    processors, 3 between these two
  i32,                  // 7: asleep: whether it waits for its semaphore, or is about to
  array<16 x i64>,      // 8: cpu_set_t: all of its processors, while it is kept off some
  array<16 x i64>,      // 9: sem_t
  array<64 x i8>,
  i32,                  // 11: run: its pieces that nobody has taken, first + 65536 * (last + 1)
  array<60 x i8>
)>

llvm.func @aligned_alloc(!size, !size) -> !llvm.ptr
llvm.func @free(!llvm.ptr)
llvm.func @pthread_create(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
llvm.func @pthread_join(!size, !llvm.ptr) -> i32
llvm.func @sem_init(!llvm.ptr, i32, i32) -> i32
llvm.func @sem_wait(!llvm.ptr) -> i32
llvm.func @sem_post(!llvm.ptr) -> i32
llvm.func @sem_destroy(!llvm.ptr) -> i32
llvm.func @sched_yield() -> i32
llvm.func @getpid() -> i32
llvm.func @sched_getcpu() -> i32
llvm.func @pthread_getaffinity_np(!size, !size, !llvm.ptr) -> i32
llvm.func @pthread_setaffinity_np(!size, !size, !llvm.ptr) -> i32
llvm.func @nnc_pause()
llvm.func @nnc_pool_clock() -> i64

// nnc_pool *nnc_pool_create(int32_t threads)
//
// Null for fewer than 2 threads, and where there is no memory; a null pool runs everything in
// its caller. Has fewer threads than asked for where the system grants no more.
llvm.func @nnc_pool_create(%threads: i32) -> !llvm.ptr {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i8) : i8
  %no = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  %line = llvm.mlir.constant(64 : !size) : !size
  %few = llvm.icmp "slt" %threads, %two : i32
  llvm.cond_br %few, ^nothing, ^allocate
^nothing:
  llvm.return %null : !llvm.ptr
^allocate:
  %behind = llvm.getelementptr %null[1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %after = llvm.getelementptr %behind[%threads] : (!llvm.ptr, i32) -> !llvm.ptr, !worker
  %used = llvm.ptrtoint %after : !llvm.ptr to !size
  %most = llvm.add %used, %line : !size
  %mask = llvm.mlir.constant(-64 : !size) : !size
  %bytes = llvm.and %most, %mask : !size
  %pool = llvm.call @aligned_alloc(%line, %bytes) : (!size, !size) -> !llvm.ptr
  %failed = llvm.icmp "eq" %pool, %null : !llvm.ptr
  llvm.cond_br %failed, ^nothing, ^initialize
^initialize:
  "llvm.intr.memset"(%pool, %zero, %bytes) <{isVolatile = false}> : (!llvm.ptr, i8, !size) -> ()
  %process_at = llvm.getelementptr %pool[0, 14] : (!llvm.ptr) -> !llvm.ptr, !pool
  %process = llvm.call @getpid() : () -> i32
  llvm.store %process, %process_at : i32, !llvm.ptr
  %workers = llvm.getelementptr %pool[1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %start = llvm.mlir.addressof @nnc_pool_worker : !llvm.ptr
  %callers = llvm.getelementptr %workers[0, 9] : (!llvm.ptr) -> !llvm.ptr, !worker
  %r0 = llvm.call @sem_init(%callers, %no, %no) : (!llvm.ptr, i32, i32) -> i32
  llvm.br ^more(%one : i32)
^more(%count: i32):
  %enough = llvm.icmp "eq" %count, %threads : i32
  llvm.cond_br %enough, ^created(%count : i32), ^create
^create:
  %worker = llvm.getelementptr %workers[%count] : (!llvm.ptr, i32) -> !llvm.ptr, !worker
  %number = llvm.getelementptr %worker[0, 1] : (!llvm.ptr) -> !llvm.ptr, !worker
  %thread = llvm.getelementptr %worker[0, 2] : (!llvm.ptr) -> !llvm.ptr, !worker
  %semaphore = llvm.getelementptr %worker[0, 9] : (!llvm.ptr) -> !llvm.ptr, !worker
  llvm.store %pool, %worker : !llvm.ptr, !llvm.ptr
  llvm.store %count, %number : i32, !llvm.ptr
  %r1 = llvm.call @sem_init(%semaphore, %no, %no) : (!llvm.ptr, i32, i32) -> i32
  %refused = llvm.call @pthread_create(%thread, %null, %start, %worker)
      : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
  %granted = llvm.icmp "eq" %refused, %no : i32
  %next = llvm.add %count, %one : i32
  llvm.cond_br %granted, ^more(%next : i32), ^created(%count : i32)
^created(%have: i32):
  // Workers read this after they saw the first generation, hence after this store.
  llvm.store %have, %pool : i32, !llvm.ptr
  llvm.return %pool : !llvm.ptr
}

// void nnc_pool_destroy(nnc_pool *pool)
//
// Ends the workers and frees the pool, which must not be running a job.
llvm.func @nnc_pool_destroy(%pool: !llvm.ptr) {
  %null = llvm.mlir.zero : !llvm.ptr
  %caller = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %none = llvm.icmp "eq" %pool, %null : !llvm.ptr
  llvm.cond_br %none, ^end, ^look
^look:
  %process_at = llvm.getelementptr %pool[0, 14] : (!llvm.ptr) -> !llvm.ptr, !pool
  %process = llvm.load %process_at : !llvm.ptr -> i32
  %this = llvm.call @getpid() : () -> i32
  %own = llvm.icmp "eq" %process, %this : i32
  llvm.cond_br %own, ^stop, ^free
^stop:
  %generation = llvm.getelementptr %pool[0, 7] : (!llvm.ptr) -> !llvm.ptr, !pool
  %stop = llvm.getelementptr %pool[0, 12] : (!llvm.ptr) -> !llvm.ptr, !pool
  %workers = llvm.getelementptr %pool[1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %threads = llvm.load %pool : !llvm.ptr -> i32
  llvm.store %one, %stop : i32, !llvm.ptr
  %before = llvm.atomicrmw add %generation, %one seq_cst : !llvm.ptr, i32
  llvm.call @nnc_pool_wake_all(%pool) : (!llvm.ptr) -> ()
  llvm.br ^more(%caller : i32)
^more(%count: i32):
  %worker = llvm.getelementptr %workers[%count] : (!llvm.ptr, i32) -> !llvm.ptr, !worker
  %thread = llvm.getelementptr %worker[0, 2] : (!llvm.ptr) -> !llvm.ptr, !worker
  %semaphore = llvm.getelementptr %worker[0, 9] : (!llvm.ptr) -> !llvm.ptr, !worker
  %itself = llvm.icmp "eq" %count, %caller : i32
  llvm.cond_br %itself, ^forget, ^join
^join:
  %handle = llvm.load %thread : !llvm.ptr -> !size
  %r0 = llvm.call @pthread_join(%handle, %null) : (!size, !llvm.ptr) -> i32
  llvm.br ^forget
^forget:
  %r1 = llvm.call @sem_destroy(%semaphore) : (!llvm.ptr) -> i32
  %next = llvm.add %count, %one : i32
  %all = llvm.icmp "eq" %next, %threads : i32
  llvm.cond_br %all, ^free, ^more(%next : i32)
^free:
  llvm.call @free(%pool) : (!llvm.ptr) -> ()
  llvm.br ^end
^end:
  llvm.return
}

// Waits until a word is `value`, or no longer is, and gives it: spins, and then sleeps. Who
// changes the word calls `nnc_pool_wake` for this thread afterwards.
llvm.func internal @nnc_pool_await(%worker: !llvm.ptr, %address: !llvm.ptr, %value: i32,
                                   %wanted: i1, %spins: i32) -> i32 {
  %no = llvm.mlir.constant(0 : i32) : i32
  %yes = llvm.mlir.constant(1 : i32) : i32
  %often = llvm.mlir.constant(127 : i32) : i32
  llvm.br ^look(%spins : i32)
^look(%left: i32):
  %now = llvm.load %address atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  %equal = llvm.icmp "eq" %now, %value : i32
  %found = llvm.icmp "eq" %equal, %wanted : i1
  llvm.cond_br %found, ^end(%now : i32), ^again
^again:
  llvm.call @nnc_pause() : () -> ()
  %fewer = llvm.sub %left, %yes : i32
  %tired = llvm.icmp "eq" %fewer, %no : i32
  llvm.cond_br %tired, ^lie_down, ^go_on
^go_on:
  %phase = llvm.and %fewer, %often : i32
  %yields = llvm.icmp "eq" %phase, %no : i32
  llvm.cond_br %yields, ^yield, ^look(%fewer : i32)
^yield:
  // There may be more threads than processors, and the one waited for wants this one's.
  %r0 = llvm.call @sched_yield() : () -> i32
  llvm.br ^look(%fewer : i32)
^lie_down:
  %here_at = llvm.getelementptr %worker[0, 5] : (!llvm.ptr) -> !llvm.ptr, !worker
  %state_at = llvm.getelementptr %worker[0, 6] : (!llvm.ptr) -> !llvm.ptr, !worker
  %asleep = llvm.getelementptr %worker[0, 7] : (!llvm.ptr) -> !llvm.ptr, !worker
  %semaphore = llvm.getelementptr %worker[0, 9] : (!llvm.ptr) -> !llvm.ptr, !worker
  %here = llvm.call @sched_getcpu() : () -> i32
  llvm.store %here, %here_at atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr
  %pair = llvm.cmpxchg %state_at, %no, %yes acq_rel monotonic {alignment = 4 : i64}
      : !llvm.ptr, i32
  llvm.br ^say
^say:
  // Who changes the word then looks at `asleep`; here it is the other way round. So either it sees
  // this sleeper, and wakes it, or this sees the change.
  %was = llvm.atomicrmw xchg %asleep, %yes seq_cst : !llvm.ptr, i32
  %then = llvm.load %address atomic seq_cst {alignment = 4 : i64} : !llvm.ptr -> i32
  %same = llvm.icmp "eq" %then, %value : i32
  %changed = llvm.icmp "eq" %same, %wanted : i1
  llvm.cond_br %changed, ^get_up, ^sleep
^sleep:
  %failed = llvm.call @sem_wait(%semaphore) : (!llvm.ptr) -> i32
  %interrupted = llvm.icmp "ne" %failed, %no : i32
  llvm.cond_br %interrupted, ^sleep, ^say
^get_up:
  // Whoever was first to take `asleep` back posts, and that is not to be left for the next time.
  %up = llvm.atomicrmw xchg %asleep, %no seq_cst : !llvm.ptr, i32
  %alone = llvm.icmp "eq" %up, %yes : i32
  llvm.cond_br %alone, ^end(%then : i32), ^consume
^consume:
  %again = llvm.call @sem_wait(%semaphore) : (!llvm.ptr) -> i32
  %signal = llvm.icmp "ne" %again, %no : i32
  llvm.cond_br %signal, ^consume, ^end(%then : i32)
^end(%result: i32):
  llvm.return %result : i32
}

// Wakes a thread if it sleeps.
llvm.func internal @nnc_pool_wake(%worker: !llvm.ptr) {
  %no = llvm.mlir.constant(0 : i32) : i32
  %asleep = llvm.getelementptr %worker[0, 7] : (!llvm.ptr) -> !llvm.ptr, !worker
  %seen = llvm.load %asleep atomic seq_cst {alignment = 4 : i64} : !llvm.ptr -> i32
  %awake = llvm.icmp "eq" %seen, %no : i32
  llvm.cond_br %awake, ^end, ^take
^take:
  %was = llvm.atomicrmw xchg %asleep, %no seq_cst : !llvm.ptr, i32
  %late = llvm.icmp "eq" %was, %no : i32
  llvm.cond_br %late, ^end, ^post
^post:
  %semaphore = llvm.getelementptr %worker[0, 9] : (!llvm.ptr) -> !llvm.ptr, !worker
  %r0 = llvm.call @sem_post(%semaphore) : (!llvm.ptr) -> i32
  llvm.br ^end
^end:
  llvm.return
}

// Wakes the workers that sleep, away from the processor of the caller.
llvm.func internal @nnc_pool_wake_all(%pool: !llvm.ptr) {
  %no = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %workers = llvm.getelementptr %pool[1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %threads = llvm.load %pool : !llvm.ptr -> i32
  llvm.br ^look(%one : i32)
^look(%number: i32):
  %all = llvm.icmp "uge" %number, %threads : i32
  llvm.cond_br %all, ^end, ^ask
^ask:
  %asleep_at = llvm.getelementptr %workers[%number, 7] : (!llvm.ptr, i32) -> !llvm.ptr, !worker
  %asleep = llvm.load %asleep_at atomic seq_cst {alignment = 4 : i64} : !llvm.ptr -> i32
  %awake = llvm.icmp "eq" %asleep, %no : i32
  %next = llvm.add %number, %one : i32
  llvm.cond_br %awake, ^look(%next : i32), ^place
^place:
  llvm.call @nnc_pool_place(%pool) : (!llvm.ptr) -> ()
  llvm.br ^wake(%number : i32)
^wake(%sleeper: i32):
  %worker = llvm.getelementptr %workers[%sleeper] : (!llvm.ptr, i32) -> !llvm.ptr, !worker
  llvm.call @nnc_pool_wake(%worker) : (!llvm.ptr) -> ()
  %following = llvm.add %sleeper, %one : i32
  %through = llvm.icmp "eq" %following, %threads : i32
  llvm.cond_br %through, ^end, ^wake(%following : i32)
^end:
  llvm.return
}

// Does one piece of the job that runs. Only who has taken a piece may look at the job: it cannot end
// before.
llvm.func internal @nnc_pool_piece(%pool: !llvm.ptr, %piece: i32) {
  %task_at = llvm.getelementptr %pool[0, 1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %environment_at = llvm.getelementptr %pool[0, 2] : (!llvm.ptr) -> !llvm.ptr, !pool
  %begin_at = llvm.getelementptr %pool[0, 3] : (!llvm.ptr) -> !llvm.ptr, !pool
  %end_at = llvm.getelementptr %pool[0, 4] : (!llvm.ptr) -> !llvm.ptr, !pool
  %length_at = llvm.getelementptr %pool[0, 5] : (!llvm.ptr) -> !llvm.ptr, !pool
  %task = llvm.load %task_at : !llvm.ptr -> !llvm.ptr
  %environment = llvm.load %environment_at : !llvm.ptr -> !llvm.ptr
  %begin = llvm.load %begin_at : !llvm.ptr -> i64
  %end = llvm.load %end_at : !llvm.ptr -> i64
  %length = llvm.load %length_at : !llvm.ptr -> i64
  %number = llvm.zext %piece : i32 to i64
  %before = llvm.mul %number, %length : i64
  %from = llvm.add %begin, %before : i64
  %rest = llvm.sub %end, %from : i64
  %own = llvm.intr.smin(%length, %rest) : (i64, i64) -> i64
  %to = llvm.add %from, %own : i64
  llvm.call %task(%environment, %from, %to) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
  llvm.return
}

// Takes the first piece of a run, or the last; -1 if there is none.
//
// What is read may be old: of a job that has ended since. If the exchange finds it there again, it is
// right again, for the job that runs now.
llvm.func internal @nnc_pool_take(%run: !llvm.ptr, %last: i1) -> i32 {
  %none = llvm.mlir.constant(-1 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %high = llvm.mlir.constant(16 : i32) : i32
  %low = llvm.mlir.constant(65535 : i32) : i32
  %fewer = llvm.mlir.constant(-65536 : i32) : i32
  %step = llvm.select %last, %fewer, %one : i1, i32
  %seen = llvm.load %run atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  llvm.br ^look(%seen : i32)
^look(%word: i32):
  %first = llvm.and %word, %low : i32
  %end = llvm.lshr %word, %high : i32
  %some = llvm.icmp "ult" %first, %end : i32
  llvm.cond_br %some, ^try, ^end(%none : i32)
^try:
  %next = llvm.add %word, %step : i32
  %pair = llvm.cmpxchg %run, %word, %next acq_rel monotonic {alignment = 4 : i64} : !llvm.ptr, i32
  %found = llvm.extractvalue %pair[0] : !llvm.struct<(i32, i1)>
  %taken = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i1)>
  %behind = llvm.sub %end, %one : i32
  %piece = llvm.select %last, %behind, %first : i1, i32
  llvm.cond_br %taken, ^end(%piece : i32), ^look(%found : i32)
^end(%result: i32):
  llvm.return %result : i32
}

// Does pieces until none is left to take: the thread's own, then those of the threads after it.
llvm.func internal @nnc_pool_work(%pool: !llvm.ptr, %number: i32, %generation: i32) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %pending = llvm.getelementptr %pool[0, 9] : (!llvm.ptr) -> !llvm.ptr, !pool
  %workers = llvm.getelementptr %pool[1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %begun = llvm.getelementptr %workers[%number, 3] : (!llvm.ptr, i32) -> !llvm.ptr, !worker
  %taken = llvm.getelementptr %workers[%number, 4] : (!llvm.ptr, i32) -> !llvm.ptr, !worker
  %threads = llvm.load %pool : !llvm.ptr -> i32
  llvm.store %generation, %begun atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.br ^thread(%zero, %zero : i32, i32)
^thread(%distance: i32, %had: i32):
  %sum = llvm.add %number, %distance : i32
  %owner = llvm.urem %sum, %threads : i32
  %other = llvm.icmp "ne" %distance, %zero : i32
  %run = llvm.getelementptr %workers[%owner, 11] : (!llvm.ptr, i32) -> !llvm.ptr, !worker
  llvm.br ^take(%had : i32)
^take(%count: i32):
  %piece = llvm.call @nnc_pool_take(%run, %other) : (!llvm.ptr, i1) -> i32
  %some = llvm.icmp "sge" %piece, %zero : i32
  llvm.cond_br %some, ^look, ^next
^look:
  %caller = llvm.icmp "eq" %number, %zero : i32
  %late = llvm.and %caller, %other : i1
  llvm.cond_br %late, ^note, ^work
^note:
  llvm.call @nnc_pool_miss(%pool, %owner, %generation) : (!llvm.ptr, i32, i32) -> ()
  llvm.br ^work
^work:
  llvm.call @nnc_pool_piece(%pool, %piece) : (!llvm.ptr, i32) -> ()
  %more = llvm.add %count, %one : i32
  llvm.br ^take(%more : i32)
^next:
  %further = llvm.add %distance, %one : i32
  %all = llvm.icmp "eq" %further, %threads : i32
  llvm.cond_br %all, ^through, ^thread(%further, %count : i32, i32)
^through:
  %idle = llvm.icmp "eq" %count, %zero : i32
  llvm.cond_br %idle, ^end, ^report
^report:
  %before = llvm.load %taken atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %after = llvm.add %before, %count : i32
  llvm.store %after, %taken atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr
  %were = llvm.atomicrmw sub %pending, %count seq_cst : !llvm.ptr, i32
  %last = llvm.icmp "eq" %were, %count : i32
  llvm.cond_br %last, ^tell, ^end
^tell:
  llvm.call @nnc_pool_wake(%workers) : (!llvm.ptr) -> ()
  llvm.br ^end
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
// Only the caller of a job may do this.
llvm.func internal @nnc_pool_place(%pool: !llvm.ptr) {
  %one = llvm.mlir.constant(1 : i32) : i32
  %success = llvm.mlir.constant(0 : i32) : i32
  %absent = llvm.mlir.constant(1 : i32) : i32
  %placed = llvm.mlir.constant(2 : i32) : i32
  %between = llvm.mlir.constant(3 : i32) : i32
  %none = llvm.mlir.constant(0 : i1024) : i1024
  %all = llvm.mlir.constant(-1 : i1024) : i1024
  %bytes = llvm.mlir.constant(128 : !size) : !size
  %wish = llvm.alloca %one x i1024 : (i32) -> !llvm.ptr
  %workers = llvm.getelementptr %pool[1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %threads = llvm.load %pool : !llvm.ptr -> i32
  %here = llvm.call @sched_getcpu() : () -> i32
  %callers = llvm.call @nnc_processor_set(%here) : (i32) -> i1024
  %nowhere = llvm.icmp "eq" %callers, %none : i1024
  llvm.cond_br %nowhere, ^end, ^collect(%one, %callers : i32, i1024)
^collect(%count: i32, %taken: i1024):
  %last_at = llvm.getelementptr %workers[%count, 5] : (!llvm.ptr, i32) -> !llvm.ptr, !worker
  %last = llvm.load %last_at atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %lasts = llvm.call @nnc_processor_set(%last) : (i32) -> i1024
  %more = llvm.or %taken, %lasts : i1024
  %following = llvm.add %count, %one : i32
  %collected = llvm.icmp "eq" %following, %threads : i32
  llvm.cond_br %collected, ^next(%one : i32), ^collect(%following, %more : i32, i1024)
^next(%number: i32):
  %through = llvm.icmp "eq" %number, %threads : i32
  llvm.cond_br %through, ^end, ^look
^look:
  %after = llvm.add %number, %one : i32
  %state_at = llvm.getelementptr %workers[%number, 6] : (!llvm.ptr, i32) -> !llvm.ptr, !worker
  %state = llvm.load %state_at atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %unplaced = llvm.icmp "eq" %state, %absent : i32
  llvm.cond_br %unplaced, ^try, ^next(%after : i32)
^try:
  %pair = llvm.cmpxchg %state_at, %absent, %between acq_rel monotonic {alignment = 4 : i64}
      : !llvm.ptr, i32
  %mine_now = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i1)>
  llvm.cond_br %mine_now, ^ask, ^next(%after : i32)
^ask:
  %thread_at = llvm.getelementptr %workers[%number, 2] : (!llvm.ptr, i32) -> !llvm.ptr, !worker
  %own_at = llvm.getelementptr %workers[%number, 8] : (!llvm.ptr, i32) -> !llvm.ptr, !worker
  %thread = llvm.load %thread_at : !llvm.ptr -> !size
  %unknown = llvm.call @pthread_getaffinity_np(%thread, %bytes, %own_at)
      : (!size, !size, !llvm.ptr) -> i32
  %known = llvm.icmp "eq" %unknown, %success : i32
  llvm.cond_br %known, ^choose, ^note(%absent : i32)
^choose:
  // Its last processor stays its own, unless the caller is there.
  %own = llvm.load %own_at {alignment = 4 : i64} : !llvm.ptr -> i1024
  %before_at = llvm.getelementptr %workers[%number, 5] : (!llvm.ptr, i32) -> !llvm.ptr, !worker
  %before = llvm.load %before_at atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %mine = llvm.call @nnc_processor_set(%before) : (i32) -> i1024
  %not_mine = llvm.xor %mine, %all : i1024
  %others = llvm.and %more, %not_mine : i1024
  %not_free = llvm.or %others, %callers : i1024
  %free = llvm.xor %not_free, %all : i1024
  %wanted = llvm.and %own, %free : i1024
  %nothing = llvm.icmp "eq" %wanted, %none : i1024
  llvm.cond_br %nothing, ^note(%absent : i32), ^place
^place:
  llvm.store %wanted, %wish : i1024, !llvm.ptr
  %refused = llvm.call @pthread_setaffinity_np(%thread, %bytes, %wish)
      : (!size, !size, !llvm.ptr) -> i32
  %accepted = llvm.icmp "eq" %refused, %success : i32
  %result = llvm.select %accepted, %placed, %absent : i1, i32
  llvm.br ^note(%result : i32)
^note(%new: i32):
  llvm.store %new, %state_at atomic release {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.br ^next(%after : i32)
^end:
  llvm.return
}

// A worker that was absent is up, and may run on all of its processors again.
llvm.func internal @nnc_pool_report(%worker: !llvm.ptr) {
  %present = llvm.mlir.constant(0 : i32) : i32
  %absent = llvm.mlir.constant(1 : i32) : i32
  %placed = llvm.mlir.constant(2 : i32) : i32
  %bytes = llvm.mlir.constant(128 : !size) : !size
  %thread_at = llvm.getelementptr %worker[0, 2] : (!llvm.ptr) -> !llvm.ptr, !worker
  %state_at = llvm.getelementptr %worker[0, 6] : (!llvm.ptr) -> !llvm.ptr, !worker
  %own = llvm.getelementptr %worker[0, 8] : (!llvm.ptr) -> !llvm.ptr, !worker
  llvm.br ^look
^look:
  %pair = llvm.cmpxchg %state_at, %absent, %present acq_rel acquire {alignment = 4 : i64}
      : !llvm.ptr, i32
  %state = llvm.extractvalue %pair[0] : !llvm.struct<(i32, i1)>
  %free = llvm.icmp "sle" %state, %absent : i32
  llvm.cond_br %free, ^end, ^bound
^bound:
  %settled = llvm.icmp "eq" %state, %placed : i32
  llvm.cond_br %settled, ^release, ^wait
^wait:
  %r0 = llvm.call @sched_yield() : () -> i32
  llvm.br ^look
^release:
  %thread = llvm.load %thread_at : !llvm.ptr -> !size
  %refused = llvm.call @pthread_setaffinity_np(%thread, %bytes, %own)
      : (!size, !size, !llvm.ptr) -> i32
  llvm.store %present, %state_at atomic release {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.br ^end
^end:
  llvm.return
}

// The caller takes a piece of a worker that has not come to the job, though it does not sleep:
// another thread has its processor.
llvm.func internal @nnc_pool_miss(%pool: !llvm.ptr, %number: i32, %generation: i32) {
  %present = llvm.mlir.constant(0 : i32) : i32
  %absent = llvm.mlir.constant(1 : i32) : i32
  %workers = llvm.getelementptr %pool[1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %begun_at = llvm.getelementptr %workers[%number, 3] : (!llvm.ptr, i32) -> !llvm.ptr, !worker
  %state_at = llvm.getelementptr %workers[%number, 6] : (!llvm.ptr, i32) -> !llvm.ptr, !worker
  %begun = llvm.load %begun_at atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %state = llvm.load %state_at atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %there = llvm.icmp "eq" %begun, %generation : i32
  %known = llvm.icmp "ne" %state, %present : i32
  %fine = llvm.or %there, %known : i1
  llvm.cond_br %fine, ^end, ^note
^note:
  %pair = llvm.cmpxchg %state_at, %present, %absent acq_rel monotonic {alignment = 4 : i64}
      : !llvm.ptr, i32
  llvm.call @nnc_pool_place(%pool) : (!llvm.ptr) -> ()
  llvm.br ^end
^end:
  llvm.return
}

// What a worker does: its part of each job that it is in time for, until the pool stops.
llvm.func internal @nnc_pool_worker(%worker: !llvm.ptr) -> !llvm.ptr {
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  %number_at = llvm.getelementptr %worker[0, 1] : (!llvm.ptr) -> !llvm.ptr, !worker
  %pool = llvm.load %worker : !llvm.ptr -> !llvm.ptr
  %number = llvm.load %number_at : !llvm.ptr -> i32
  %stop = llvm.getelementptr %pool[0, 12] : (!llvm.ptr) -> !llvm.ptr, !pool
  llvm.br ^wait(%zero : i32)
^wait(%seen: i32):
  %generation = llvm.call @nnc_pool_next_generation(%pool, %worker, %seen)
      : (!llvm.ptr, !llvm.ptr, i32) -> i32
  %stopped = llvm.load %stop : !llvm.ptr -> i32
  %ends = llvm.icmp "ne" %stopped, %zero : i32
  llvm.cond_br %ends, ^end, ^work
^work:
  llvm.call @nnc_pool_work(%pool, %number, %generation) : (!llvm.ptr, i32, i32) -> ()
  llvm.br ^wait(%generation : i32)
^end:
  llvm.return %null : !llvm.ptr
}

// Waits until the generation is not `seen`, and gives it.
llvm.func internal @nnc_pool_next_generation(%pool: !llvm.ptr, %worker: !llvm.ptr,
                                             %seen: i32) -> i32 {
  %no = llvm.mlir.constant(0 : i1) : i1
  %present = llvm.mlir.constant(0 : i32) : i32
  %spins = llvm.mlir.constant(8192 : i32) : i32
  %generation = llvm.getelementptr %pool[0, 7] : (!llvm.ptr) -> !llvm.ptr, !pool
  %state_at = llvm.getelementptr %worker[0, 6] : (!llvm.ptr) -> !llvm.ptr, !worker
  %now = llvm.call @nnc_pool_await(%worker, %generation, %seen, %no, %spins)
      : (!llvm.ptr, !llvm.ptr, i32, i1, i32) -> i32
  %state = llvm.load %state_at atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %there = llvm.icmp "eq" %state, %present : i32
  llvm.cond_br %there, ^end, ^report
^report:
  llvm.call @nnc_pool_report(%worker) : (!llvm.ptr) -> ()
  llvm.br ^end
^end:
  llvm.return %now : i32
}

// void nnc_parallel_for(nnc_pool *pool, task, void *environment, index begin, index end, index grain)
//
// Calls task(environment, b, e) for pieces [b, e) of [begin, end), on all threads of the pool,
// and returns when all are done. A piece has at least `grain` indices, but for the last.
llvm.func @nnc_parallel_for(%pool: !llvm.ptr, %task: !llvm.ptr, %environment: !llvm.ptr,
                            %begin: i64, %end: i64, %grain: i64) {
  %null = llvm.mlir.zero : !llvm.ptr
  %yes = llvm.mlir.constant(1 : i32) : i32
  %no = llvm.mlir.constant(0 : i32) : i32
  %wanted = llvm.mlir.constant(1 : i1) : i1
  %spins = llvm.mlir.constant(8192 : i32) : i32
  %length = llvm.sub %end, %begin : i64
  %short = llvm.icmp "sle" %length, %grain : i64
  %poolless = llvm.icmp "eq" %pool, %null : !llvm.ptr
  %simple = llvm.or %short, %poolless : i1
  llvm.cond_br %simple, ^alone, ^claim
^alone:
  llvm.call %task(%environment, %begin, %end) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
  llvm.return
^claim:
  %busy = llvm.getelementptr %pool[0, 11] : (!llvm.ptr) -> !llvm.ptr, !pool
  %was_busy = llvm.atomicrmw xchg %busy, %yes acquire : !llvm.ptr, i32
  %free = llvm.icmp "eq" %was_busy, %no : i32
  llvm.cond_br %free, ^start, ^alone
^start:
  %task_at = llvm.getelementptr %pool[0, 1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %environment_at = llvm.getelementptr %pool[0, 2] : (!llvm.ptr) -> !llvm.ptr, !pool
  %begin_at = llvm.getelementptr %pool[0, 3] : (!llvm.ptr) -> !llvm.ptr, !pool
  %end_at = llvm.getelementptr %pool[0, 4] : (!llvm.ptr) -> !llvm.ptr, !pool
  llvm.store %task, %task_at : !llvm.ptr, !llvm.ptr
  llvm.store %environment, %environment_at : !llvm.ptr, !llvm.ptr
  llvm.store %begin, %begin_at : i64, !llvm.ptr
  llvm.store %end, %end_at : i64, !llvm.ptr
  llvm.call @nnc_pool_deal(%pool, %length, %grain) : (!llvm.ptr, i64, i64) -> ()
  %generation = llvm.getelementptr %pool[0, 7] : (!llvm.ptr) -> !llvm.ptr, !pool
  %workers = llvm.getelementptr %pool[1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %before = llvm.atomicrmw add %generation, %yes seq_cst : !llvm.ptr, i32
  %current = llvm.add %before, %yes : i32
  llvm.call @nnc_pool_wake_all(%pool) : (!llvm.ptr) -> ()
  llvm.call @nnc_pool_work(%pool, %no, %current) : (!llvm.ptr, i32, i32) -> ()
  %pending = llvm.getelementptr %pool[0, 9] : (!llvm.ptr) -> !llvm.ptr, !pool
  %waited = llvm.getelementptr %pool[0, 13] : (!llvm.ptr) -> !llvm.ptr, !pool
  %since = llvm.call @nnc_pool_clock() : () -> i64
  %done = llvm.call @nnc_pool_await(%workers, %pending, %no, %wanted, %spins)
      : (!llvm.ptr, !llvm.ptr, i32, i1, i32) -> i32
  %now = llvm.call @nnc_pool_clock() : () -> i64
  %time = llvm.sub %now, %since : i64
  %sum = llvm.load %waited : !llvm.ptr -> i64
  %longer = llvm.add %sum, %time : i64
  llvm.store %longer, %waited : i64, !llvm.ptr
  llvm.store %no, %busy atomic release {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.return
}

// Cuts a job into pieces of equal length, the last perhaps shorter, and gives each thread its run.
llvm.func internal @nnc_pool_deal(%pool: !llvm.ptr, %length: i64, %grain: i64) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %high = llvm.mlir.constant(16 : i32) : i32
  %single = llvm.mlir.constant(1 : i64) : i64
  %most = llvm.mlir.constant(32767 : i64) : i64
  %piece_at = llvm.getelementptr %pool[0, 5] : (!llvm.ptr) -> !llvm.ptr, !pool
  %pending = llvm.getelementptr %pool[0, 9] : (!llvm.ptr) -> !llvm.ptr, !pool
  %workers = llvm.getelementptr %pool[1] : (!llvm.ptr) -> !llvm.ptr, !pool
  %threads = llvm.load %pool : !llvm.ptr -> i32
  // ceil(length / grain) pieces, but no more than a run can tell.
  %below = llvm.sub %length, %single : i64
  %least = llvm.intr.smax(%grain, %single) : (i64, i64) -> i64
  %full = llvm.udiv %below, %least : i64
  %fits = llvm.intr.umin(%full, %most) : (i64, i64) -> i64
  %wanted = llvm.add %fits, %single : i64
  %whole = llvm.udiv %below, %wanted : i64
  %piece = llvm.add %whole, %single : i64
  llvm.store %piece, %piece_at : i64, !llvm.ptr
  %before = llvm.udiv %below, %piece : i64
  %count = llvm.add %before, %single : i64
  %pieces = llvm.trunc %count : i64 to i32
  llvm.store %pieces, %pending atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.br ^next(%zero, %zero : i32, i32)
^next(%number: i32, %first: i32):
  // A late worker may take a piece as soon as it is there.
  %run = llvm.getelementptr %workers[%number, 11] : (!llvm.ptr, i32) -> !llvm.ptr, !worker
  %following = llvm.add %number, %one : i32
  %share = llvm.mul %pieces, %following : i32
  %end = llvm.udiv %share, %threads : i32
  %upper = llvm.shl %end, %high : i32
  %word = llvm.or %upper, %first : i32
  llvm.store %word, %run atomic release {alignment = 4 : i64} : i32, !llvm.ptr
  %all = llvm.icmp "eq" %following, %threads : i32
  llvm.cond_br %all, ^end, ^next(%following, %end : i32, i32)
^end:
  llvm.return
}

// void nnc_pool_counts(nnc_pool *pool, int64_t *counts, int64_t row, int64_t columns)
//
// Sets a row of a table: for how long callers of the pool have waited, and how many pieces each
// thread has done. For what there is not it sets 0.
llvm.func internal @nnc_pool_counts(%pool: !llvm.ptr, %counts: !llvm.ptr, %row: i64, %columns: i64) {
  %null = llvm.mlir.zero : !llvm.ptr
  %none = llvm.mlir.constant(0 : i32) : i32
  %nothing = llvm.mlir.constant(0 : i64) : i64
  %single = llvm.mlir.constant(1 : i64) : i64
  %first = llvm.mul %row, %columns : i64
  %table = llvm.getelementptr %counts[%first] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %poolless = llvm.icmp "eq" %pool, %null : !llvm.ptr
  %workers = llvm.getelementptr %pool[1] : (!llvm.ptr) -> !llvm.ptr, !pool
  llvm.cond_br %poolless, ^set(%nothing, %nothing, %none : i64, i64, i32), ^begin
^begin:
  %waited_at = llvm.getelementptr %pool[0, 13] : (!llvm.ptr) -> !llvm.ptr, !pool
  %waited = llvm.load %waited_at : !llvm.ptr -> i64
  %have = llvm.load %pool : !llvm.ptr -> i32
  llvm.br ^set(%nothing, %waited, %have : i64, i64, i32)
^set(%column: i64, %value: i64, %threads: i32):
  %place = llvm.getelementptr %table[%column] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %value, %place : i64, !llvm.ptr
  %next = llvm.add %column, %single : i64
  %all = llvm.icmp "sge" %next, %columns : i64
  llvm.cond_br %all, ^end, ^thread
^thread:
  %limit = llvm.zext %threads : i32 to i64
  %known = llvm.icmp "slt" %column, %limit : i64
  llvm.cond_br %known, ^read, ^set(%next, %nothing, %threads : i64, i64, i32)
^read:
  %taken_at = llvm.getelementptr %workers[%column, 4] : (!llvm.ptr, i64) -> !llvm.ptr, !worker
  %taken = llvm.load %taken_at atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
  %wide = llvm.zext %taken : i32 to i64
  llvm.br ^set(%next, %wide, %threads : i64, i64, i32)
^end:
  llvm.return
}
