// nn-opt --lower-to-linalg
func.func private @kernel(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<4x8xf32> attributes {nn.kernel} {
  %0 = nn.add %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func @main(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<4x8xf32> attributes {nn.entry, nn.input_names = ["x", "y"], nn.output_names = ["z"]} {
  %0 = call @kernel(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
