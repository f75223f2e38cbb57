// A square is transposed in two steps of four shuffles.
// RUN: nn-opt --lower-tiles='target=sse' %s | filecheck %s

// CHECK-LABEL: func.func @transpose(
// CHECK-COUNT-8: vector.shuffle
// CHECK-NOT:     vector.shuffle
// CHECK:         return
func.func @transpose(%m: memref<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %v = vector.load %m[%c0, %c0] : memref<4x4xf32>, vector<4x4xf32>
  %t = vector.transpose %v, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
  vector.store %t, %m[%c0, %c0] : memref<4x4xf32>, vector<4x4xf32>
  return
}
