// Channels that a convolution's result gets at the end move there as late as can be, so that
// transpositions between convolutions go.
// RUN: nn-opt --sink-transposes --canonicalize --split-input-file %s | filecheck %s

// Bias and activation, a padding and a sum: one transposition is left, at the end.

// CHECK-LABEL: func.func @between(
// CHECK:         %[[A:.*]] = nn.conv
// CHECK:         %[[B:.*]] = nn.add %[[A]], %{{.*}} : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>)
// CHECK-NEXT:    %[[R:.*]] = nn.relu %[[B]]
// CHECK-NEXT:    %[[C:.*]] = nn.conv %[[R]], %{{.*}} {pads = array<i64: 1, 2, 0, 0>}
// CHECK:         %[[S:.*]] = nn.concat
// CHECK-NEXT:    %[[T:.*]] = nn.transpose %[[S]]
// CHECK-NEXT:    return %[[T]]
func.func @between(%x: tensor<1x4x8x8xf32>, %v: tensor<4x4x1x1xf32>, %w: tensor<4x4x2x3xf32>) -> tensor<1x8x8x8xf32> {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %bias = nn.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = nn.conv %x, %v : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %1 = nn.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  %2 = nn.add %1, %bias : (tensor<1x8x8x4xf32>, tensor<4xf32>) -> tensor<1x8x8x4xf32>
  %3 = nn.relu %2 : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %4 = nn.pad %3, %zero {pads = array<i64: 0, 1, 2, 0, 0, 0, 0, 0>} : (tensor<1x8x8x4xf32>, tensor<f32>) -> tensor<1x9x10x4xf32>
  %5 = nn.transpose %4 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x9x10x4xf32>) -> tensor<1x4x9x10xf32>
  %6 = nn.conv %5, %w : (tensor<1x4x9x10xf32>, tensor<4x4x2x3xf32>) -> tensor<1x4x8x8xf32>
  %7 = nn.transpose %6 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  %8 = nn.concat %7, %3 {axis = 3 : i64} : (tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>) -> tensor<1x8x8x8xf32>
  return %8 : tensor<1x8x8x8xf32>
}

// -----

// A mean over height and width, and what it scales; the gate is small, and moves.

// CHECK-LABEL: func.func @gate(
// CHECK:         %[[A:.*]] = nn.conv
// CHECK-NEXT:    %[[M:.*]] = nn.reduce_mean %[[A]] {axes = array<i64: 2, 3>, keep_dims = true}
// CHECK-NOT:     nn.transpose
// CHECK:         nn.mul
// CHECK-NEXT:    nn.transpose
func.func @gate(%x: tensor<1x4x8x8xf32>, %v: tensor<4x4x1x1xf32>) -> tensor<1x8x8x4xf32> {
  %0 = nn.conv %x, %v : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %1 = nn.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  %2 = nn.reduce_mean %1 {axes = array<i64: 1, 2>, keep_dims = true} : (tensor<1x8x8x4xf32>) -> tensor<1x1x1x4xf32>
  %3 = nn.sigmoid %2 : (tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
  %4 = nn.mul %1, %3 : (tensor<1x8x8x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x8x8x4xf32>
  return %4 : tensor<1x8x8x4xf32>
}

// -----

// An operand of full size that has no transposition would need one, so nothing moves.

// CHECK-LABEL: func.func @other_operand(
// CHECK:         nn.transpose
// CHECK-NEXT:    nn.add
func.func @other_operand(%x: tensor<1x4x8x8xf32>, %v: tensor<4x4x1x1xf32>, %y: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  %0 = nn.conv %x, %v : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %1 = nn.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  %2 = nn.add %1, %y : (tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  return %2 : tensor<1x8x8x4xf32>
}

// -----

// Heads of attention are no channels of an image.

// CHECK-LABEL: func.func @heads(
// CHECK:         nn.transpose
// CHECK-NEXT:    nn.relu
func.func @heads(%x: tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32> {
  %0 = nn.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  %1 = nn.relu %0 : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  return %1 : tensor<1x8x8x4xf32>
}
