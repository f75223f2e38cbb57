// The tensors that a loop carries have the types of its results, whatever it starts with.
// RUN: nn-opt %s | nn-opt | filecheck %s

// CHECK-LABEL: func.func @filled(
// CHECK:         %[[NONE:.*]] = nn.sequence_construct
// CHECK:         nn.while (%[[N:.*]] = %{{.*}}, %[[Q:.*]] = %[[NONE]]) : (tensor<i64>, !nn.sequence<none>)
// CHECK-SAME:      -> (tensor<i64>, !nn.sequence<tensor<?xf32>>)
// CHECK:           nn.sequence_length %[[Q]] : (!nn.sequence<tensor<?xf32>>)
// CHECK:         ^{{.*}}(%{{.*}}: tensor<i64>, %{{.*}}: !nn.sequence<tensor<?xf32>>):
func.func @filled(%n: tensor<i64>, %x: tensor<?xf32>) -> !nn.sequence<tensor<?xf32>> {
  %none = nn.sequence_construct : () -> !nn.sequence<none>
  %r:2 = nn.while (%m = %n, %q = %none) : (tensor<i64>, !nn.sequence<none>) -> (tensor<i64>, !nn.sequence<tensor<?xf32>>) {
    %length = nn.sequence_length %q : (!nn.sequence<tensor<?xf32>>) -> tensor<i64>
    %go = nn.less %length, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    nn.condition(%go)
  } do {
  ^bb0(%m: tensor<i64>, %q: !nn.sequence<tensor<?xf32>>):
    %more = nn.sequence_insert %q, %x : (!nn.sequence<tensor<?xf32>>, tensor<?xf32>) -> !nn.sequence<tensor<?xf32>>
    nn.yield %m, %more : tensor<i64>, !nn.sequence<tensor<?xf32>>
  }
  return %r#1 : !nn.sequence<tensor<?xf32>>
}
