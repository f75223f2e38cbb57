// A convolution takes what follows element by element, as long as one value leaves the kernel.
// RUN: nn-opt --fuse --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @conv_add_relu(
// CHECK-SAME:    %[[X:.*]]: tensor<1x3x8x8xf32>, %[[W:.*]]: tensor<4x3x3x3xf32>, %[[Y:.*]]: tensor<1x4x6x6xf32>)
// CHECK:         %[[K:.*]] = nn.kernel (%[[A:.*]] = %[[X]], %[[B:.*]] = %[[W]], %[[C:.*]] = %[[Y]])
// CHECK-NEXT:      %[[CONV:.*]] = nn.conv %[[A]], %[[B]]
// CHECK-NEXT:      %[[SUM:.*]] = nn.add %[[CONV]], %[[C]]
// CHECK-NEXT:      %[[RELU:.*]] = nn.relu %[[SUM]]
// CHECK-NEXT:      nn.yield %[[RELU]]
// CHECK:         return %[[K]]
func.func @conv_add_relu(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %y: tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32> {
  %0 = nn.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = nn.add %0, %y : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %2 = nn.relu %1 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %2 : tensor<1x4x6x6xf32>
}

// -----

// Two users are no obstacle if both get in: x * sigmoid(x).

// CHECK-LABEL: func.func @swish
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.matmul
// CHECK-NEXT:      nn.sigmoid
// CHECK-NEXT:      nn.mul
// CHECK-NEXT:      nn.yield
// CHECK-NOT:     nn.kernel
func.func @swish(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %0 = nn.matmul %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = nn.sigmoid %0 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %2 = nn.mul %0, %1 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}

// -----

// The product is returned itself, so it must reach memory, and its kernel ends there.

// CHECK-LABEL: func.func @returned
// CHECK:         %[[K:.*]] = nn.kernel
// CHECK-NEXT:      nn.matmul
// CHECK-NEXT:      nn.yield
// CHECK:         %[[L:.*]] = nn.kernel (%{{.*}} = %[[K]])
// CHECK-NEXT:      nn.relu
// CHECK:         return %[[K]], %[[L]]
func.func @returned(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %0 = nn.matmul %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = nn.relu %0 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
}

// -----

// Two products meet in an addition: it joins the first, whose kernel then stands after the
// second.

// CHECK-LABEL: func.func @two_products
// CHECK:         %[[SECOND:.*]] = nn.kernel
// CHECK-NEXT:      nn.matmul
// CHECK-NEXT:      nn.yield
// CHECK:         nn.kernel ({{.*}} = %[[SECOND]])
// CHECK-NEXT:      nn.matmul
// CHECK-NEXT:      nn.add
func.func @two_products(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %c: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %0 = nn.matmul %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = nn.matmul %a, %c : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %2 = nn.add %0, %1 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}

// -----

// The addition makes the product wider: it cannot be computed in place of the product.

// CHECK-LABEL: func.func @broadcast_epilogue
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.matmul
// CHECK-NEXT:      nn.yield
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.add
func.func @broadcast_epilogue(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %c: tensor<3x4x2xf32>) -> tensor<3x4x2xf32> {
  %0 = nn.matmul %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = nn.add %0, %c : (tensor<4x2xf32>, tensor<3x4x2xf32>) -> tensor<3x4x2xf32>
  return %1 : tensor<3x4x2xf32>
}

// -----

// Constants of one number become part of the kernel, weights are given to it; views stay out.

// CHECK-LABEL: func.func @constants
// CHECK:         %[[W:.*]] = nn.constant dense<[
// CHECK:         %[[R:.*]] = nn.reshape
// CHECK:         nn.kernel ({{.*}} = %[[R]], {{.*}} = %[[W]])
// CHECK-NEXT:      %[[C:.*]] = nn.constant dense<2.000000e+00>
// CHECK-NEXT:      %[[M:.*]] = nn.matmul
// CHECK-NEXT:      nn.mul %[[M]], %[[C]]
func.func @constants(%a: tensor<8xf32>) -> tensor<4x1xf32> {
  %w = nn.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %c = nn.constant dense<2.0> : tensor<f32>
  %0 = nn.reshape %a : (tensor<8xf32>) -> tensor<4x2xf32>
  %1 = nn.matmul %0, %w : (tensor<4x2xf32>, tensor<2x1xf32>) -> tensor<4x1xf32>
  %2 = nn.mul %1, %c : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  return %2 : tensor<4x1xf32>
}

// -----

// A transpose that only the product reads goes along.

// CHECK-LABEL: func.func @transposed_operand
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.transpose
// CHECK-NEXT:      nn.matmul
// CHECK-NOT:     nn.kernel
func.func @transposed_operand(%a: tensor<4x8xf32>, %b: tensor<2x8xf32>) -> tensor<4x2xf32> {
  %0 = nn.transpose %b {permutation = array<i64: 1, 0>} : (tensor<2x8xf32>) -> tensor<8x2xf32>
  %1 = nn.matmul %a, %0 : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// -----

// What pads a result for the next convolution is written by the kernel that makes it.

// CHECK-LABEL: func.func @padded(
// CHECK:         %[[K:.*]] = nn.kernel
// CHECK:           nn.blocked_conv
// CHECK:           nn.relu
// CHECK:           nn.pad
// CHECK:           nn.yield {{.*}} : tensor<1x1x10x10x4xf32>
// CHECK:         nn.kernel (%{{.*}} = %[[K]],
// CHECK-NEXT:      nn.blocked_depthwise_conv
func.func @padded(%x: tensor<1x2x8x8x4xf32>, %w: tensor<1x2x1x1x4x4xf32>, %d: tensor<1x3x3x4xf32>) -> tensor<1x1x8x8x4xf32> {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %0 = nn.blocked_conv %x, %w : (tensor<1x2x8x8x4xf32>, tensor<1x2x1x1x4x4xf32>) -> tensor<1x1x8x8x4xf32>
  %1 = nn.relu %0 : (tensor<1x1x8x8x4xf32>) -> tensor<1x1x8x8x4xf32>
  %2 = nn.pad %1, %zero {pads = array<i64: 0, 0, 1, 1, 0, 0, 0, 1, 1, 0>} : (tensor<1x1x8x8x4xf32>, tensor<f32>) -> tensor<1x1x10x10x4xf32>
  %3 = nn.blocked_depthwise_conv %2, %d : (tensor<1x1x10x10x4xf32>, tensor<1x3x3x4xf32>) -> tensor<1x1x8x8x4xf32>
  return %3 : tensor<1x1x8x8x4xf32>
}

// -----

// Not where the result is needed without its border too: the padding is computed as it is read.

// CHECK-LABEL: func.func @padded_and_plain(
// CHECK:         nn.kernel
// CHECK:           nn.blocked_conv
// CHECK-NOT:       nn.pad
// CHECK:         nn.kernel
// CHECK:           nn.pad
// CHECK:           nn.blocked_depthwise_conv
func.func @padded_and_plain(%x: tensor<1x2x8x8x4xf32>, %w: tensor<1x2x1x1x4x4xf32>, %d: tensor<1x3x3x4xf32>) -> (tensor<1x1x8x8x4xf32>, tensor<1x1x8x8x4xf32>) {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %0 = nn.blocked_conv %x, %w : (tensor<1x2x8x8x4xf32>, tensor<1x2x1x1x4x4xf32>) -> tensor<1x1x8x8x4xf32>
  %1 = nn.pad %0, %zero {pads = array<i64: 0, 0, 1, 1, 0, 0, 0, 1, 1, 0>} : (tensor<1x1x8x8x4xf32>, tensor<f32>) -> tensor<1x1x10x10x4xf32>
  %2 = nn.blocked_depthwise_conv %1, %d : (tensor<1x1x10x10x4xf32>, tensor<1x3x3x4xf32>) -> tensor<1x1x8x8x4xf32>
  return %2, %0 : tensor<1x1x8x8x4xf32>, tensor<1x1x8x8x4xf32>
}

// -----

// Winograd's transforms and products of a large image are one kernel, which works on blocks of
// rows; of a small one, or with many weights, what is between them stays in the caches anyway.

// CHECK-LABEL: func.func @large_image
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.winograd_input
// CHECK-NEXT:      nn.blocked_matmul
// CHECK-NEXT:      nn.winograd_output
// CHECK-NEXT:      nn.relu
// CHECK-NOT:     nn.kernel
func.func @large_image(%x: tensor<1x2x130x130x16xf32>, %u: tensor<36x2x2x16x16xf32>) -> tensor<1x2x128x128x16xf32> {
  %0 = nn.winograd_input %x : (tensor<1x2x130x130x16xf32>) -> tensor<36x2x1x32x32x16xf32>
  %1 = nn.blocked_matmul %0, %u : (tensor<36x2x1x32x32x16xf32>, tensor<36x2x2x16x16xf32>) -> tensor<36x2x1x32x32x16xf32>
  %2 = nn.winograd_output %1 : (tensor<36x2x1x32x32x16xf32>) -> tensor<1x2x128x128x16xf32>
  %3 = nn.relu %2 : (tensor<1x2x128x128x16xf32>) -> tensor<1x2x128x128x16xf32>
  return %3 : tensor<1x2x128x128x16xf32>
}

// CHECK-LABEL: func.func @small_image
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.winograd_input
// CHECK-NEXT:      nn.yield
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.blocked_matmul
// CHECK-NEXT:      nn.yield
func.func @small_image(%x: tensor<1x2x34x34x16xf32>, %u: tensor<36x2x2x16x16xf32>) -> tensor<1x2x32x32x16xf32> {
  %0 = nn.winograd_input %x : (tensor<1x2x34x34x16xf32>) -> tensor<36x2x1x8x8x16xf32>
  %1 = nn.blocked_matmul %0, %u : (tensor<36x2x1x8x8x16xf32>, tensor<36x2x2x16x16xf32>) -> tensor<36x2x1x8x8x16xf32>
  %2 = nn.winograd_output %1 : (tensor<36x2x1x8x8x16xf32>) -> tensor<1x2x32x32x16xf32>
  return %2 : tensor<1x2x32x32x16xf32>
}

// -----

// What only the epilogue reads is computed there, behind the product: a shortcut that is
// dequantized takes no memory as floats.

// CHECK-LABEL: func.func @shortcut
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.constant
// CHECK-NEXT:      nn.matmul
// CHECK-NEXT:      nn.cast
// CHECK-NEXT:      nn.mul
// CHECK-NEXT:      nn.add
// CHECK-NEXT:      nn.yield
// CHECK-NOT:     nn.kernel
func.func @shortcut(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %q: tensor<4x2xi8>) -> tensor<4x2xf32> {
  %scale = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %q : (tensor<4x2xi8>) -> tensor<4x2xf32>
  %1 = nn.mul %0, %scale : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %2 = nn.matmul %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %3 = nn.add %2, %1 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %3 : tensor<4x2xf32>
}

// -----

// What the product itself reads as well stays in memory.

// CHECK-LABEL: func.func @read_twice
// CHECK:         %[[CAST:.*]] = nn.kernel
// CHECK-NEXT:      nn.cast
// CHECK-NEXT:      nn.yield
// CHECK:         nn.kernel (%{{.*}} = %[[CAST]]
// CHECK-NEXT:      nn.matmul
// CHECK-NEXT:      nn.add
// CHECK-NEXT:      nn.yield
func.func @read_twice(%q: tensor<4x4xi8>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.cast %q : (tensor<4x4xi8>) -> tensor<4x4xf32>
  %1 = nn.matmul %0, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = nn.add %1, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// A reduction dequantizes what it reads: the product's kernel ends where its result is narrowest.

// CHECK-LABEL: func.func @narrowest
// CHECK:         %[[Q:.*]] = nn.kernel
// CHECK-NEXT:      nn.matmul
// CHECK-NEXT:      nn.cast
// CHECK-NEXT:      nn.yield
// CHECK:         nn.kernel (%{{.*}} = %[[Q]])
// CHECK-NEXT:      nn.constant
// CHECK-NEXT:      nn.cast
// CHECK-NEXT:      nn.mul
// CHECK-NEXT:      nn.reduce_sum
// CHECK-NEXT:      nn.yield
func.func @narrowest(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x1xf32> {
  %scale = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.matmul %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = nn.cast %0 : (tensor<4x2xf32>) -> tensor<4x2xi8>
  %2 = nn.cast %1 : (tensor<4x2xi8>) -> tensor<4x2xf32>
  %3 = nn.mul %2, %scale : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %4 = nn.reduce_sum %3 {axes = array<i64: 1>, keep_dims = true} : (tensor<4x2xf32>) -> tensor<4x1xf32>
  return %4 : tensor<4x1xf32>
}

// -----

// Floats are as wide at the end as before: the chain stays with the product.

// CHECK-LABEL: func.func @as_wide
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.matmul
// CHECK-NEXT:      nn.relu
// CHECK-NEXT:      nn.yield
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.reduce_sum
func.func @as_wide(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x1xf32> {
  %0 = nn.matmul %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = nn.relu %0 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %2 = nn.reduce_sum %1 {axes = array<i64: 1>, keep_dims = true} : (tensor<4x2xf32>) -> tensor<4x1xf32>
  return %2 : tensor<4x1xf32>
}
