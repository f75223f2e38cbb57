// A max pooling whose windows overlap much is one along columns and one along rows.
// RUN: nn-opt --pass-pipeline='builtin.module(decompose{level=graph})' --split-input-file %s | filecheck %s

// CHECK-LABEL: func.func @large(
// CHECK-SAME:    %[[X:.*]]: tensor<1x8x20x20xf32>)
// CHECK-NEXT:    %[[C:.*]] = nn.max_pool %[[X]] {{.*}}kernel = array<i64: 5, 1>{{.*}}pads = array<i64: 2, 0, 2, 0>{{.*}} -> tensor<1x8x20x20xf32>
// CHECK-NEXT:    %[[R:.*]] = nn.max_pool %[[C]] {{.*}}kernel = array<i64: 1, 5>{{.*}}pads = array<i64: 0, 2, 0, 2>
// CHECK-NEXT:    return %[[R]]
func.func @large(%x: tensor<1x8x20x20xf32>) -> tensor<1x8x20x20xf32> {
  %0 = nn.max_pool %x {kernel = array<i64: 5, 5>, pads = array<i64: 2, 2, 2, 2>} : (tensor<1x8x20x20xf32>) -> tensor<1x8x20x20xf32>
  return %0 : tensor<1x8x20x20xf32>
}

// -----

// Small windows stay, and so do those that hardly overlap.

// CHECK-LABEL: func.func @small(
// CHECK-NOT:     kernel = array<i64: 3, 1>
// CHECK-NOT:     kernel = array<i64: 8, 1>
// CHECK:         return
func.func @small(%x: tensor<1x8x16x16xf32>) -> (tensor<1x8x14x14xf32>, tensor<1x8x2x2xf32>) {
  %0 = nn.max_pool %x {kernel = array<i64: 3, 3>} : (tensor<1x8x16x16xf32>) -> tensor<1x8x14x14xf32>
  %1 = nn.max_pool %x {kernel = array<i64: 8, 8>, strides = array<i64: 8, 8>} : (tensor<1x8x16x16xf32>) -> tensor<1x8x2x2xf32>
  return %0, %1 : tensor<1x8x14x14xf32>, tensor<1x8x2x2xf32>
}
