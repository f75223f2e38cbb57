// nn-opt --fold-batch-norm --fold-constants --canonicalize
func.func @f(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = nn.constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>
  %scale = nn.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %bias = nn.constant dense<1.0> : tensor<2xf32>
  %mean = nn.constant dense<0.5> : tensor<2xf32>
  %variance = nn.constant dense<4.0> : tensor<2xf32>
  %0 = nn.conv %x, %w : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = nn.batch_norm %0, %scale, %bias, %mean, %variance {epsilon = 0.0 : f32} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}
