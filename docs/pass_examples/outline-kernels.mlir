// nn-opt --fuse --outline-kernels
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> attributes {nn.entry, nn.input_names = ["x", "y"], nn.output_names = ["z"]} {
  %0 = nn.add %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = nn.relu %0 : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
