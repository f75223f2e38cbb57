// Layout changes that undo each other go away; others stay.
// RUN: nn-opt --canonicalize %s | filecheck %s

// CHECK-LABEL: @there_and_back
// CHECK-NEXT: return %arg0 : tensor<32x16xf32>
func.func @there_and_back(%a: tensor<32x16xf32>, %b: tensor<4x16x8xf32>) -> tensor<32x16xf32> {
  %0 = linalg.pack %a inner_dims_pos = [0] inner_tiles = [8] into %b : tensor<32x16xf32> -> tensor<4x16x8xf32>
  %1 = linalg.unpack %0 inner_dims_pos = [0] inner_tiles = [8] into %a : tensor<4x16x8xf32> -> tensor<32x16xf32>
  return %1 : tensor<32x16xf32>
}

// CHECK-LABEL: @back_and_there
// CHECK-NEXT: return %arg0 : tensor<4x16x8xf32>
func.func @back_and_there(%a: tensor<4x16x8xf32>, %b: tensor<32x16xf32>) -> tensor<4x16x8xf32> {
  %0 = linalg.unpack %a inner_dims_pos = [0] inner_tiles = [8] into %b : tensor<4x16x8xf32> -> tensor<32x16xf32>
  %1 = linalg.pack %0 inner_dims_pos = [0] inner_tiles = [8] into %a : tensor<32x16xf32> -> tensor<4x16x8xf32>
  return %1 : tensor<4x16x8xf32>
}

// CHECK-LABEL: @other_tiles
// CHECK: linalg.pack
// CHECK: linalg.unpack
func.func @other_tiles(%a: tensor<32x32xf32>, %b: tensor<4x4x8x8xf32>) -> tensor<32x32xf32> {
  %0 = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %b : tensor<32x32xf32> -> tensor<4x4x8x8xf32>
  %1 = linalg.unpack %0 inner_dims_pos = [1, 0] inner_tiles = [8, 8] into %a : tensor<4x4x8x8xf32> -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}

// CHECK-LABEL: @stays_as_it_is
// CHECK-NEXT: return %arg0, %arg0 : tensor<4x8xf32>, tensor<4x8xf32>
func.func @stays_as_it_is(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) permutation = [0, 1]
  %1 = linalg.broadcast ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) dimensions = []
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: @changes
// CHECK-NEXT: %transposed = linalg.transpose
func.func @changes(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.transpose ins(%a : tensor<4x4xf32>) outs(%b : tensor<4x4xf32>) permutation = [1, 0]
  return %0 : tensor<4x4xf32>
}
