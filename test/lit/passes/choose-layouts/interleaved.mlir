// The phases of a transposed convolution interleave whole blocks of channels, and what is joined with blocked
// tensors and becomes blocks is put into blocks by itself.
// RUN: nn-opt --decompose='level=graph' --fold-constants --choose-layouts='target=x86-64-v3' --canonicalize %s | filecheck %s

// CHECK-LABEL: func.func @phases
// CHECK:         %[[P:.*]] = nn.blocked_conv {{.*}} -> tensor<1x8x6x5x[[B:.*]]xf32>
// CHECK:         %[[A:.*]] = nn.reshape %[[P]] : {{.*}} -> tensor<1x2x2x2x6x5x[[B]]xf32>
// CHECK:         %[[T:.*]] = nn.transpose %[[A]] {permutation = array<i64: 0, 3, 4, 1, 5, 2, 6>}
// CHECK:         %[[I:.*]] = nn.reshape %[[T]] : {{.*}} -> tensor<1x2x12x10x[[B]]xf32>
// CHECK:         %[[X:.*]] = nn.transpose {{.*}} -> tensor<1x2x12x10x[[B]]xf32>
// CHECK:         %[[C:.*]] = nn.concat %[[I]], %[[X]] {axis = 1 : i64}
// CHECK:         nn.blocked_conv %[[C]]
func.func @phases(%x: tensor<1x32x6x5xf32>, %y: tensor<1x32x12x10xf32>) -> tensor<1x32x12x10xf32> {
  %w = nn.constant dense<0.5> : tensor<32x32x2x2xf32>
  %v = nn.constant dense<0.25> : tensor<32x64x1x1xf32>
  %0 = nn.conv_transpose %x, %w {strides = array<i64: 2, 2>} : (tensor<1x32x6x5xf32>, tensor<32x32x2x2xf32>) -> tensor<1x32x12x10xf32>
  %1 = nn.concat %0, %y {axis = 1 : i64} : (tensor<1x32x12x10xf32>, tensor<1x32x12x10xf32>) -> tensor<1x64x12x10xf32>
  %2 = nn.conv %1, %v : (tensor<1x64x12x10xf32>, tensor<32x64x1x1xf32>) -> tensor<1x32x12x10xf32>
  return %2 : tensor<1x32x12x10xf32>
}
