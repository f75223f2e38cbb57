// nn-opt --widen-products
func.func @f(%x: tensor<1x3x34x34xf16>) -> tensor<1x8x32x32xf16> {
  %w = nn.constant dense<0.5> : tensor<8x3x3x3xf16>
  %y = nn.conv %x, %w : (tensor<1x3x34x34xf16>, tensor<8x3x3x3xf16>) -> tensor<1x8x32x32xf16>
  return %y : tensor<1x8x32x32xf16>
}
