// What the code needs of C's library and of POSIX, in terms of Windows. Handles are pointers.

llvm.func @_aligned_malloc(i64, i64) -> !llvm.ptr
llvm.func @_aligned_free(!llvm.ptr)
llvm.func @CreateThread(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i32, !llvm.ptr) -> !llvm.ptr
llvm.func @CreateSemaphoreW(!llvm.ptr, i32, i32, !llvm.ptr) -> !llvm.ptr
llvm.func @ReleaseSemaphore(!llvm.ptr, i32, !llvm.ptr) -> i32
llvm.func @WaitForSingleObject(!llvm.ptr, i32) -> i32
llvm.func @CloseHandle(!llvm.ptr) -> i32
llvm.func @SwitchToThread() -> i32

llvm.func internal @aligned_alloc(%alignment: i64, %size: i64) -> !llvm.ptr {
  %made = llvm.call @_aligned_malloc(%size, %alignment) : (i64, i64) -> !llvm.ptr
  llvm.return %made : !llvm.ptr
}

llvm.func internal @free(%block: !llvm.ptr) {
  llvm.call @_aligned_free(%block) : (!llvm.ptr) -> ()
  llvm.return
}

// The thread's result, of which Windows takes 32 bits, is not read.
llvm.func internal @pthread_create(%thread: !llvm.ptr, %attributes: !llvm.ptr,
                                   %start: !llvm.ptr, %argument: !llvm.ptr) -> i32 {
  %null = llvm.mlir.zero : !llvm.ptr
  %stack = llvm.mlir.constant(0 : i64) : i64
  %flags = llvm.mlir.constant(0 : i32) : i32
  %handle = llvm.call @CreateThread(%null, %stack, %start, %argument, %flags, %null)
      : (!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i32, !llvm.ptr) -> !llvm.ptr
  llvm.store %handle, %thread : !llvm.ptr, !llvm.ptr
  %refused = llvm.icmp "eq" %handle, %null : !llvm.ptr
  %status = llvm.zext %refused : i1 to i32
  llvm.return %status : i32
}

llvm.func internal @pthread_join(%thread: i64, %result: !llvm.ptr) -> i32 {
  %forever = llvm.mlir.constant(-1 : i32) : i32
  %handle = llvm.inttoptr %thread : i64 to !llvm.ptr
  %waited = llvm.call @WaitForSingleObject(%handle, %forever) : (!llvm.ptr, i32) -> i32
  %closed = llvm.call @CloseHandle(%handle) : (!llvm.ptr) -> i32
  llvm.return %waited : i32
}

llvm.func internal @sem_init(%semaphore: !llvm.ptr, %shared: i32, %count: i32) -> i32 {
  %null = llvm.mlir.zero : !llvm.ptr
  %most = llvm.mlir.constant(2147483647 : i32) : i32
  %handle = llvm.call @CreateSemaphoreW(%null, %count, %most, %null)
      : (!llvm.ptr, i32, i32, !llvm.ptr) -> !llvm.ptr
  llvm.store %handle, %semaphore : !llvm.ptr, !llvm.ptr
  %refused = llvm.icmp "eq" %handle, %null : !llvm.ptr
  %status = llvm.zext %refused : i1 to i32
  llvm.return %status : i32
}

llvm.func internal @sem_wait(%semaphore: !llvm.ptr) -> i32 {
  %forever = llvm.mlir.constant(-1 : i32) : i32
  %handle = llvm.load %semaphore : !llvm.ptr -> !llvm.ptr
  %waited = llvm.call @WaitForSingleObject(%handle, %forever) : (!llvm.ptr, i32) -> i32
  llvm.return %waited : i32
}

llvm.func internal @sem_post(%semaphore: !llvm.ptr) -> i32 {
  %null = llvm.mlir.zero : !llvm.ptr
  %no = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %handle = llvm.load %semaphore : !llvm.ptr -> !llvm.ptr
  %done = llvm.call @ReleaseSemaphore(%handle, %one, %null) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  %refused = llvm.icmp "eq" %done, %no : i32
  %status = llvm.zext %refused : i1 to i32
  llvm.return %status : i32
}

llvm.func internal @sem_destroy(%semaphore: !llvm.ptr) -> i32 {
  %handle = llvm.load %semaphore : !llvm.ptr -> !llvm.ptr
  %closed = llvm.call @CloseHandle(%handle) : (!llvm.ptr) -> i32
  %no = llvm.mlir.constant(0 : i32) : i32
  llvm.return %no : i32
}

llvm.func internal @sched_yield() -> i32 {
  %switched = llvm.call @SwitchToThread() : () -> i32
  %no = llvm.mlir.constant(0 : i32) : i32
  llvm.return %no : i32
}

// No process of Windows is a copy of another.
llvm.func internal @getpid() -> i32 {
  %no = llvm.mlir.constant(0 : i32) : i32
  llvm.return %no : i32
}
