// Types learn what operands, attributes and known values tell; what only run time knows stays.
// RUN: nn-opt --infer-shapes %s | filecheck %s

// CHECK-LABEL: func.func @refined(
// CHECK-SAME:    ) -> tensor<2x5x4xf32>
// CHECK:         nn.reshape {{.*}} -> tensor<2x4x5xf32>
// CHECK:         nn.relu {{.*}} -> tensor<2x4x5xf32>
// CHECK:         nn.transpose {{.*}} -> tensor<2x5x4xf32>
func.func @refined(%x: tensor<2x20xf32>) -> tensor<?x?x?xf32> {
  %0 = nn.reshape %x : (tensor<2x20xf32>) -> tensor<2x?x5xf32>
  %1 = nn.relu %0 : (tensor<2x?x5xf32>) -> tensor<2x?x5xf32>
  %2 = nn.transpose %1 {permutation = array<i64: 0, 2, 1>} : (tensor<2x?x5xf32>) -> tensor<?x?x?xf32>
  return %2 : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @unknown(
// CHECK-SAME:    ) -> tensor<2x?xi64>
func.func @unknown(%x: tensor<2x20xf32>) -> tensor<2x?xi64> {
  %0 = nn.non_zero %x : (tensor<2x20xf32>) -> tensor<2x?xi64>
  return %0 : tensor<2x?xi64>
}
