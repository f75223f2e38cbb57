// Products of dequantized tensors become products of integers; those of one that is not stay.
// RUN: nn-opt --use-integers %s | filecheck %s

// CHECK-LABEL: @fires
// CHECK:         %[[X:.*]] = nn.cast %arg0 : (tensor<1x4xui8>) -> tensor<1x4xi32>
// CHECK:         nn.sub %[[X]]
// CHECK:         %[[EXACT:.*]] = nn.matmul {{.*}} -> tensor<1x2xi32>
// CHECK-DAG:     %[[REAL:.*]] = nn.cast %[[EXACT]] : (tensor<1x2xi32>) -> tensor<1x2xf32>
// CHECK-DAG:     nn.mul %[[REAL]]
func.func @fires(%xi: tensor<1x4xui8>) -> tensor<1x2xf32> {
  %zero = nn.constant dense<3.0> : tensor<f32>
  %scale = nn.constant dense<0.5> : tensor<f32>
  %wi = nn.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8>
  %scales = nn.constant dense<[[0.25, 0.125]]> : tensor<1x2xf32>
  %0 = nn.cast %xi : (tensor<1x4xui8>) -> tensor<1x4xf32>
  %1 = nn.sub %0, %zero : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
  %x = nn.mul %1, %scale : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
  %2 = nn.cast %wi : (tensor<4x2xi8>) -> tensor<4x2xf32>
  %w = nn.mul %2, %scales : (tensor<4x2xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
  %y = nn.matmul %x, %w : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// The weights have a scale for each row, which is no factor of a sum.
// CHECK-LABEL: @declines
// CHECK:         nn.matmul {{.*}} -> tensor<1x2xf32>
func.func @declines(%xi: tensor<1x4xui8>) -> tensor<1x2xf32> {
  %scale = nn.constant dense<0.5> : tensor<f32>
  %wi = nn.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8>
  %scales = nn.constant dense<[[0.25], [0.125], [1.0], [2.0]]> : tensor<4x1xf32>
  %0 = nn.cast %xi : (tensor<1x4xui8>) -> tensor<1x4xf32>
  %x = nn.mul %0, %scale : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
  %1 = nn.cast %wi : (tensor<4x2xi8>) -> tensor<4x2xf32>
  %w = nn.mul %1, %scales : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
  %y = nn.matmul %x, %w : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// A transposed convolution's weights have the channels of its results second, and the bias is added to the scaled sums.
// CHECK-LABEL: @fires_on_transposed_convolutions
// CHECK:         %[[EXACT:.*]] = nn.conv_transpose {{.*}} -> tensor<1x2x4x4xi32>
// CHECK:         nn.cast %[[EXACT]] : (tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xf32>
// CHECK:         nn.add {{.*}} tensor<2x1x1xf32>
func.func @fires_on_transposed_convolutions(%xi: tensor<1x1x2x2xui8>, %bias: tensor<2xf32>) -> tensor<1x2x4x4xf32> {
  %scale = nn.constant dense<0.5> : tensor<f32>
  %wi = nn.constant dense<3> : tensor<1x2x2x2xi8>
  %scales = nn.constant dense<[[[[0.25]], [[0.125]]]]> : tensor<1x2x1x1xf32>
  %0 = nn.cast %xi : (tensor<1x1x2x2xui8>) -> tensor<1x1x2x2xf32>
  %x = nn.mul %0, %scale : (tensor<1x1x2x2xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
  %1 = nn.cast %wi : (tensor<1x2x2x2xi8>) -> tensor<1x2x2x2xf32>
  %w = nn.mul %1, %scales : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %y = nn.conv_transpose %x, %w, %bias {strides = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>, tensor<1x2x2x2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}
