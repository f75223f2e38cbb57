// A small graph: a matrix product with bias and ReLU, as nn-opt takes it.
func.func @main(%x: tensor<64x256xf32>, %w: tensor<256x96xf32>, %b: tensor<96xf32>) -> tensor<64x96xf32> {
  %0 = nn.matmul %x, %w : (tensor<64x256xf32>, tensor<256x96xf32>) -> tensor<64x96xf32>
  %1 = nn.add %0, %b : (tensor<64x96xf32>, tensor<96xf32>) -> tensor<64x96xf32>
  %2 = nn.relu %1 : (tensor<64x96xf32>) -> tensor<64x96xf32>
  return %2 : tensor<64x96xf32>
}
