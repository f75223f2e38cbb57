// With threads the entry also gets an output with what the pool has counted at each moment, and the
// pool, which --outline-parallel then uses.
// RUN: nn-opt --pass-pipeline='builtin.module(instrument-kernels{threads=2})' %s | filecheck %s
// RUN: nn-opt --pass-pipeline='builtin.module(instrument-kernels{threads=2},outline-parallel,lower-to-llvm)' %s | filecheck %s --check-prefix=LLVM

// CHECK: func.func private @nnc_pool_counts(!llvm.ptr, memref<2x3xi64>, i64, i64)
// CHECK: func.func @main(%{{.*}}: memref<4xf32>, %{{.*}}: memref<2xi64>,
// CHECK-SAME: %[[COUNTS:[a-z0-9]*]]: memref<2x3xi64>, %[[POOL:[a-z0-9]*]]: !llvm.ptr {nn.pool})
// CHECK-SAME: nn.output_names = ["y", "nnc.times", "nnc.pieces"]
// CHECK: %[[COLUMNS:[a-z0-9_]*]] = arith.constant 3 : i64
// CHECK-NEXT: call @nnc_pool_counts(%[[POOL]], %[[COUNTS]], %{{[a-z0-9_]*}}, %[[COLUMNS]])
// CHECK-NEXT: call @k
// CHECK-NEXT: %[[ROW:[a-z0-9_]*]] = arith.constant 1 : i64
// CHECK-NEXT: arith.constant 3 : i64
// CHECK-NEXT: call @nnc_pool_counts(%[[POOL]], %[[COUNTS]], %[[ROW]]

// The pool comes along though no loop is parallel, and tells the time.
// LLVM:     llvm.func internal @nnc_pool_clock() -> i64
// LLVM:       llvm.call @nnc_clock()
// LLVM:     llvm.func internal @nnc_pool_counts(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64) {
func.func private @k(%y: memref<4xf32>) attributes {nn.kernel} {
  return
}
func.func @main(%y: memref<4xf32>) attributes {nn.entry, nn.inputs = [], nn.outputs = [tensor<4xf32>], nn.input_names = [], nn.output_names = ["y"]} {
  func.call @k(%y) : (memref<4xf32>) -> ()
  return
}
