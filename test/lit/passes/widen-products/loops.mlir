// Once, weights are read from memory, f32 in twice the time; in a loop, from the cache that holds them.
// RUN: nn-opt --widen-products=target=x86-64-v4 %s | filecheck %s
// RUN: nn-opt --widen-products=target=x86-64-v4 --check-numerics %s

// CHECK-LABEL: @main
// CHECK:         nn.matmul {{.*}} -> tensor<2x128xf16>
func.func @main(%x: tensor<2x128xf16>) -> tensor<2x128xf16> {
  %w = nn.constant dense<0.5> : tensor<128x128xf16>
  %h = nn.matmul %x, %w : (tensor<2x128xf16>, tensor<128x128xf16>) -> tensor<2x128xf16>
  %y = nn.call_while @less, @step(%h) {carried = 1 : i64} : (tensor<2x128xf16>) -> tensor<2x128xf16>
  return %y : tensor<2x128xf16>
}

func.func private @less(%x: tensor<2x128xf16>) -> tensor<i1> {
  %zero = nn.constant dense<0.0> : tensor<f16>
  %first = nn.slice %x {starts = array<i64: 0, 0>, ends = array<i64: 1, 1>, steps = array<i64: 1, 1>} : (tensor<2x128xf16>) -> tensor<1x1xf16>
  %one = nn.reshape %first : (tensor<1x1xf16>) -> tensor<f16>
  %less = nn.less %one, %zero : (tensor<f16>, tensor<f16>) -> tensor<i1>
  return %less : tensor<i1>
}

// CHECK-LABEL: @step
// CHECK:         nn.matmul {{.*}} -> tensor<2x128xf32>
func.func private @step(%x: tensor<2x128xf16>) -> tensor<2x128xf16> {
  %w = nn.constant dense<0.5> : tensor<128x128xf16>
  %y = nn.matmul %x, %w : (tensor<2x128xf16>, tensor<128x128xf16>) -> tensor<2x128xf16>
  return %y : tensor<2x128xf16>
}
