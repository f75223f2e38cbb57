// nn-opt --split-batch=cache-bytes=33000
func.func @main(%x: tensor<4x8x16x16xf32>) -> tensor<8x8x8xf32> attributes {nn.entry, nn.input_names = ["x"], nn.output_names = ["y"]} {
  %w = nn.constant dense<1.0> : tensor<8x8x1x1xf32>
  %a = nn.conv %x, %w : (tensor<4x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<4x8x16x16xf32>
  %b = nn.conv %a, %w : (tensor<4x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<4x8x16x16xf32>
  %c = nn.max_pool %b {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<4x8x16x16xf32>) -> tensor<4x8x8x8xf32>
  %m = nn.reduce_mean %c {axes = array<i64: 0>} : (tensor<4x8x8x8xf32>) -> tensor<8x8x8xf32>
  return %m : tensor<8x8x8xf32>
}
