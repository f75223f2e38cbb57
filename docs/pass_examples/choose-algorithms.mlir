// nn-opt --choose-algorithms
func.func @f(%x: tensor<1x4x34x34x16xf32>) -> tensor<1x4x32x32x16xf32> {
  %w = nn.constant dense<0.5> : tensor<4x4x3x3x16x16xf32>
  %0 = nn.blocked_conv %x, %w : (tensor<1x4x34x34x16xf32>, tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x32x32x16xf32>
  return %0 : tensor<1x4x32x32x16xf32>
}
