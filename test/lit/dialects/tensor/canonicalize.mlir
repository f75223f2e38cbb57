// Folds of tensor.
// RUN: nn-opt --canonicalize %s | filecheck %s

// CHECK-LABEL: func.func @extract(
// CHECK-SAME: %[[X:.*]]: f32
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: return %[[X]], %[[TWO]]
func.func @extract(%x: f32) -> (f32, f32) {
  %c1 = arith.constant 1 : index
  %s = tensor.splat %x : tensor<4xf32>
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = tensor.extract %s[%c1] : tensor<4xf32>
  %1 = tensor.extract %c[%c1] : tensor<2xf32>
  return %0, %1 : f32, f32
}

// CHECK-LABEL: func.func @dim(
// CHECK-SAME: %[[N:.*]]: index)
// CHECK: return %[[N]]
func.func @dim(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %0 = tensor.empty(%n) : tensor<?x4xf32>
  %1 = tensor.dim %0, %c0 : tensor<?x4xf32>
  return %1 : index
}

// CHECK-LABEL: func.func @there_and_back(
// CHECK-SAME: %[[T:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[T]]
func.func @there_and_back(%t: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tensor.cast %t : tensor<4xf32> to tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<4xf32>
  return %1 : tensor<4xf32>
}
