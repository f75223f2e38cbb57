// nn-opt --simplify-shapes --canonicalize
func.func @f(%x: tensor<?x?x8xf32>, %w: tensor<8x4xf32>) -> tensor<?x?x4xf32> attributes {nn.input_dims = [["batch", "length", ""], ["", ""]]} {
  %rows = nn.reshape %x : (tensor<?x?x8xf32>) -> tensor<?x8xf32>
  %0 = nn.matmul %rows, %w : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  %shape = nn.shape_of %x : (tensor<?x?x8xf32>) -> tensor<3xi64>
  %leading = nn.slice %shape {starts = array<i64: 0>} : (tensor<3xi64>) -> tensor<2xi64>
  %columns = nn.constant dense<4> : tensor<1xi64>
  %wanted = nn.concat %leading, %columns {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  %1 = nn.reshape_dynamic %0, %wanted : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<?x?x4xf32>
  return %1 : tensor<?x?x4xf32>
}
