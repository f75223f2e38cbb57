// Views go: what they say is part of the address. Buffers of one dimension stay as they are.
// RUN: nn-opt --check-numerics --flatten-addresses --canonicalize --cse %s | filecheck %s

// CHECK-LABEL: func.func @views
// CHECK-NOT:     memref.subview
// CHECK-NOT:     memref.expand_shape
// CHECK:         %[[FLAT:.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [64], strides: [1]
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[A:.*]] = arith.addi %[[I]], %c18
// CHECK:           memref.load %[[FLAT]][%[[A]]]
// CHECK:           memref.load %arg1[%[[I]]]
// CHECK:           %[[B:.*]] = arith.muli %[[I]], %c4
// CHECK:           memref.store %{{.*}}, %arg1[%[[B]]]
func.func @views(%x: memref<8x8xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %part = memref.subview %x[2, 2] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 18>>
  %rows = memref.expand_shape %y [[0, 1]] output_shape [4, 4] : memref<16xf32> into memref<4x4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %part[%c0, %i] : memref<4x4xf32, strided<[8, 1], offset: 18>>
    %b = memref.load %y[%i] : memref<16xf32>
    %s = arith.addf %a, %b : f32
    memref.store %s, %rows[%i, %c0] : memref<4x4xf32>
  }
  return
}
