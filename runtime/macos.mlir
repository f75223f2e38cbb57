// Semaphores of POSIX for systems that only have mutexes and condition variables: macOS knows none
// without a name.

!semaphore = !llvm.struct<(
  array<8 x i64>,  // 0: pthread_mutex_t
  array<6 x i64>,  // 1: pthread_cond_t
  i32              // 2: how many may pass
)>

llvm.func @pthread_mutex_init(!llvm.ptr, !llvm.ptr) -> i32
llvm.func @pthread_mutex_lock(!llvm.ptr) -> i32
llvm.func @pthread_mutex_unlock(!llvm.ptr) -> i32
llvm.func @pthread_mutex_destroy(!llvm.ptr) -> i32
llvm.func @pthread_cond_init(!llvm.ptr, !llvm.ptr) -> i32
llvm.func @pthread_cond_wait(!llvm.ptr, !llvm.ptr) -> i32
llvm.func @pthread_cond_signal(!llvm.ptr) -> i32
llvm.func @pthread_cond_destroy(!llvm.ptr) -> i32

llvm.func internal @sem_init(%semaphore: !llvm.ptr, %shared: i32, %count: i32) -> i32 {
  %null = llvm.mlir.zero : !llvm.ptr
  %changed = llvm.getelementptr %semaphore[0, 1] : (!llvm.ptr) -> !llvm.ptr, !semaphore
  %count_at = llvm.getelementptr %semaphore[0, 2] : (!llvm.ptr) -> !llvm.ptr, !semaphore
  llvm.store %count, %count_at : i32, !llvm.ptr
  %r0 = llvm.call @pthread_mutex_init(%semaphore, %null) : (!llvm.ptr, !llvm.ptr) -> i32
  %r1 = llvm.call @pthread_cond_init(%changed, %null) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.return %r1 : i32
}

llvm.func internal @sem_wait(%semaphore: !llvm.ptr) -> i32 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %changed = llvm.getelementptr %semaphore[0, 1] : (!llvm.ptr) -> !llvm.ptr, !semaphore
  %count_at = llvm.getelementptr %semaphore[0, 2] : (!llvm.ptr) -> !llvm.ptr, !semaphore
  %r0 = llvm.call @pthread_mutex_lock(%semaphore) : (!llvm.ptr) -> i32
  llvm.br ^look
^look:
  %count = llvm.load %count_at : !llvm.ptr -> i32
  %none = llvm.icmp "eq" %count, %zero : i32
  llvm.cond_br %none, ^wait, ^pass
^wait:
  %r1 = llvm.call @pthread_cond_wait(%changed, %semaphore) : (!llvm.ptr, !llvm.ptr) -> i32
  llvm.br ^look
^pass:
  %less = llvm.sub %count, %one : i32
  llvm.store %less, %count_at : i32, !llvm.ptr
  %r2 = llvm.call @pthread_mutex_unlock(%semaphore) : (!llvm.ptr) -> i32
  llvm.return %r2 : i32
}

llvm.func internal @sem_post(%semaphore: !llvm.ptr) -> i32 {
  %one = llvm.mlir.constant(1 : i32) : i32
  %changed = llvm.getelementptr %semaphore[0, 1] : (!llvm.ptr) -> !llvm.ptr, !semaphore
  %count_at = llvm.getelementptr %semaphore[0, 2] : (!llvm.ptr) -> !llvm.ptr, !semaphore
  %r0 = llvm.call @pthread_mutex_lock(%semaphore) : (!llvm.ptr) -> i32
  %count = llvm.load %count_at : !llvm.ptr -> i32
  %more = llvm.add %count, %one : i32
  llvm.store %more, %count_at : i32, !llvm.ptr
  %r1 = llvm.call @pthread_cond_signal(%changed) : (!llvm.ptr) -> i32
  %r2 = llvm.call @pthread_mutex_unlock(%semaphore) : (!llvm.ptr) -> i32
  llvm.return %r2 : i32
}

llvm.func internal @sem_destroy(%semaphore: !llvm.ptr) -> i32 {
  %changed = llvm.getelementptr %semaphore[0, 1] : (!llvm.ptr) -> !llvm.ptr, !semaphore
  %r0 = llvm.call @pthread_cond_destroy(%changed) : (!llvm.ptr) -> i32
  %r1 = llvm.call @pthread_mutex_destroy(%semaphore) : (!llvm.ptr) -> i32
  llvm.return %r1 : i32
}
