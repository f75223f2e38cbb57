// Batch, height and width may be open: the channels are known, and they alone are blocked.
// RUN: nn-opt --choose-layouts='block=4' --fold-constants --canonicalize --split-input-file %s | filecheck %s

// A scale for each image and channel is blocked where it stands, and so is what is resampled to
// extents that the run tells.

// CHECK-LABEL: func.func @chain(
// CHECK:         %[[T:.*]] = nn.transpose {{.*}} -> tensor<?x1x?x?x3xf32>
// CHECK:         %[[P:.*]] = nn.pad %[[T]]
// CHECK:         %[[A:.*]] = nn.blocked_conv %[[P]], {{.*}} -> tensor<?x2x?x?x4xf32>
// CHECK:         %[[M:.*]] = nn.max_pool %[[A]] {kernel = array<i64: 2, 2, 1>{{.*}}-> tensor<?x2x?x?x4xf32>
// CHECK:         %[[S:.*]] = nn.reshape %{{.*}} : (tensor<?x8x1x1xf32>) -> tensor<?x2x1x1x4xf32>
// CHECK:         %[[E:.*]] = nn.mul %[[M]], %[[S]]
// CHECK:         %[[R:.*]] = nn.resize_dynamic %[[E]], {{.*}} -> tensor<?x2x?x?x4xf32>
// CHECK:         nn.blocked_depthwise_conv %[[R]]
// CHECK:         nn.transpose {{.*}} -> tensor<?x2x4x?x?xf32>
// CHECK-NOT:     nn.transpose
func.func @chain(%x: tensor<?x3x?x?xf32>, %s: tensor<?x8x1x1xf32>, %n: tensor<2xi64>, %f: tensor<2xf32>) -> tensor<?x8x?x?xf32> {
  %w = nn.constant dense<0.5> : tensor<8x3x3x3xf32>
  %d = nn.constant dense<0.25> : tensor<8x1x3x3xf32>
  %0 = nn.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x3x?x?xf32>, tensor<8x3x3x3xf32>) -> tensor<?x8x?x?xf32>
  %1 = nn.max_pool %0 {kernel = array<i64: 2, 2>} : (tensor<?x8x?x?xf32>) -> tensor<?x8x?x?xf32>
  %2 = nn.mul %1, %s : (tensor<?x8x?x?xf32>, tensor<?x8x1x1xf32>) -> tensor<?x8x?x?xf32>
  %3 = nn.resize_dynamic %2, %f, %n {axes = array<i64: 2, 3>} : (tensor<?x8x?x?xf32>, tensor<2xf32>, tensor<2xi64>) -> tensor<?x8x?x?xf32>
  %4 = nn.conv %3, %d {groups = 8 : i64} : (tensor<?x8x?x?xf32>, tensor<8x1x3x3xf32>) -> tensor<?x8x?x?xf32>
  return %4 : tensor<?x8x?x?xf32>
}

// -----

// Channels that only the run tells cannot be.

// CHECK-LABEL: func.func @plain
// CHECK:         nn.conv
func.func @plain(%x: tensor<1x?x8x8xf32>) -> tensor<1x4x6x6xf32> {
  %w = nn.constant dense<0.5> : tensor<4x4x3x3xf32>
  %0 = nn.conv %x, %w : (tensor<1x?x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  return %0 : tensor<1x4x6x6xf32>
}

// -----

// Parts of whole blocks are parts of the blocked tensor; others are not.

// CHECK-LABEL: func.func @parts
// CHECK:         %[[A:.*]] = nn.blocked_conv
// CHECK:         %[[S:.*]]:2 = nn.split %[[A]] {axis = 1 : i64} : (tensor<1x3x?x?x4xf32>) -> (tensor<1x2x?x?x4xf32>, tensor<1x1x?x?x4xf32>)
// CHECK:         %[[L:.*]] = nn.slice %[[A]] {starts = array<i64: 0, 1, 0, 0, 0>} : (tensor<1x3x?x?x4xf32>) -> tensor<1x2x?x?x4xf32>
// CHECK:         %[[B:.*]] = nn.add %[[S]]#0, %[[L]]
// CHECK:         nn.concat %[[B]], %[[S]]#1 {axis = 1 : i64}
// CHECK:         nn.slice {{.*}} : (tensor<1x12x?x?xf32>) -> tensor<1x3x?x?xf32>
func.func @parts(%x: tensor<1x3x?x?xf32>) -> (tensor<1x12x?x?xf32>, tensor<1x3x?x?xf32>) {
  %w = nn.constant dense<0.5> : tensor<12x3x1x1xf32>
  %0 = nn.conv %x, %w : (tensor<1x3x?x?xf32>, tensor<12x3x1x1xf32>) -> tensor<1x12x?x?xf32>
  %1:2 = nn.split %0 {axis = 1 : i64} : (tensor<1x12x?x?xf32>) -> (tensor<1x8x?x?xf32>, tensor<1x4x?x?xf32>)
  %2 = nn.slice %0 {starts = array<i64: 0, 4, 0, 0>} : (tensor<1x12x?x?xf32>) -> tensor<1x8x?x?xf32>
  %3 = nn.add %1#0, %2 : (tensor<1x8x?x?xf32>, tensor<1x8x?x?xf32>) -> tensor<1x8x?x?xf32>
  %4 = nn.concat %3, %1#1 {axis = 1 : i64} : (tensor<1x8x?x?xf32>, tensor<1x4x?x?xf32>) -> tensor<1x12x?x?xf32>
  %5 = nn.slice %0 {starts = array<i64: 0, 5, 0, 0>} : (tensor<1x12x?x?xf32>) -> tensor<1x3x?x?xf32>
  return %4, %5 : tensor<1x12x?x?xf32>, tensor<1x3x?x?xf32>
}

// -----

// What looks like a blocked tensor, but has no known number of channels, stays as it is.

// CHECK-LABEL: func.func @open_blocks
// CHECK:         nn.reshape
// CHECK:         nn.pad
func.func @open_blocks(%x: tensor<1x?x6x5xf32>, %zero: tensor<f32>) -> tensor<1x?x8xf32> {
  %moved = nn.transpose %x {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x?x6x5xf32>) -> tensor<1x?x5x6xf32>
  %flat = nn.reshape %moved : (tensor<1x?x5x6xf32>) -> tensor<1x?x6xf32>
  %out = nn.pad %flat, %zero {pads = array<i64: 0, 0, 1, 0, 0, 1>} : (tensor<1x?x6xf32>, tensor<f32>) -> tensor<1x?x8xf32>
  return %out : tensor<1x?x8xf32>
}
