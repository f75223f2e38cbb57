// Chains of elementwise ops are bounded, and what cannot be fused is a kernel of its own.
// RUN: nn-opt --fuse='limit=2' %s | filecheck %s

// CHECK-LABEL: func.func @bounded
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.exp
// CHECK-NEXT:      nn.neg
// CHECK-NEXT:      nn.yield
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.tanh
// CHECK-NEXT:      nn.yield
func.func @bounded(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = nn.tanh %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// An op with two results has one kernel with two results.

// CHECK-LABEL: func.func @several_results
// CHECK:         %[[K:.*]]:2 = nn.kernel
// CHECK-NEXT:      %[[S:.*]]:2 = nn.split
// CHECK-NEXT:      nn.yield %[[S]]#0, %[[S]]#1
// CHECK:         return %[[K]]#0, %[[K]]#1
func.func @several_results(%x: tensor<4xf32>) -> (tensor<1xf32>, tensor<3xf32>) {
  %0, %1 = nn.split %x {axis = 0 : i64} : (tensor<4xf32>) -> (tensor<1xf32>, tensor<3xf32>)
  return %0, %1 : tensor<1xf32>, tensor<3xf32>
}

// A kernel function is left alone, and so are views.

// CHECK-LABEL: func.func private @kernel
// CHECK-NEXT:    nn.exp
// CHECK-NEXT:    return
func.func private @kernel(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nn.kernel} {
  %0 = nn.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @view
// CHECK-NEXT:    nn.reshape
// CHECK-NEXT:    return
func.func @view(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %0 = nn.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
