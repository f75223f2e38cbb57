// Results whose lanes lie two apart and fill each other's gaps are written as whole vectors.
// RUN: nn-opt --check-numerics --lower-tiles='target=avx2' --canonicalize --cse %s | filecheck %s

// CHECK-LABEL: func.func @interleaved
// CHECK:         %[[A:.*]] = vector.load
// CHECK:         %[[B:.*]] = vector.load
// CHECK:         %[[L:.*]] = vector.shuffle %[[A]], %[[B]] [0, 8, 1, 9, 2, 10, 3, 11]
// CHECK:         %[[H:.*]] = vector.shuffle %[[A]], %[[B]] [4, 12, 5, 13, 6, 14, 7, 15]
// CHECK:         vector.store %[[L]], %arg1[%c0]
// CHECK:         vector.store %[[H]], %arg1[%c8]
// CHECK-NOT:     vector.scatter
func.func @interleaved(%x: memref<2x8xf32>, %y: memref<16xf32>) attributes {nn.kernel} {
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %v = memref.reinterpret_cast %y to offset: [0], sizes: [2, 8], strides: [1, 2] : memref<16xf32> to memref<2x8xf32, strided<[1, 2]>>
  %a = vector.transfer_read %x[%c0, %c0], %pad {in_bounds = [true, true]} : memref<2x8xf32>, vector<2x8xf32>
  vector.transfer_write %a, %v[%c0, %c0] {in_bounds = [true, true]} : vector<2x8xf32>, memref<2x8xf32, strided<[1, 2]>>
  return
}
