// A result lies where an operand was that dies there; marks that nothing makes use of are taken away.
// RUN: nn-opt --mark-in-place --plan-memory %s | filecheck %s

// CHECK: func.func private @add(
// CHECK-SAME: %{{.*}}: memref<16xf32> {nn.in_place}, %{{.*}}: memref<16xf32>, %{{.*}}: memref<16xf32> {nn.in_place = array<i64: 0>})
func.func private @add(%a: memref<16xf32>, %b: memref<16xf32>, %out: memref<16xf32>) attributes {nn.kernel} {
  linalg.map { arith.addf } ins(%a, %b : memref<16xf32>, memref<16xf32>) outs(%out : memref<16xf32>)
  return
}

// CHECK: func.func private @abs(
// CHECK-NOT: nn.in_place
// CHECK: func.func @main
func.func private @abs(%a: memref<16xf32>, %out: memref<16xf32>) attributes {nn.kernel} {
  linalg.map { math.absf } ins(%a : memref<16xf32>) outs(%out : memref<16xf32>)
  return
}

// %a is needed again after @abs has read it, %c is given twice, %d is followed by a result of the model.
// CHECK-SAME: %[[ARENA:[a-z0-9]*]]: memref<192xi8> {nn.arena}
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) attributes {nn.entry} {
  // CHECK: %[[A:.*]] = memref.view %[[ARENA]][%[[FIRST:.*]]][]
  %a = memref.alloc() : memref<16xf32>
  call @add(%x, %x, %a) : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  // CHECK: %[[B:.*]] = memref.view %[[ARENA]][%[[SECOND:.*]]][]
  %b = memref.alloc() : memref<16xf32>
  call @abs(%a, %b) : (memref<16xf32>, memref<16xf32>) -> ()
  // CHECK: %[[C:.*]] = memref.view %[[ARENA]][%[[FIRST]]][]
  // CHECK: call @add(%[[A]], %[[B]], %[[C]])
  %c = memref.alloc() : memref<16xf32>
  call @add(%a, %b, %c) : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  // CHECK: %[[D:.*]] = memref.view %[[ARENA]][%c128][]
  // CHECK: call @add(%[[C]], %[[C]], %[[D]])
  %d = memref.alloc() : memref<16xf32>
  call @add(%c, %c, %d) : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  // CHECK: call @add(%[[D]], %[[B]], %{{.*}})
  call @add(%d, %b, %y) : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  return
}
