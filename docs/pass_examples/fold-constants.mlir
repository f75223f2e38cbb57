// nn-opt --fold-constants
func.func @f(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %a = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = nn.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %0 = nn.add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = nn.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = nn.mul %1, %0 : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}
