// The entry gets an output with the time before each kernel and after the last.
// RUN: nn-opt --instrument-kernels %s | filecheck %s
// RUN: nn-opt --instrument-kernels --instrument-kernels %s | filecheck %s

// CHECK: func.func private @k(
func.func private @k(%x: memref<4xf32>, %y: memref<4xf32>) attributes {nn.kernel} {
  return
}

// CHECK: func.func @main(%[[X:[a-z0-9]*]]: memref<4xf32>, %[[Y:[a-z0-9]*]]: memref<4xf32>,
// CHECK-SAME: %[[TIMES:[a-z0-9]*]]: memref<3xi64>)
// CHECK-SAME: nn.output_names = ["y", "nnc.times"]
// CHECK-SAME: nn.outputs = [tensor<4xf32>, tensor<3xi64>]
// CHECK-NEXT: %[[T0:[0-9]*]] = call @nnc_clock() : () -> i64
// CHECK-NEXT: %[[I0:.*]] = arith.constant 0 : index
// CHECK-NEXT: memref.store %[[T0]], %[[TIMES]][%[[I0]]] : memref<3xi64>
// CHECK-NEXT: call @k(%[[X]], %[[Y]])
// CHECK-NEXT: %[[T1:[0-9]*]] = call @nnc_clock() : () -> i64
// CHECK-NEXT: arith.constant 1 : index
// CHECK-NEXT: memref.store %[[T1]]
// CHECK-NEXT: call @other
// CHECK-NEXT: call @k(%[[Y]], %[[Y]])
// CHECK-NEXT: call @nnc_clock() : () -> i64
// CHECK-NEXT: arith.constant 2 : index
// CHECK-NEXT: memref.store
// CHECK-NEXT: return
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {nn.entry, nn.inputs = [tensor<4xf32>], nn.outputs = [tensor<4xf32>], nn.input_names = ["x"], nn.output_names = ["y"]} {
  func.call @k(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  func.call @other() : () -> ()
  func.call @k(%y, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}

// A function that is not the entry stays as it is.
// CHECK: func.func private @other()
func.func private @other() {
  return
}

// CHECK: func.func private @clock_gettime(i32, memref<2xi64>) -> i32
// CHECK: func.func @nnc_clock() -> i64
