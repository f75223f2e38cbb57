// nn-opt --keep-packed
func.func @f(%x: tensor<1x32xf32>) -> tensor<1x16xf32> {
  %bytes = nn.constant dense<135> : tensor<16x1x16xui8>
  %scale = nn.constant dense<0.5> : tensor<16x1xf32>
  %0 = nn.dequantize %bytes, %scale {middle = 8 : i64} : (tensor<16x1x16xui8>, tensor<16x1xf32>) -> tensor<16x1x16x2xf32>
  %1 = nn.reshape %0 : (tensor<16x1x16x2xf32>) -> tensor<16x32xf32>
  %w = nn.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<16x32xf32>) -> tensor<32x16xf32>
  %y = nn.matmul %x, %w : (tensor<1x32xf32>, tensor<32x16xf32>) -> tensor<1x16xf32>
  return %y : tensor<1x16xf32>
}
