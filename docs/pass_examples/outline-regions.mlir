// nn-opt --outline-regions
func.func @main(%c: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> attributes {nn.entry, nn.input_names = ["c", "x"], nn.output_names = ["y"]} {
  %0 = nn.if %c -> (tensor<8xf32>) {
    %1 = nn.relu %x : (tensor<8xf32>) -> tensor<8xf32>
    nn.yield %1 : tensor<8xf32>
  } else {
    nn.yield %x : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
