// nn-opt --pad-channels="block=4 target=x86-64-v4"
func.func @f(%x: tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32> {
  %w = nn.constant dense<0.5> : tensor<19x8x1x1xf32>
  %v = nn.constant dense<0.25> : tensor<8x19x1x1xf32>
  %0 = nn.conv %x, %w : (tensor<1x8x6x6xf32>, tensor<19x8x1x1xf32>) -> tensor<1x19x6x6xf32>
  %1 = nn.relu %0 : (tensor<1x19x6x6xf32>) -> tensor<1x19x6x6xf32>
  %2 = nn.conv %1, %v : (tensor<1x19x6x6xf32>, tensor<8x19x1x1xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}
