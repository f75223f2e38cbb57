// nn-opt --merge-quantizations --canonicalize
func.func @f(%q: tensor<2x8xui8>) -> tensor<8x2xui8> {
  %zero = nn.constant dense<3.0> : tensor<f32>
  %scale = nn.constant dense<0.1> : tensor<f32>
  %low = nn.constant dense<0.0> : tensor<f32>
  %high = nn.constant dense<255.0> : tensor<f32>
  %0 = nn.cast %q : (tensor<2x8xui8>) -> tensor<2x8xf32>
  %1 = nn.sub %0, %zero : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %2 = nn.mul %1, %scale : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %3 = nn.transpose %2 {permutation = array<i64: 1, 0>} : (tensor<2x8xf32>) -> tensor<8x2xf32>
  %4 = nn.div %3, %scale : (tensor<8x2xf32>, tensor<f32>) -> tensor<8x2xf32>
  %5 = nn.round %4 : (tensor<8x2xf32>) -> tensor<8x2xf32>
  %6 = nn.add %5, %zero : (tensor<8x2xf32>, tensor<f32>) -> tensor<8x2xf32>
  %7 = nn.clip %6, %low, %high : (tensor<8x2xf32>, tensor<f32>, tensor<f32>) -> tensor<8x2xf32>
  %8 = nn.cast %7 : (tensor<8x2xf32>) -> tensor<8x2xui8>
  return %8 : tensor<8x2xui8>
}
