// lower-to-llvm turns a parallel call into one of the thread pool: what the body needs lies in a
// struct on the stack, which a task takes apart; the pool's code comes with the module.
// RUN: nn-opt --outline-parallel --lower-to-llvm %s | filecheck %s
// RUN: nn-opt --lower-to-llvm %s | filecheck %s --check-prefix=SEQUENTIAL

// CHECK-LABEL: llvm.func internal @scale_parallel_0.task
// CHECK-SAME:    (%[[ENV:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK:         %[[POOL_AT:.*]] = llvm.getelementptr %[[ENV]][0, 0] {{.*}} !llvm.struct<(ptr, ptr, f32)>
// CHECK-NEXT:    %[[POOL:.*]] = llvm.load %[[POOL_AT]]
// CHECK:         %[[S:.*]] = llvm.load {{.*}} -> f32
// CHECK:         llvm.call @scale_parallel_0(%[[POOL]], %[[BEGIN]], %[[END]], %{{.*}}, %[[S]])

// CHECK:         llvm.func @pthread_create
// CHECK:         llvm.func @nnc_parallel_for

// CHECK-LABEL: llvm.func @scale(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr{{.*}}, %[[S:.*]]: f32, %[[POOL:.*]]: !llvm.ptr
// CHECK-DAG:     %[[TASK:.*]] = llvm.mlir.addressof @scale_parallel_0.task
// CHECK-DAG:     %[[ENV:.*]] = llvm.alloca
// CHECK:         llvm.store %[[POOL]]
// CHECK:         llvm.store %[[A]]
// CHECK:         llvm.store %[[S]]
// CHECK:         llvm.call @nnc_parallel_for(%[[POOL]], %[[TASK]], %[[ENV]], %{{.*}}, %{{.*}}, %{{.*}})

// SEQUENTIAL-NOT: nnc_parallel_for
// SEQUENTIAL:     llvm.cond_br
func.func @scale(%a: memref<64xf32>, %s: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    %x = memref.load %a[%i] : memref<64xf32>
    %y = arith.mulf %x, %s : f32
    memref.store %y, %a[%i] : memref<64xf32>
    scf.reduce
  }
  return
}
