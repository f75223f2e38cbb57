// Each region becomes a function; what it sees of the outside becomes arguments, constants are
// repeated, and regions in regions follow.
// RUN: nn-opt --outline-regions %s | filecheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[P:.*]]: tensor<i1>, %[[A:.*]]: tensor<4xf32>, %[[N:.*]]: tensor<i64>)
// CHECK:         %[[ZERO:.*]] = nn.constant dense<0>
// CHECK:         nn.call_while @main_while_0, @main_do_0(%[[ZERO]], %[[A]], %[[N]], %[[P]]) {carried = 2 : i64}
// CHECK-NOT:   nn.while
// CHECK:       func.func private @main_while_0(%[[I:.*]]: tensor<i64>, %{{.*}}: tensor<4xf32>, %[[M:.*]]: tensor<i64>, %{{.*}}: tensor<i1>) -> tensor<i1>
// CHECK-NEXT:    nn.less %[[I]], %[[M]]
// CHECK:       func.func private @main_do_0(
// CHECK:         nn.constant dense<1>
// CHECK:         nn.call_if %{{.*}}, @main_do_0_then_0, @main_do_0_else_0(
// CHECK:       func.func private @main_do_0_then_0(
// CHECK-NEXT:    nn.relu
// CHECK:       func.func private @main_do_0_else_0(
// CHECK-NEXT:    return
func.func @main(%p: tensor<i1>, %a: tensor<4xf32>, %n: tensor<i64>) -> tensor<4xf32> {
  %zero = nn.constant dense<0> : tensor<i64>
  %one = nn.constant dense<1> : tensor<i64>
  %last, %y = nn.while (%i = %zero, %x = %a)
      : (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>) {
    %go = nn.less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    nn.condition(%go)
  } do {
  ^bb0(%i: tensor<i64>, %x: tensor<4xf32>):
    %next = nn.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %0 = nn.if %p -> (tensor<4xf32>) {
      %1 = nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
      nn.yield %1 : tensor<4xf32>
    } else {
      nn.yield %x : tensor<4xf32>
    }
    nn.yield %next, %0 : tensor<i64>, tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
