// Sizes that are known only at run time are read once; rows of neighbours are products made outside.
// RUN: nn-opt --check-numerics --flatten-addresses --canonicalize --cse %s | filecheck %s

// CHECK-LABEL: func.func @dynamic
// CHECK:         %[[N:.*]] = memref.dim %arg0, %c1
// CHECK:         %[[FLAT:.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [%{{.*}}], strides: [1] : memref<?x?xf32> to memref<?xf32>
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[ROW:.*]] = arith.muli %[[I]], %[[N]]
// CHECK:           scf.for %[[J:.*]] =
// CHECK:             %[[A:.*]] = arith.addi %[[ROW]], %[[J]]
// CHECK:             %[[V:.*]] = memref.load %[[FLAT]][%[[A]]]
// CHECK:             %[[B:.*]] = arith.addi %[[A]], %[[N]]
// CHECK:             memref.store %[[V]], %[[FLAT]][%[[B]]]
func.func @dynamic(%x: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %last = arith.subi %m, %c1 : index
  scf.for %i = %c0 to %last step %c1 {
    %next = arith.addi %i, %c1 : index
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      memref.store %v, %x[%next, %j] : memref<?x?xf32>
    }
  }
  return
}
