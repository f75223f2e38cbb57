// nn-opt --merge-convolutions --fold-constants
func.func @f(%x: tensor<1x1x8xf32>) -> tensor<1x1x8xf32> {
  %v = nn.constant dense<1.0> : tensor<1x1x3xf32>
  %u = nn.constant dense<2.0> : tensor<1x1x1xf32>
  %0 = nn.conv %x, %v {pads = array<i64: 1, 1>} : (tensor<1x1x8xf32>, tensor<1x1x3xf32>) -> tensor<1x1x8xf32>
  %1 = nn.conv %x, %u : (tensor<1x1x8xf32>, tensor<1x1x1xf32>) -> tensor<1x1x8xf32>
  %2 = nn.add %0, %1 : (tensor<1x1x8xf32>, tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
  return %2 : tensor<1x1x8xf32>
}
