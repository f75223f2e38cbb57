// A branch by a known condition is computed in its place; one by another condition stays.
// RUN: nn-opt --canonicalize %s | filecheck %s

// CHECK-LABEL: func.func @known(
// CHECK-SAME:    %[[A:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[Y:.*]] = nn.relu %[[A]]
// CHECK-NEXT:    return %[[Y]]
func.func @known(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = nn.constant dense<true> : tensor<i1>
  %y = nn.if %c -> (tensor<4xf32>) {
    %0 = nn.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } else {
    nn.yield %a : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @unknown(
// CHECK:         nn.if %{{.*}} -> (tensor<4xf32>) {
func.func @unknown(%c: tensor<i1>, %a: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.if %c -> (tensor<4xf32>) {
    %0 = nn.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  } else {
    nn.yield %a : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// The branch gives four elements, where the function says that it may be any number.
// CHECK-LABEL: func.func @wider(
// CHECK:         nn.if
func.func @wider(%a: tensor<4xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c = nn.constant dense<true> : tensor<i1>
  %y = nn.if %c -> (tensor<?xf32>) {
    nn.yield %a : tensor<4xf32>
  } else {
    nn.yield %b : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}
