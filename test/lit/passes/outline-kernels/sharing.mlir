// Kernels become private functions; those that do the same to operands of the same types share
// one, those that differ in an attribute, a constant or a type do not.
// RUN: nn-opt --fuse --outline-kernels %s | filecheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT:    %[[A:.*]] = call @softmax_0(%[[X]])
// CHECK-NEXT:    %[[B:.*]] = call @softmax_0(%[[A]])
// CHECK-NEXT:    %[[C:.*]] = call @softmax_1(%[[B]])
// CHECK-NEXT:    %[[D:.*]] = call @reduce_sum_add_0(%[[C]])
// CHECK-NEXT:    %[[E:.*]] = call @reduce_sum_add_1(%[[C]])
// CHECK-NEXT:    return %[[C]], %[[D]], %[[E]]
// CHECK:       func.func private @softmax_0(%{{.*}}: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {nn.kernel} {
// CHECK-NEXT:    nn.softmax %{{.*}} {axis = 1 : i64}
// CHECK:       func.func private @softmax_1(
// CHECK-NEXT:    nn.softmax %{{.*}} {axis = 0 : i64}
// CHECK:       func.func private @reduce_sum_add_0(
// CHECK-NEXT:    nn.constant dense<1.000000e+00>
// CHECK:       func.func private @reduce_sum_add_1(
// CHECK-NEXT:    nn.constant dense<2.000000e+00>
// CHECK-NOT:   func.func
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = nn.constant dense<1.0> : tensor<f32>
  %two = nn.constant dense<2.0> : tensor<f32>
  %0 = nn.softmax %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = nn.softmax %0 {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = nn.softmax %1 {axis = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = nn.reduce_sum %2 {axes = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %4 = nn.add %3, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = nn.reduce_sum %2 {axes = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %6 = nn.add %5, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %2, %4, %6 : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
}
