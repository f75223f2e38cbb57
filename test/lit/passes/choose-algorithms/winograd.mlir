// 3x3 convolutions of stride 1 become Winograd's where the cost model finds that cheaper.
// RUN: nn-opt --choose-algorithms='target=x86-64-v4' --canonicalize --split-input-file %s | filecheck %s

// 30 rows and columns are 7.5 tiles: the operand is padded to 8 and the result cut.

// CHECK-LABEL: func.func @chosen(
// CHECK-SAME:    %[[X:.*]]: tensor<1x4x32x32x16xf32>)
// CHECK-DAG:     %[[P:.*]] = nn.pad %[[X]], {{.*}} -> tensor<1x4x34x34x16xf32>
// CHECK:         %[[V:.*]] = nn.winograd_input %[[P]] : {{.*}} -> tensor<36x4x1x8x8x16xf32>
// CHECK:         %[[U:.*]] = nn.winograd_weight {{.*}} -> tensor<36x4x4x16x16xf32>
// CHECK:         %[[M:.*]] = nn.blocked_matmul %[[V]], %[[U]] : {{.*}} -> tensor<36x4x1x8x8x16xf32>
// CHECK:         %[[Y:.*]] = nn.winograd_output %[[M]] : {{.*}} -> tensor<1x4x32x32x16xf32>
// CHECK:         nn.slice %[[Y]] {{.*}} -> tensor<1x4x30x30x16xf32>
func.func @chosen(%x: tensor<1x4x32x32x16xf32>) -> tensor<1x4x30x30x16xf32> {
  %w = nn.constant dense<0.0> : tensor<4x4x3x3x16x16xf32>
  %0 = nn.blocked_conv %x, %w : (tensor<1x4x32x32x16xf32>, tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x30x30x16xf32>
  return %0 : tensor<1x4x30x30x16xf32>
}

// -----

// Stride 2, in tiles of 4 with 81 points, or of 2 with 25; a last row that no tile needs stays.

// CHECK-LABEL: func.func @stride(
// CHECK-SAME:    %[[X:.*]]: tensor<1x8x58x58x16xf32>)
// CHECK:         nn.winograd_input %[[X]] {stride = 2 : i64} : {{.*}} -> tensor<81x8x1x7x7x16xf32>
// CHECK:         nn.winograd_output {{.*}} {stride = 2 : i64} : {{.*}} -> tensor<1x8x28x28x16xf32>
// CHECK-NEXT:    return
func.func @stride(%x: tensor<1x8x58x58x16xf32>) -> tensor<1x8x28x28x16xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x3x3x16x16xf32>
  %0 = nn.blocked_conv %x, %w {strides = array<i64: 2, 2>} : (tensor<1x8x58x58x16xf32>, tensor<8x8x3x3x16x16xf32>) -> tensor<1x8x28x28x16xf32>
  return %0 : tensor<1x8x28x28x16xf32>
}

// -----

// CHECK-LABEL: func.func @stride_3
// CHECK:         nn.blocked_conv
func.func @stride_3(%x: tensor<1x8x58x58x16xf32>) -> tensor<1x8x19x19x16xf32> {
  %w = nn.constant dense<0.5> : tensor<8x8x3x3x16x16xf32>
  %0 = nn.blocked_conv %x, %w {strides = array<i64: 3, 3>} : (tensor<1x8x58x58x16xf32>, tensor<8x8x3x3x16x16xf32>) -> tensor<1x8x19x19x16xf32>
  return %0 : tensor<1x8x19x19x16xf32>
}

// -----

// CHECK-LABEL: func.func @stride_few_channels
// CHECK:         nn.blocked_conv
func.func @stride_few_channels(%x: tensor<1x2x33x33x16xf32>) -> tensor<1x2x16x16x16xf32> {
  %w = nn.constant dense<0.5> : tensor<2x2x3x3x16x16xf32>
  %0 = nn.blocked_conv %x, %w {strides = array<i64: 2, 2>} : (tensor<1x2x33x33x16xf32>, tensor<2x2x3x3x16x16xf32>) -> tensor<1x2x16x16x16xf32>
  return %0 : tensor<1x2x16x16x16xf32>
}

// -----

// Weights known at run time only would be transformed then, every time.

// CHECK-LABEL: func.func @weights_at_run_time
// CHECK:         nn.blocked_conv
func.func @weights_at_run_time(%x: tensor<1x4x32x32x16xf32>, %w: tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x30x30x16xf32> {
  %0 = nn.blocked_conv %x, %w : (tensor<1x4x32x32x16xf32>, tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x30x30x16xf32>
  return %0 : tensor<1x4x30x30x16xf32>
}

// -----

// One tile alone: the weights are most of it.

// CHECK-LABEL: func.func @one_tile
// CHECK:         nn.blocked_conv
func.func @one_tile(%x: tensor<1x32x4x4x16xf32>) -> tensor<1x32x2x2x16xf32> {
  %w = nn.constant dense<0.5> : tensor<32x32x3x3x16x16xf32>
  %0 = nn.blocked_conv %x, %w : (tensor<1x32x4x4x16xf32>, tensor<32x32x3x3x16x16xf32>) -> tensor<1x32x2x2x16xf32>
  return %0 : tensor<1x32x2x2x16xf32>
}
