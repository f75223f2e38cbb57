// nn-opt --infer-shapes
func.func @f(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %0 = nn.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<?x?xf32>
  %1 = nn.relu %0 : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
