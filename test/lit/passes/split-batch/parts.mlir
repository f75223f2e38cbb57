// split-batch runs the first layers on parts of a batch whose activations fit the cache, as calls
// of one function that knows the weights; what mixes images keeps the whole batch.
// RUN: nn-opt --pass-pipeline='builtin.module(split-batch{cache-bytes=33000})' %s | filecheck %s
// RUN: nn-opt --pass-pipeline='builtin.module(split-batch{cache-bytes=33000},inline,cse)' %s | filecheck %s --check-prefix=INLINED

// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = nn.slice %arg0 {starts = array<i64: 0, 0, 0, 0>} : (tensor<4x8x16x16xf32>) -> tensor<2x8x16x16xf32>
// CHECK-NEXT: %[[C:.*]] = call @main_part(%[[A]])
// CHECK-NEXT: %[[B:.*]] = nn.slice %arg0 {starts = array<i64: 2, 0, 0, 0>}
// CHECK-NEXT: %[[D:.*]] = call @main_part(%[[B]])
// CHECK-NEXT: %[[Y:.*]] = nn.concat %[[C]], %[[D]] {axis = 0 : i64}
// CHECK-NEXT: %[[M:.*]] = nn.reduce_mean %[[Y]]
// CHECK-NEXT: return %[[M]]

// CHECK-LABEL: func.func private @main_part
// CHECK-SAME: (%arg0: tensor<2x8x16x16xf32>) -> tensor<2x8x8x8xf32>
// CHECK: nn.max_pool %{{.*}} -> tensor<2x8x8x8xf32>

// INLINED-COUNT-1: nn.constant
// INLINED-COUNT-2: nn.max_pool
// INLINED-NOT: @main_part
func.func @main(%x: tensor<4x8x16x16xf32>) -> tensor<8x8x8xf32> attributes {nn.entry, nn.input_names = ["x"], nn.output_names = ["y"]} {
  %w = nn.constant dense<1.0> : tensor<8x8x1x1xf32>
  %a = nn.conv %x, %w : (tensor<4x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<4x8x16x16xf32>
  %b = nn.conv %a, %w : (tensor<4x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<4x8x16x16xf32>
  %c = nn.max_pool %b {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<4x8x16x16xf32>) -> tensor<4x8x8x8xf32>
  %m = nn.reduce_mean %c {axes = array<i64: 0>} : (tensor<4x8x8x8xf32>) -> tensor<8x8x8xf32>
  return %m : tensor<8x8x8xf32>
}
