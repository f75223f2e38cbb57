// nn-opt --recognize-composites --canonicalize
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.reduce_max %x {axes = array<i64: 1>, keep_dims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = nn.sub %x, %0 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = nn.exp %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = nn.reduce_sum %2 {axes = array<i64: 1>, keep_dims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %4 = nn.div %2, %3 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}
