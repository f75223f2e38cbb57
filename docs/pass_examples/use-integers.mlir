// nn-opt --use-integers
func.func @f(%xi: tensor<1x4xui8>) -> tensor<1x2xf32> {
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
