// Batch normalization, scale and shift of constants go into the weights before them.
// RUN: nn-opt --fold-batch-norm --fold-constants --split-input-file %s | filecheck %s

// With variance 1, epsilon 0, scale 2, mean 3 and bias 10: w * 2 and (1 - 3) * 2 + 10.

// CHECK-LABEL: func.func @conv(
// CHECK-SAME:    %[[X:.*]]: tensor<1x1x4x4xf32>)
// CHECK-DAG:     %[[W:.*]] = nn.constant dense<1.000000e+01> : tensor<1x1x3x3xf32>
// CHECK-DAG:     %[[B:.*]] = nn.constant dense<6.000000e+00> : tensor<1xf32>
// CHECK:         %[[Y:.*]] = nn.conv %[[X]], %[[W]], %[[B]] {strides = array<i64: 2, 2>}
// CHECK-NEXT:    return %[[Y]]
func.func @conv(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x1x1xf32> {
  %w = nn.constant dense<5.0> : tensor<1x1x3x3xf32>
  %one = nn.constant dense<1.0> : tensor<1xf32>
  %scale = nn.constant dense<2.0> : tensor<1xf32>
  %mean = nn.constant dense<3.0> : tensor<1xf32>
  %bias = nn.constant dense<10.0> : tensor<1xf32>
  %0 = nn.conv %x, %w, %one {strides = array<i64: 2, 2>} : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %1 = nn.batch_norm %0, %scale, %bias, %mean, %one {epsilon = 0.0 : f32} : (tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}

// -----

// A convolution whose result is needed unscaled too keeps its weights; what is left of the
// normalization is one multiplication and one addition.

// CHECK-LABEL: func.func @two_users
// CHECK:         %[[Y:.*]] = nn.conv
// CHECK:         %[[M:.*]] = nn.mul %[[Y]]
// CHECK:         %[[A:.*]] = nn.add %[[M]]
// CHECK:         return %[[Y]], %[[A]]
func.func @two_users(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) {
  %w = nn.constant dense<5.0> : tensor<1x1x3x3xf32>
  %one = nn.constant dense<1.0> : tensor<1xf32>
  %0 = nn.conv %x, %w : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x2x2xf32>
  %1 = nn.batch_norm %0, %one, %one, %one, %one : (tensor<1x1x2x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2x2xf32>
  return %0, %1 : tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>
}

// -----

// CHECK-LABEL: func.func @scale_and_shift(
// CHECK-SAME:    %[[X:.*]]: tensor<1x1x4x4xf32>)
// CHECK:         %[[W:.*]] = nn.constant dense<{{.*}}1.000000e+01{{.*}}1.500000e+01{{.*}}> : tensor<2x1x1x1xf32>
// CHECK:         %[[Y:.*]] = nn.conv %[[X]], %[[W]], %{{.*}}
// CHECK-NEXT:    return %[[Y]]
func.func @scale_and_shift(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = nn.constant dense<5.0> : tensor<2x1x1x1xf32>
  %c = nn.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %0 = nn.conv %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = nn.mul %0, %c : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = nn.add %1, %c : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %2 : tensor<1x2x4x4xf32>
}

// -----

// A factor for each column, not for each channel, is no scale of the weights.

// CHECK-LABEL: func.func @per_column
// CHECK:         nn.mul
func.func @per_column(%x: tensor<1x1x4x2xf32>) -> tensor<1x2x4x2xf32> {
  %w = nn.constant dense<5.0> : tensor<2x1x1x1xf32>
  %c = nn.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %0 = nn.conv %x, %w : (tensor<1x1x4x2xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x2xf32>
  %1 = nn.mul %0, %c : (tensor<1x2x4x2xf32>, tensor<2xf32>) -> tensor<1x2x4x2xf32>
  return %1 : tensor<1x2x4x2xf32>
}

// -----

// What is taken away from each channel is part of the bias.

// CHECK-LABEL: func.func @difference(
// CHECK:         %[[Y:.*]] = nn.conv %{{.*}}, %{{.*}}, %{{.*}}
// CHECK-NEXT:    return %[[Y]]
func.func @difference(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = nn.constant dense<0.5> : tensor<2x2x1x1xf32>
  %m = nn.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %0 = nn.conv %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = nn.sub %0, %m : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}
