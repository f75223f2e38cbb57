// A constant that a loop or a branch is given is repeated in its functions, in nested ones too. What
// the loop carries stays an argument, and so does what several calls give.
// RUN: nn-opt --check-numerics --repeat-constants %s | filecheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[N:.*]]: tensor<i64>, %[[A:.*]]: tensor<1x2xf32>)
// CHECK:         %[[ZERO:.*]] = nn.constant dense<0>
// CHECK:         nn.call_while @less, @step(%[[ZERO]], %[[A]], %[[N]]) {carried = 2 : i64}
// CHECK:       func.func private @less(%[[I:.*]]: tensor<i64>, %{{.*}}: tensor<1x2xf32>, %[[M:.*]]: tensor<i64>) -> tensor<i1>
// CHECK-NEXT:    nn.less %[[I]], %[[M]]
// CHECK:       func.func private @step(%{{.*}}: tensor<i64>, %[[X:.*]]: tensor<1x2xf32>, %{{.*}}: tensor<i64>)
// CHECK-DAG:     %[[W:.*]] = nn.constant dense<{{\[}}[1.0
// CHECK:         nn.matmul %[[X]], %[[W]]
// CHECK:         nn.call_if %{{.*}}, @product, @same(%{{.*}}) : (tensor<1x2xf32>)
// CHECK:       func.func private @product(%[[Y:.*]]: tensor<1x2xf32>) -> tensor<1x2xf32>
// CHECK-NEXT:    %[[V:.*]] = nn.constant dense<{{\[}}[1.0
// CHECK-NEXT:    nn.matmul %[[Y]], %[[V]]
func.func @main(%n: tensor<i64>, %a: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %zero = nn.constant dense<0> : tensor<i64>
  %w = nn.constant dense<[[1.0, 0.5], [-0.5, 1.0]]> : tensor<2x2xf32>
  %last, %y = nn.call_while @less, @step(%zero, %a, %n, %w) {carried = 2 : i64}
      : (tensor<i64>, tensor<1x2xf32>, tensor<i64>, tensor<2x2xf32>) -> (tensor<i64>, tensor<1x2xf32>)
  return %y : tensor<1x2xf32>
}
func.func private @less(%i: tensor<i64>, %x: tensor<1x2xf32>, %n: tensor<i64>, %w: tensor<2x2xf32>) -> tensor<i1> {
  %0 = nn.less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @step(%i: tensor<i64>, %x: tensor<1x2xf32>, %n: tensor<i64>, %w: tensor<2x2xf32>) -> (tensor<i64>, tensor<1x2xf32>) {
  %one = nn.constant dense<1> : tensor<i64>
  %0 = nn.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %1 = nn.matmul %x, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %2 = nn.equal %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %3 = nn.call_if %2, @product, @same(%1, %w) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %0, %3 : tensor<i64>, tensor<1x2xf32>
}
func.func private @product(%x: tensor<1x2xf32>, %w: tensor<2x2xf32>) -> tensor<1x2xf32> {
  %0 = nn.matmul %x, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
func.func private @same(%x: tensor<1x2xf32>, %w: tensor<2x2xf32>) -> tensor<1x2xf32> {
  return %x : tensor<1x2xf32>
}

// CHECK-LABEL: func.func @twice(
// CHECK:         nn.call_if %{{.*}}, @sum, @kept(%{{.*}}, %{{.*}}) : (tensor<2xf32>, tensor<2xf32>)
// CHECK:         nn.call_if %{{.*}}, @sum, @kept(%{{.*}}, %{{.*}}) : (tensor<2xf32>, tensor<2xf32>)
func.func @twice(%p: tensor<i1>, %a: tensor<2xf32>) -> tensor<2xf32> {
  %b = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %c = nn.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %0 = nn.call_if %p, @sum, @kept(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = nn.call_if %p, @sum, @kept(%0, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func private @sum(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = nn.add %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @kept(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
