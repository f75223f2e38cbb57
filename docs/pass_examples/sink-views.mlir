// nn-opt --sink-views
func.func @f(%x: tensor<8x16xf32>, %w: tensor<16x64xf32>) -> tensor<1x8x64xf32> {
  %0 = nn.matmul %x, %w : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
  %1 = nn.reshape %0 : (tensor<8x64xf32>) -> tensor<1x8x64xf32>
  %2 = nn.relu %1 : (tensor<1x8x64xf32>) -> tensor<1x8x64xf32>
  return %2 : tensor<1x8x64xf32>
}
