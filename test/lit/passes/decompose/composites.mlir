// Composite ops become reductions, windows and elementwise ops.
// RUN: nn-opt --decompose --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT:    %[[M:.*]] = nn.reduce_max %[[X]] {axes = array<i64: 1>, keep_dims = true, nn.over_nan}
// CHECK-NEXT:    %[[S:.*]] = nn.sub %[[X]], %[[M]]
// CHECK-NEXT:    %[[E:.*]] = nn.exp %[[S]]
// CHECK-NEXT:    %[[T:.*]] = nn.reduce_sum %[[E]] {axes = array<i64: 1>, keep_dims = true}
// CHECK-NEXT:    %[[R:.*]] = nn.reciprocal %[[T]]
// CHECK-NEXT:    %[[Y:.*]] = nn.mul %[[E]], %[[R]]
// CHECK-NEXT:    return %[[Y]]
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.softmax %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Small floats are summed in f32.

// CHECK-LABEL: func.func @mean(
// CHECK-NEXT:    %[[W:.*]] = nn.cast %{{.*}} : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    %[[S:.*]] = nn.reduce_sum %[[W]]
// CHECK-NEXT:    %[[C:.*]] = nn.constant dense<8.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[M:.*]] = nn.div %[[S]], %[[C]]
// CHECK-NEXT:    nn.cast %[[M]] {nn.implied} : (tensor<4xf32>) -> tensor<4xf16>
func.func @mean(%x: tensor<4x8xf16>) -> tensor<4xf16> {
  %0 = nn.reduce_mean %x {axes = array<i64: 1>} : (tensor<4x8xf16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// Padding and bias of a convolution are stages of their own.

// CHECK-LABEL: func.func @conv(
// CHECK-SAME:    %[[X:.*]]: tensor<1x3x8x8xf32>, %[[W:.*]]: tensor<4x3x3x3xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK:         %[[Z:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK:         %[[P:.*]] = nn.pad %[[X]], %[[Z]] {pads = array<i64: 0, 0, 1, 1, 0, 0, 1, 1>}
// CHECK:         %[[C:.*]] = nn.conv %[[P]], %[[W]] {strides = array<i64: 2, 2>}
// CHECK:         %[[R:.*]] = nn.reshape %[[B]] : (tensor<4xf32>) -> tensor<4x1x1xf32>
// CHECK:         nn.add %[[C]], %[[R]]
func.func @conv(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>) -> tensor<1x4x4x4xf32> {
  %0 = nn.conv %x, %w, %b {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// -----

// What is simple already stays as it is.

// CHECK-LABEL: func.func @simple
// CHECK-NEXT:    nn.conv
// CHECK-NEXT:    nn.relu
// CHECK-NEXT:    nn.reduce_sum
// CHECK-NEXT:    return
func.func @simple(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4xf32> {
  %0 = nn.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = nn.relu %0 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %2 = nn.reduce_sum %1 {axes = array<i64: 2, 3>} : (tensor<1x4x6x6xf32>) -> tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
}
