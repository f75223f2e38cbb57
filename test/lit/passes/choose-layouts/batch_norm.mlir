// A convolution is blocked too where a batch norm was folded into its weights.
// RUN: nn-opt --simplify-graph %s | filecheck %s

// CHECK-LABEL: func.func @main(
// CHECK-NOT:     nn.batch_norm
// CHECK:         nn.blocked_conv
// CHECK-NOT:     nn.conv
func.func @main(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
  %w = nn.constant dense<0.5> : tensor<16x16x1x1xf32>
  %one = nn.constant dense<1.0> : tensor<16xf32>
  %mean = nn.constant dense<0.25> : tensor<16xf32>
  %0 = nn.conv %x, %w : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  %1 = nn.batch_norm %0, %one, %one, %mean, %one : (tensor<1x16x8x8xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x16x8x8xf32>
  return %1 : tensor<1x16x8x8xf32>
}
