// RUN: nn-opt --plan-memory %s | filecheck %s
// RUN: not nn-opt --plan-memory --describe-entry %s 2>&1 | filecheck %s --check-prefix=ENTRY

// Each memory space has a plan of its own: what is live at once in one does not keep the other's
// buffers apart, and scratch of a callee is a part of the arena of its space. A caller that has one
// memory only is told.

// ENTRY: error: the entry needs memory of space 3 : i64, which its caller has not

// CHECK-LABEL: func.func private @k
// CHECK-SAME: (%arg0: memref<4xf32>, %arg1: memref<4xf32>, %arg2: memref<64xi8> {nn.scratch}, %arg3: memref<128xi8, 3> {nn.scratch})
func.func private @k(%a: memref<4xf32>, %b: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  // CHECK-DAG: memref.view %arg2[{{.*}}] : memref<64xi8> to memref<4xf32>
  // CHECK-DAG: memref.view %arg3[{{.*}}] : memref<128xi8, 3> to memref<4xf32, 3>
  %t = memref.alloc() : memref<4xf32>
  %s = memref.alloc() : memref<4xf32, 3>
  %u = memref.alloc() : memref<4xf32, 3>
  %v = memref.load %a[%c0] : memref<4xf32>
  memref.store %v, %t[%c0] : memref<4xf32>
  memref.store %v, %s[%c0] : memref<4xf32, 3>
  memref.store %v, %u[%c0] : memref<4xf32, 3>
  %x = memref.load %s[%c0] : memref<4xf32, 3>
  %y = memref.load %u[%c0] : memref<4xf32, 3>
  %z = memref.load %t[%c0] : memref<4xf32>
  %xy = arith.addf %x, %y : f32
  %xyz = arith.addf %xy, %z : f32
  memref.store %xyz, %b[%c0] : memref<4xf32>
  memref.dealloc %t : memref<4xf32>
  memref.dealloc %s : memref<4xf32, 3>
  memref.dealloc %u : memref<4xf32, 3>
  return
}

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: memref<4xf32>, %arg1: memref<4xf32>, %arg2: memref<64xi8> {nn.arena}, %arg3: memref<192xi8, 3> {nn.arena}
// CHECK-SAME: nn.live_bytes = 64 : i64
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {
  nn.entry, nn.inputs = [tensor<4xf32>], nn.outputs = [tensor<4xf32>]
} {
  %c0 = arith.constant 0 : index
  // CHECK: %[[OURS:.*]] = memref.view %arg3[{{.*}}] : memref<192xi8, 3> to memref<4xf32, 3>
  %t = memref.alloc() : memref<4xf32, 3>
  %v = memref.load %x[%c0] : memref<4xf32>
  memref.store %v, %t[%c0] : memref<4xf32, 3>
  // CHECK: %[[SCRATCH:.*]] = memref.view %arg2[{{.*}}] : memref<64xi8> to memref<64xi8>
  // CHECK: %[[SHARED:.*]] = memref.view %arg3[{{.*}}] : memref<192xi8, 3> to memref<128xi8, 3>
  // CHECK: call @k(%arg0, %arg1, %[[SCRATCH]], %[[SHARED]])
  func.call @k(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  %w = memref.load %t[%c0] : memref<4xf32, 3>
  memref.dealloc %t : memref<4xf32, 3>
  // Live when nothing else is: it takes the place of what is not needed any more.
  // CHECK: memref.view %arg3[%{{.*}}][] : memref<192xi8, 3> to memref<4xf32, 3>
  %u = memref.alloc() : memref<4xf32, 3>
  memref.store %w, %u[%c0] : memref<4xf32, 3>
  memref.dealloc %u : memref<4xf32, 3>
  return
}
