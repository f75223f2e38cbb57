// A view with the offset of its source starts where that does: at the subview's own elements.
// RUN: nn-opt --flatten-addresses --canonicalize --cse %s | filecheck %s

// CHECK-LABEL: func.func @own_offset
// CHECK-SAME:      %[[X:.*]]: memref<?x3xf32>, %[[N:.*]]: index
// CHECK-DAG:     %[[AT:.*]] = arith.muli %[[N]], %c3
// CHECK-DAG:     %[[FLAT:.*]] = memref.reinterpret_cast %[[X]] to offset: [0]
// CHECK:         memref.store %{{.*}}, %[[FLAT]][%[[AT]]]
func.func @own_offset(%x: memref<?x3xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %part = memref.subview %x[%n, 0] [2, 3] [1, 1] : memref<?x3xf32> to memref<2x3xf32, strided<[3, 1], offset: ?>>
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %part : memref<2x3xf32, strided<[3, 1], offset: ?>> -> memref<f32>, index, index, index, index, index
  %row = memref.reinterpret_cast %part to offset: [%offset], sizes: [6], strides: [1] : memref<2x3xf32, strided<[3, 1], offset: ?>> to memref<6xf32, strided<[1], offset: ?>>
  memref.store %one, %row[%c0] : memref<6xf32, strided<[1], offset: ?>>
  return
}
