// nn-opt --choose-layouts=block=4
func.func @f(%x: tensor<1x4x6x6xf32>) -> tensor<1x4x4x4xf32> {
  %w = nn.constant dense<0.5> : tensor<4x4x3x3xf32>
  %0 = nn.conv %x, %w : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}
