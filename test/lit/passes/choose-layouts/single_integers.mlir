// Where registers hold one number each, a depthwise convolution of 8-bit integers reads them as
// they are, padded with the zero point, which is taken off behind; so does one of few channels, of
// which words of four would be mostly zeros.
// RUN: nn-opt --choose-layouts='target=c-cortex-m7' --fold-constants --canonicalize --split-input-file %s | filecheck %s
// RUN: nn-opt --choose-layouts='target=c-cortex-m7' --check-numerics --split-input-file %s

// CHECK-LABEL: func.func @depthwise(
// CHECK-SAME:    %[[X:.*]]: tensor<1x16x5x5xi8>)
// CHECK:         nn.pad %{{.*}} {pads = array<i64: 0, 0, 1, 1, 0, 0, 0, 1, 1, 0>} : (tensor<1x1x5x5x16xi8>, tensor<i8>)
// CHECK:         nn.blocked_depthwise_conv {{.*}}packing = "single"{{.*}} : (tensor<1x1x7x7x16xi8>, tensor<1x3x3x16xi8>) -> tensor<1x1x5x5x16xi32>
// CHECK:         nn.sub
func.func @depthwise(%x: tensor<1x16x5x5xi8>) -> tensor<1x16x5x5xi32> {
  %zero = nn.constant dense<3> : tensor<i32>
  %w = nn.constant dense<-128> : tensor<16x1x3x3xi32>
  %0 = nn.cast %x : (tensor<1x16x5x5xi8>) -> tensor<1x16x5x5xi32>
  %1 = nn.sub %0, %zero : (tensor<1x16x5x5xi32>, tensor<i32>) -> tensor<1x16x5x5xi32>
  %2 = nn.conv %1, %w {groups = 16 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x5x5xi32>, tensor<16x1x3x3xi32>) -> tensor<1x16x5x5xi32>
  return %2 : tensor<1x16x5x5xi32>
}

// -----

// A change of shape behind the subtraction is made on the integers.

// CHECK-LABEL: func.func @one_channel
// CHECK:         nn.blocked_conv {{.*}}packing = "single"{{.*}}xui8>, {{.*}}xi8>)
func.func @one_channel(%x: tensor<1x5x5x1xui8>) -> tensor<1x16x3x3xi32> {
  %zero = nn.constant dense<128> : tensor<i32>
  %w = nn.constant dense<127> : tensor<16x1x3x3xi32>
  %0 = nn.cast %x : (tensor<1x5x5x1xui8>) -> tensor<1x5x5x1xi32>
  %1 = nn.sub %0, %zero : (tensor<1x5x5x1xi32>, tensor<i32>) -> tensor<1x5x5x1xi32>
  %2 = nn.reshape %1 : (tensor<1x5x5x1xi32>) -> tensor<1x1x5x5xi32>
  %3 = nn.conv %2, %w : (tensor<1x1x5x5xi32>, tensor<16x1x3x3xi32>) -> tensor<1x16x3x3xi32>
  return %3 : tensor<1x16x3x3xi32>
}

// -----

// Three channels are words of four; weights of more than 8 bits are multiplied as i32.

// CHECK-LABEL: func.func @words
// CHECK:         nn.blocked_conv {{.*}}packing = "s8"
// CHECK-LABEL: func.func @wide
// CHECK-NOT:     packing
func.func @words(%x: tensor<1x3x5x5xi8>) -> tensor<1x16x3x3xi32> {
  %w = nn.constant dense<127> : tensor<16x3x3x3xi32>
  %0 = nn.cast %x : (tensor<1x3x5x5xi8>) -> tensor<1x3x5x5xi32>
  %1 = nn.conv %0, %w : (tensor<1x3x5x5xi32>, tensor<16x3x3x3xi32>) -> tensor<1x16x3x3xi32>
  return %1 : tensor<1x16x3x3xi32>
}
func.func @wide(%x: tensor<1x16x5x5xi8>) -> tensor<1x16x3x3xi32> {
  %w = nn.constant dense<128> : tensor<16x1x3x3xi32>
  %0 = nn.cast %x : (tensor<1x16x5x5xi8>) -> tensor<1x16x5x5xi32>
  %1 = nn.conv %0, %w {groups = 16 : i64} : (tensor<1x16x5x5xi32>, tensor<16x1x3x3xi32>) -> tensor<1x16x3x3xi32>
  return %1 : tensor<1x16x3x3xi32>
}
