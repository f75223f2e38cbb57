// nn-opt --merge-products
func.func @f(%x: tensor<2x1x64xf32>, %w: tensor<64x96xf32>) -> (tensor<1x1x96xf32>, tensor<1x1x96xf32>) {
  %0, %1 = nn.split %x {axis = 0 : i64} : (tensor<2x1x64xf32>) -> (tensor<1x1x64xf32>, tensor<1x1x64xf32>)
  %2 = nn.matmul %0, %w : (tensor<1x1x64xf32>, tensor<64x96xf32>) -> tensor<1x1x96xf32>
  %3 = nn.matmul %1, %w : (tensor<1x1x64xf32>, tensor<64x96xf32>) -> tensor<1x1x96xf32>
  return %2, %3 : tensor<1x1x96xf32>, tensor<1x1x96xf32>
}
