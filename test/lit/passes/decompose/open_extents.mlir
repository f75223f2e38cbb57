// Proves that of unknown extents, what needs them is computed before kernels are made: the size of
// an open kernel, the windows that rounding up gives, the channels of a group.
// RUN: nn-opt --pass-pipeline='builtin.module(decompose{level=graph})' --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @windows
// CHECK: nn.max_pool {{.*}}pads = array<i64: 1, 3>
// CHECK: nn.greater_equal
// CHECK: nn.slice_dynamic
func.func @windows(%x: tensor<1x4x?xf32>) -> tensor<1x4x?xf32> {
  %y = nn.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 3>, pads = array<i64: 1, 1>, ceil_mode = true} : (tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
  return %y : tensor<1x4x?xf32>
}

// -----

// A last window that cannot start in the padding needs nothing.
// CHECK-LABEL: func.func @overlapping
// CHECK-NOT: nn.slice_dynamic
func.func @overlapping(%x: tensor<1x4x?xf32>) -> tensor<1x4x?xf32> {
  %y = nn.max_pool %x {kernel = array<i64: 3>, strides = array<i64: 2>, ceil_mode = true} : (tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
  return %y : tensor<1x4x?xf32>
}

// -----

// CHECK-LABEL: func.func @kernel
// CHECK: nn.slice_dynamic %arg1
// CHECK: nn.pad_dynamic
// CHECK: nn.conv
func.func @kernel(%x: tensor<1x4x5xf32>, %w: tensor<4x2x?xf32>) -> tensor<1x2x?xf32> {
  %y = nn.conv_transpose %x, %w : (tensor<1x4x5xf32>, tensor<4x2x?xf32>) -> tensor<1x2x?xf32>
  return %y : tensor<1x2x?xf32>
}

// -----

// CHECK-LABEL: func.func @channels
// CHECK: nn.reshape_dynamic
// CHECK-NOT: nn.group_norm
func.func @channels(%x: tensor<?x?x4xf32>, %s: tensor<?xf32>) -> tensor<?x?x4xf32> {
  %y = nn.group_norm %x, %s, %s {groups = 2 : i64} : (tensor<?x?x4xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}

// -----

// One unknown extent is told by the number of elements: it stays whole until its kernel.
// CHECK-LABEL: func.func @batch
// CHECK: nn.group_norm
func.func @batch(%x: tensor<?x4x4xf32>, %s: tensor<4xf32>) -> tensor<?x4x4xf32> {
  %y = nn.group_norm %x, %s, %s {groups = 2 : i64} : (tensor<?x4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x4xf32>
  return %y : tensor<?x4x4xf32>
}
