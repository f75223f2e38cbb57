// Each part of an address stands in the outermost loop that knows it; neighbours add a constant.
// RUN: nn-opt --check-numerics --flatten-addresses --canonicalize --cse %s | filecheck %s

// CHECK-LABEL: func.func @bases
// CHECK:         %[[FLAT:.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [512], strides: [1] : memref<4x8x16xf32> to memref<512xf32>
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[P:.*]] = arith.muli %[[I]], %c128
// CHECK:           scf.for %[[J:.*]] =
// CHECK:             %[[Q:.*]] = arith.muli %[[J]], %c16
// CHECK:             %[[B:.*]] = arith.addi %[[P]], %[[Q]]
// CHECK:             vector.load %[[FLAT]][%[[B]]] : memref<512xf32>, vector<8xf32>
// CHECK:             %[[N:.*]] = arith.addi %[[B]], %c24
// CHECK:             vector.load %[[FLAT]][%[[N]]] : memref<512xf32>, vector<8xf32>
// CHECK:             %[[E:.*]] = memref.load %[[FLAT]][%[[N]]]
// CHECK:             memref.store %[[E]], %[[FLAT]][%[[B]]]
func.func @bases(%x: memref<4x8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c7 step %c1 {
      %a = vector.load %x[%i, %j, %c0] : memref<4x8x16xf32>, vector<8xf32>
      %next = arith.addi %j, %c1 : index
      %b = vector.load %x[%i, %next, %c8] : memref<4x8x16xf32>, vector<8xf32>
      %s = arith.addf %a, %b : vector<8xf32>
      vector.store %s, %x[%i, %j, %c0] : memref<4x8x16xf32>, vector<8xf32>
      %e = memref.load %x[%i, %next, %c8] : memref<4x8x16xf32>
      memref.store %e, %x[%i, %j, %c0] : memref<4x8x16xf32>
    }
  }
  return
}
