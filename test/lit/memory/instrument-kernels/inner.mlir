// A loop with kernels inside counts as one; what they take is added up, also in functions that it calls.
// RUN: nn-opt --instrument-kernels %s | filecheck %s

func.func private @k(%x: memref<4xf32>) attributes {nn.kernel} {
  return
}

// CHECK: func.func @main(%[[X:[a-z0-9]*]]: memref<4xf32>, %[[INNER:[a-z0-9]*]]: memref<2x2xi64>,
// CHECK-SAME: %[[TIMES:[a-z0-9]*]]: memref<3xi64>)
// CHECK-SAME: nn.output_names = ["x", "nnc.inner", "nnc.times"]
// CHECK-COUNT-4: memref.store %{{.*}}, %[[INNER]][%{{.*}}] : memref<2x2xi64>
// CHECK: call @nnc_clock
// CHECK: call @k(%[[X]])
// CHECK: call @nnc_clock
// CHECK: scf.for
// CHECK-NEXT: %[[BEGAN:.*]] = func.call @nnc_clock()
// CHECK-NEXT: func.call @k(%[[X]])
// CHECK-NEXT: %[[ENDED:.*]] = func.call @nnc_clock()
// CHECK-NEXT: %[[TOOK:.*]] = arith.subi %[[ENDED]], %[[BEGAN]] : i64
// CHECK: %[[OLD:.*]] = memref.load %[[INNER]]
// CHECK-NEXT: %[[NEW:.*]] = arith.addi %[[OLD]], %[[TOOK]] : i64
// CHECK-NEXT: memref.store %[[NEW]], %[[INNER]]
// CHECK: func.call @step(%[[X]], %[[INNER]])
// CHECK: call @nnc_clock
// CHECK: return
func.func @main(%x: memref<4xf32>) attributes {nn.entry, nn.inputs = [], nn.outputs = [tensor<4xf32>], nn.input_names = [], nn.output_names = ["x"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  func.call @k(%x) : (memref<4xf32>) -> ()
  scf.for %i = %c0 to %c8 step %c1 {
    func.call @k(%x) : (memref<4xf32>) -> ()
    func.call @step(%x) : (memref<4xf32>) -> ()
  }
  return
}

// CHECK: func.func private @step(%[[Y:[a-z0-9]*]]: memref<4xf32>, %[[BUFFER:[a-z0-9]*]]: memref<2x2xi64>)
// CHECK: call @nnc_clock
// CHECK-NEXT: call @k(%[[Y]])
// CHECK-NEXT: call @nnc_clock
// CHECK: memref.store %{{.*}}, %[[BUFFER]]
func.func private @step(%x: memref<4xf32>) {
  func.call @k(%x) : (memref<4xf32>) -> ()
  return
}
