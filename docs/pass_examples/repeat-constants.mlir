// nn-opt --repeat-constants
func.func @steps(%x: tensor<1x2xf32>, %n: tensor<i64>) -> tensor<1x2xf32> {
  %zero = nn.constant dense<0> : tensor<i64>
  %w = nn.constant dense<[[1.0, 0.5], [-0.5, 1.0]]> : tensor<2x2xf32>
  %last, %y = nn.call_while @less, @step(%zero, %x, %n, %w) {carried = 2 : i64}
      : (tensor<i64>, tensor<1x2xf32>, tensor<i64>, tensor<2x2xf32>)
      -> (tensor<i64>, tensor<1x2xf32>)
  return %y : tensor<1x2xf32>
}
func.func private @less(%i: tensor<i64>, %x: tensor<1x2xf32>, %n: tensor<i64>, %w: tensor<2x2xf32>)
    -> tensor<i1> {
  %0 = nn.less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @step(%i: tensor<i64>, %x: tensor<1x2xf32>, %n: tensor<i64>, %w: tensor<2x2xf32>)
    -> (tensor<i64>, tensor<1x2xf32>) {
  %one = nn.constant dense<1> : tensor<i64>
  %0 = nn.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %1 = nn.matmul %x, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %0, %1 : tensor<i64>, tensor<1x2xf32>
}
