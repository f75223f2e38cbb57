// What a host computes stays outside of kernels, and a branch of it stays a branch; the program
// computes the same after each pass, for strings, sequences and maps too.
// RUN: nn-opt --check-numerics --canonicalize --cse --fold-constants --outline-regions --fuse %s | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK:         nn.string_concat
// CHECK:         nn.sequence_at
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.relu
// CHECK-NEXT:      nn.exp
// CHECK:         nn.if
// CHECK:           nn.sequence_insert
// CHECK:         nn.zip_map
func.func @main(%s: tensor<2x!nn.string>, %q: !nn.sequence<tensor<?x2xf32>>, %c: tensor<i1>)
    -> (tensor<2x!nn.string>, !nn.sequence<tensor<?x2xf32>>, !nn.sequence<!nn.map<i64, f32>>) {
  %t = nn.string_concat %s, %s :
      (tensor<2x!nn.string>, tensor<2x!nn.string>) -> tensor<2x!nn.string>
  %i = nn.constant dense<0> : tensor<i64>
  %x = nn.sequence_at %q, %i : (!nn.sequence<tensor<?x2xf32>>, tensor<i64>) -> tensor<?x2xf32>
  %r = nn.relu %x : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %e = nn.exp %r : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %p = nn.if %c -> (!nn.sequence<tensor<?x2xf32>>) {
    %0 = nn.sequence_insert %q, %e :
        (!nn.sequence<tensor<?x2xf32>>, tensor<?x2xf32>) -> !nn.sequence<tensor<?x2xf32>>
    nn.yield %0 : !nn.sequence<tensor<?x2xf32>>
  } else {
    nn.yield %q : !nn.sequence<tensor<?x2xf32>>
  }
  %m = nn.zip_map %e {keys = dense<[3, 1]> : tensor<2xi64>} :
      (tensor<?x2xf32>) -> !nn.sequence<!nn.map<i64, f32>>
  return %t, %p, %m :
      tensor<2x!nn.string>, !nn.sequence<tensor<?x2xf32>>, !nn.sequence<!nn.map<i64, f32>>
}
