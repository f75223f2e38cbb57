// Functions that make weights are called by nnc_prepare, one in each step; nnc_run finds both blocks.
// RUN: nn-opt --lower-to-llvm %s | filecheck %s

// CHECK:      nn.prepare_arena_bytes = 128 : i64, nn.prepared_bytes = 192 : i64
// CHECK-SAME: nn.weights_bytes = 192 : i64

// CHECK:      llvm.func internal @prepare_0(

// CHECK:      llvm.func @nnc_run(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[ARENA:.*]]: !llvm.ptr, %[[BLOCK:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32
// CHECK-DAG:    %[[STORED:.*]] = llvm.load %[[BLOCK]]
// CHECK-DAG:    %[[MADE:.*]] = llvm.getelementptr inbounds %[[BLOCK]][64]
// CHECK:        llvm.call @main(%{{.*}}, %{{.*}}, %[[STORED]], %[[MADE]])

// CHECK:      llvm.func @nnc_prepare(%[[STORED:.*]]: !llvm.ptr, %[[BLOCK:.*]]: !llvm.ptr, %[[ARENA:.*]]: !llvm.ptr, %[[POOL:.*]]: !llvm.ptr, %[[STEP:.*]]: i32) -> i64
// CHECK-NEXT:   llvm.store %[[STORED]], %[[BLOCK]]
// CHECK-NEXT:   llvm.switch %[[STEP]] : i32, ^[[NONE:.*]] [
// CHECK-NEXT:     0: ^[[FIRST:.*]]
// CHECK-NEXT:   ]
// CHECK-NEXT: ^[[FIRST]]:
// CHECK-NEXT:   %[[OUT:.*]] = llvm.getelementptr inbounds %[[BLOCK]][64]
// CHECK-NEXT:   llvm.call @prepare_0(%[[OUT]], %[[ARENA]], %[[STORED]])
// CHECK-NEXT:   %[[USED:.*]] = llvm.mlir.constant(32 : i64)
// CHECK-NEXT:   llvm.return %[[USED]]
// CHECK-NEXT: ^[[NONE]]:
// CHECK-NEXT:   %[[END:.*]] = llvm.mlir.constant(-1 : i64)
// CHECK-NEXT:   llvm.return %[[END]]

module {
  func.func @main(%x: memref<32xf32>, %arena: memref<0xi8> {nn.arena}, %weights: memref<192xi8> {nn.weights}, %prepared: memref<128xi8> {nn.prepared}) attributes {nn.entry, nn.inputs = [tensor<32xf32>], nn.outputs = []} {
    return
  }
  func.func @prepare_0(%out: memref<32xf32> {nn.offset = 0 : i64, nn.weight = "made"}, %arena: memref<128xi8> {nn.arena}, %weights: memref<192xi8> {nn.weights}) attributes {nn.prepare = 0 : i64, nn.used_weights = 32 : i64} {
    return
  }
}
