// nn-opt --parametrize-kernels --target=x86-64-v3
func.func @f(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = nn.kernel (%x = %a) : (tensor<8xf32>) -> tensor<8xf32> {
    %half = nn.constant dense<0.5> : tensor<f32>
    %one = nn.constant dense<1.0> : tensor<f32>
    %y = nn.mul %x, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %z = nn.add %y, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    nn.yield %z : tensor<8xf32>
  }
  %1 = nn.kernel (%x = %b) : (tensor<8xf32>) -> tensor<8xf32> {
    %third = nn.constant dense<0.3> : tensor<f32>
    %one = nn.constant dense<1.0> : tensor<f32>
    %y = nn.mul %x, %third : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %z = nn.add %y, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    nn.yield %z : tensor<8xf32>
  }
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
