// Slices and concatenations whose parts lie one after the other in memory need no kernel; what
// cannot be written in place, and what a caller gives or gets, is copied.
// RUN: nn-opt --fuse %s | filecheck %s

// CHECK-LABEL: func.func @in_place
// CHECK:         %[[A:.*]] = nn.kernel
// CHECK-NEXT:      nn.exp
// CHECK:         %[[B:.*]] = nn.kernel
// CHECK-NEXT:      nn.tanh
// CHECK:         %[[C:.*]] = nn.concat %[[A]], %[[B]]
// CHECK:         %[[S:.*]] = nn.slice %[[C]]
// CHECK:         nn.kernel (%{{.*}} = %[[S]])
func.func @in_place(%x: tensor<2x4xf32>, %y: tensor<1x4xf32>) -> tensor<2x4xf32> {
  %a = nn.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = nn.tanh %y : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %c = nn.concat %a, %b {axis = 0 : i64} : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %s = nn.slice %c {starts = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<2x4xf32>
  %r = nn.sqrt %s : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// What an operand cannot be written in place for is copied: the argument.

// CHECK-LABEL: func.func @argument
// CHECK:         %[[A:.*]] = nn.kernel
// CHECK-NEXT:      nn.exp
// CHECK:         %[[Y:.*]] = nn.kernel
// CHECK-NEXT:      nn.concat
// CHECK-NEXT:      nn.yield
// CHECK:         nn.concat %[[A]], %[[Y]]
func.func @argument(%x: tensor<4xf32>, %y: tensor<1xf32>) -> tensor<5xf32> {
  %a = nn.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %c = nn.concat %a, %y {axis = 0 : i64} : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
  %r = nn.sqrt %c : (tensor<5xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// A concatenation begins with an earlier one.

// CHECK-LABEL: func.func @growing
// CHECK:         %[[AB:.*]] = nn.concat %{{[a-z0-9]+}}, %{{[a-z0-9]+}} {
// CHECK:         nn.concat %[[AB]], %{{[a-z0-9]+}} {
func.func @growing(%x: tensor<4xf32>) -> tensor<12xf32> {
  %a = nn.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = nn.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = nn.concat %a, %b {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %d = nn.reduce_sum %c {axes = array<i64: 0>, keep_dims = true} : (tensor<8xf32>) -> tensor<1xf32>
  %e = nn.mul %d, %x : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = nn.concat %a, %b, %e {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>
  %r = nn.sqrt %f : (tensor<12xf32>) -> tensor<12xf32>
  return %r : tensor<12xf32>
}

// Columns do not lie one after the other; a result is in the caller's memory.

// CHECK-LABEL: func.func @declines
// CHECK:         nn.kernel
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.concat
// CHECK:         nn.kernel
// CHECK-NEXT:      nn.slice
func.func @declines(%x: tensor<2x4xf32>) -> (tensor<2x8xf32>, tensor<1x4xf32>) {
  %a = nn.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %c = nn.concat %a, %x {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %s = nn.slice %a {starts = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  return %c, %s : tensor<2x8xf32>, tensor<1x4xf32>
}
