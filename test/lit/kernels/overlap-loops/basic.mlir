// overlap-loops puts loops that do not depend on each other into the cases of a switch in a parallel
// loop, with the checks of what they give. What needs a loop comes behind all of them, the rest before.
// RUN: nn-opt --overlap-loops %s | filecheck %s
// RUN: nn-opt --overlap-loops --plan-memory %s | filecheck %s --check-prefix=PLAN
// RUN: nn-opt --overlap-loops --outline-parallel %s | filecheck %s --check-prefix=PIECES

module attributes {nnc.target = {name = "x86-64-v3", machine = {cores = 2 : i64}}} {
func.func private @step(%w: memref<512x512xf32>, %x: memref<512xf32>, %y: memref<512xf32>) attributes {nn.kernel} {
  %t = memref.alloc() : memref<512xf32>
  linalg.matvec ins(%w, %x : memref<512x512xf32>, memref<512xf32>) outs(%t : memref<512xf32>)
  linalg.copy ins(%t : memref<512xf32>) outs(%y : memref<512xf32>)
  memref.dealloc %t : memref<512xf32>
  return
}

// CHECK-LABEL: func.func @main(
// CHECK: %[[A:.*]] = memref.alloc() : memref<512xf32>
// CHECK: %[[B:.*]] = memref.alloc() : memref<512xf32>
// CHECK: memref.copy %{{.*}}, %[[B]]
// CHECK: scf.parallel (%[[I:.*]]) = (%{{.*}}) to (%{{.*}}) step (%{{.*}}) {
// CHECK-NEXT: scf.index_switch %[[I]]
// CHECK-NEXT: case 0 {
// CHECK-NEXT: %[[N:.*]] = scf.while
// CHECK: func.call @step(%{{.*}}, %[[A]], %[[A]])
// CHECK: %[[OK:.*]] = arith.cmpi eq, %[[N]]
// CHECK-NEXT: cf.assert %[[OK]]
// CHECK-NEXT: scf.yield
// CHECK: default {
// CHECK-NEXT: scf.while
// CHECK: func.call @step(%{{.*}}, %[[B]], %[[B]])
// CHECK: scf.reduce
// CHECK-NEXT: }
// CHECK-NEXT: memref.copy %[[A]], %{{.*}}
// CHECK-NEXT: memref.dealloc %[[A]]
// CHECK-NEXT: memref.copy %[[B]], %{{.*}}
// CHECK-NEXT: memref.dealloc %[[B]]

// Each loop has scratch memory of its own.
// PLAN-LABEL: func.func @main(
// PLAN: case 0 {
// PLAN: %[[ONE:.*]] = memref.view %{{.*}}[%[[FIRST:.*]]][] : memref<8192xi8> to memref<2048xi8>
// PLAN-NEXT: func.call @step(%{{.*}}, %[[ONE]])
// PLAN-NOT: memref.view %{{.*}}[%[[FIRST]]]
// PLAN: default {
// PLAN-NOT: memref.view %{{.*}}[%[[FIRST]]]
// PLAN: return

// A thread takes one loop at a time.
// PIECES: call @main_parallel_0({{.*}}) {nn.parallel = 1 : i64}
func.func @main(%w: memref<512x512xf32>, %x: memref<512xf32>, %y: memref<512xf32>, %z: memref<512xf32>) attributes {nn.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %a = memref.alloc() : memref<512xf32>
  memref.copy %x, %a : memref<512xf32> to memref<512xf32>
  %n = scf.while (%i = %c0) : (index) -> index {
    %go = arith.cmpi slt, %i, %c64 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    func.call @step(%w, %a, %a) : (memref<512x512xf32>, memref<512xf32>, memref<512xf32>) -> ()
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  %ok = arith.cmpi eq, %n, %c64 : index
  cf.assert %ok, "the loop ends before the number of iterations that it says"
  memref.copy %a, %y : memref<512xf32> to memref<512xf32>
  memref.dealloc %a : memref<512xf32>
  %b = memref.alloc() : memref<512xf32>
  memref.copy %x, %b : memref<512xf32> to memref<512xf32>
  %m = scf.while (%i = %c0) : (index) -> index {
    %go = arith.cmpi slt, %i, %c64 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    func.call @step(%w, %b, %b) : (memref<512x512xf32>, memref<512xf32>, memref<512xf32>) -> ()
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  memref.copy %b, %z : memref<512xf32> to memref<512xf32>
  memref.dealloc %b : memref<512xf32>
  return
}
}
