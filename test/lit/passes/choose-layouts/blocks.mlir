// Convolutions with constant weights work on blocked channels; the changes of layout between
// them cancel.
// RUN: nn-opt --choose-layouts='block=4' --fold-constants --canonicalize --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[X:.*]]: tensor<1x3x8x8xf32>) -> tensor<1x8xf32>
// The operand's three channels are one block.
// CHECK:         %[[T:.*]] = nn.transpose {{.*}} -> tensor<1x1x8x8x3xf32>
// CHECK:         %[[A:.*]] = nn.blocked_conv %[[T]], {{.*}} : (tensor<1x1x8x8x3xf32>, tensor<2x1x3x3x3x4xf32>) -> tensor<1x2x6x6x4xf32>
// CHECK:         %[[B:.*]] = nn.add %[[A]], {{.*}} : (tensor<1x2x6x6x4xf32>, tensor<2x1x1x4xf32>)
// CHECK:         %[[R:.*]] = nn.relu %[[B]]
// CHECK:         %[[M:.*]] = nn.max_pool %[[R]] {kernel = array<i64: 2, 2, 1>{{.*}}-> tensor<1x2x5x5x4xf32>
// CHECK:         %[[P:.*]] = nn.pad %[[M]]
// CHECK:         %[[D:.*]] = nn.blocked_depthwise_conv %[[P]], {{.*}} : (tensor<1x2x7x7x4xf32>, tensor<2x3x3x4xf32>) -> tensor<1x2x5x5x4xf32>
// CHECK:         %[[S:.*]] = nn.add %[[D]], %[[M]]
// CHECK:         %[[Y:.*]] = nn.reduce_mean %[[S]] {axes = array<i64: 2, 3>} : (tensor<1x2x5x5x4xf32>) -> tensor<1x2x4xf32>
// CHECK:         nn.reshape %[[Y]] : (tensor<1x2x4xf32>) -> tensor<1x8xf32>
// CHECK-NOT:     nn.transpose
func.func @chain(%x: tensor<1x3x8x8xf32>) -> tensor<1x8xf32> {
  %w = nn.constant dense<0.5> : tensor<8x3x3x3xf32>
  %b = nn.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %d = nn.constant dense<0.25> : tensor<8x1x3x3xf32>
  %0 = nn.conv %x, %w, %b : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32>
  %1 = nn.relu %0 : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %2 = nn.max_pool %1 {kernel = array<i64: 2, 2>} : (tensor<1x8x6x6xf32>) -> tensor<1x8x5x5xf32>
  %3 = nn.conv %2, %d {groups = 8 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x5x5xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x5x5xf32>
  %4 = nn.add %3, %2 : (tensor<1x8x5x5xf32>, tensor<1x8x5x5xf32>) -> tensor<1x8x5x5xf32>
  %5 = nn.reduce_mean %4 {axes = array<i64: 2, 3>} : (tensor<1x8x5x5xf32>) -> tensor<1x8xf32>
  return %5 : tensor<1x8xf32>
}

// -----

// Weights that only run time knows would have to be blocked then; and 17 channels are neither
// few nor do they divide into blocks.

// CHECK-LABEL: func.func @plain
// CHECK:         nn.conv
// CHECK:         nn.conv
// CHECK-NOT:     nn.blocked_conv
func.func @plain(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<1x17x4x4xf32> {
  %v = nn.constant dense<0.5> : tensor<17x4x3x3xf32>
  %0 = nn.conv %x, %w : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = nn.conv %0, %v : (tensor<1x4x6x6xf32>, tensor<17x4x3x3xf32>) -> tensor<1x17x4x4xf32>
  return %1 : tensor<1x17x4x4xf32>
}

// -----

// What mixes channels needs the plain order: the change of layout stays before it.

// CHECK-LABEL: func.func @softmax
// CHECK:         %[[C:.*]] = nn.blocked_conv
// CHECK:         %[[T:.*]] = nn.transpose %[[C]]
// CHECK:         %[[P:.*]] = nn.reshape %[[T]]
// CHECK:         nn.softmax %[[P]]
func.func @softmax(%x: tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %w = nn.constant dense<0.5> : tensor<8x4x1x1xf32>
  %0 = nn.conv %x, %w : (tensor<1x4x8x8xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x8x8xf32>
  %1 = nn.softmax %0 {axis = 1 : i64} : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %1 : tensor<1x8x8x8xf32>
}

// -----

// Where no block divides the channels, the divisor that fills vectors best, and of equal ones the
// largest: 9 and 6 of 18 take six vectors. 23 has none that would do.

// CHECK-LABEL: func.func @odd_channels(
// CHECK:         nn.blocked_conv {{.*}} -> tensor<1x2x8x8x9xf32>
// CHECK:         nn.conv
func.func @odd_channels(%x: tensor<1x3x8x8xf32>) -> (tensor<1x18x8x8xf32>, tensor<1x23x8x8xf32>) {
  %w = nn.constant dense<0.5> : tensor<18x3x1x1xf32>
  %v = nn.constant dense<0.5> : tensor<23x3x1x1xf32>
  %0 = nn.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<18x3x1x1xf32>) -> tensor<1x18x8x8xf32>
  %1 = nn.conv %x, %v : (tensor<1x3x8x8xf32>, tensor<23x3x1x1xf32>) -> tensor<1x23x8x8xf32>
  return %0, %1 : tensor<1x18x8x8xf32>, tensor<1x23x8x8xf32>
}

// -----

// Where dilations make most of a window fall on padding, products with zeros are left out, and the
// weights of one place in the window lie together; not where they are few.

// CHECK-LABEL: func.func @padding(
// CHECK:         nn.blocked_padded_conv {{.*}} {dilations = array<i64: 4, 4>, pads = array<i64: 4, 4, 4, 4>} : (tensor<1x2x8x8x4xf32>, tensor<1x3x3x2x4x4xf32>) -> tensor<1x1x8x8x4xf32>
// CHECK:         nn.pad
// CHECK:         nn.blocked_conv {{.*}} : (tensor<1x2x10x10x4xf32>
func.func @padding(%x: tensor<1x8x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) {
  %w = nn.constant dense<0.5> : tensor<4x8x3x3xf32>
  %0 = nn.conv %x, %w {dilations = array<i64: 4, 4>, pads = array<i64: 4, 4, 4, 4>} : (tensor<1x8x8x8xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x8x8xf32>
  %1 = nn.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x8xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x8x8xf32>
  return %0, %1 : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>
}

// -----

// Nor where the math is wanted as written: an infinite weight times zero is no number.

// CHECK-LABEL: func.func @strict_padding(
// CHECK:         nn.pad
// CHECK:         nn.blocked_conv {{.*}} : (tensor<1x2x16x16x4xf32>
module attributes {nn.strict_math} {
  func.func @strict_padding(%x: tensor<1x8x8x8xf32>) -> tensor<1x4x8x8xf32> {
    %w = nn.constant dense<0.5> : tensor<4x8x3x3xf32>
    %0 = nn.conv %x, %w {dilations = array<i64: 4, 4>, pads = array<i64: 4, 4, 4, 4>} : (tensor<1x8x8x8xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x8x8xf32>
    return %0 : tensor<1x4x8x8xf32>
  }
}
