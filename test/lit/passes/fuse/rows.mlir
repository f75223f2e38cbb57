// Row-wise ops: reductions with what is elementwise around them, on rows of one shape.
// RUN: nn-opt --fuse --split-input-file %s | filecheck %s

// A layer normalization as old exporters write it is one kernel.

// CHECK-LABEL: func.func @layer_norm_in_parts
// CHECK:         nn.kernel
// CHECK:           nn.reduce_mean
// CHECK-NEXT:      nn.sub
// CHECK-NEXT:      nn.mul
// CHECK-NEXT:      nn.reduce_mean
// CHECK-NEXT:      nn.add
// CHECK-NEXT:      nn.rsqrt
// CHECK-NEXT:      nn.mul
// CHECK-NEXT:      nn.yield
// CHECK-NOT:     nn.kernel
func.func @layer_norm_in_parts(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %epsilon = nn.constant dense<1.0e-5> : tensor<f32>
  %0 = nn.reduce_mean %x {axes = array<i64: 1>, keep_dims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = nn.sub %x, %0 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = nn.mul %1, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = nn.reduce_mean %2 {axes = array<i64: 1>, keep_dims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %4 = nn.add %3, %epsilon : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %5 = nn.rsqrt %4 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %6 = nn.mul %1, %5 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %6 : tensor<4x8xf32>
}

// -----

// Reductions over different axes share no rows.

// CHECK-LABEL: func.func @other_axes
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.reduce_sum
// CHECK-NEXT:      nn.sub
// CHECK-NEXT:      nn.yield
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.reduce_sum
func.func @other_axes(%x: tensor<4x8xf32>) -> tensor<1x8xf32> {
  %0 = nn.reduce_sum %x {axes = array<i64: 1>, keep_dims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = nn.sub %x, %0 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = nn.reduce_sum %1 {axes = array<i64: 0>, keep_dims = true} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  return %2 : tensor<1x8xf32>
}

// -----

// What is elementwise before a softmax joins it, if the softmax alone needs it.

// CHECK-LABEL: func.func @softmax
// CHECK:         %[[K:.*]] = nn.kernel
// CHECK-NEXT:      nn.mul
// CHECK-NEXT:      nn.softmax
// CHECK-NEXT:      nn.yield
// CHECK:         %[[E:.*]] = nn.kernel
// CHECK-NEXT:      nn.exp
// CHECK-NEXT:      nn.yield
// CHECK:         nn.kernel (%{{.*}} = %[[E]])
// CHECK-NEXT:      nn.softmax
// CHECK-NEXT:      nn.yield
func.func @softmax(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = nn.mul %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = nn.softmax %0 {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = nn.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = nn.softmax %2 {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
