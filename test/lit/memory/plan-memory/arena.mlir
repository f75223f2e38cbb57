// Buffers that are never alive together share bytes of the arena; kernels get a part as scratch.
// RUN: nn-opt --plan-memory %s | filecheck %s

// CHECK: module attributes {nn.weights = {w = {data = dense_resource<w> : tensor<16xf32>, offset = 0 : i64}}}
// CHECK-NOT: memref.global
memref.global "private" constant @w : memref<16xf32> = dense_resource<w>

// CHECK: func.func private @kernel(
// CHECK-SAME: %[[SCRATCH:[a-z0-9]*]]: memref<64xi8> {nn.scratch})
// CHECK: memref.view %[[SCRATCH]][%{{.*}}][] : memref<64xi8> to memref<16xf32>
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.dealloc
func.func private @kernel(%a: memref<16xf32>, %b: memref<16xf32>, %out: memref<16xf32>) {
  %t = memref.alloc() : memref<16xf32>
  linalg.map { arith.mulf } ins(%a, %b : memref<16xf32>, memref<16xf32>) outs(%t : memref<16xf32>)
  linalg.map { math.sqrt } ins(%t : memref<16xf32>) outs(%out : memref<16xf32>)
  memref.dealloc %t : memref<16xf32>
  return
}

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: memref<16xf32>, %[[Y:.*]]: memref<16xf32>, %[[ARENA:.*]]: memref<192xi8> {nn.arena}, %[[WEIGHTS:.*]]: memref<64xi8> {nn.weights})
// CHECK: memref.view %[[WEIGHTS]]
// CHECK: %[[A:.*]] = memref.view %[[ARENA]][%{{.*}}][] : memref<192xi8> to memref<16xf32>
// CHECK: %[[S:.*]] = memref.view %[[ARENA]][%{{.*}}][] : memref<192xi8> to memref<64xi8>
// CHECK: call @kernel(%[[X]], %{{.*}}, %[[A]], %[[S]])
// CHECK-NOT: memref.dealloc
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) attributes {nn.entry} {
  %w = memref.get_global @w : memref<16xf32>
  %a = memref.alloc() : memref<16xf32>
  call @kernel(%x, %w, %a) : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  %b = memref.alloc() : memref<16xf32>
  call @kernel(%a, %w, %b) : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  memref.dealloc %a : memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  call @kernel(%b, %w, %c) : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  memref.dealloc %b : memref<16xf32>
  call @kernel(%c, %w, %y) : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  memref.dealloc %c : memref<16xf32>
  return
}
