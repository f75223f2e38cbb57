// outline-parallel makes the body of a parallel loop a function of a range of indices, takes
// constants along, passes other values, and hands the pool down from the caller. An iteration of 4
// operations makes pieces of 2048.
// RUN: nn-opt --outline-parallel %s | filecheck %s

// CHECK-LABEL: func.func private @scale_parallel_0
// CHECK-SAME:    (%[[POOL:.*]]: !llvm.ptr {nn.pool}, %[[BEGIN:.*]]: index, %[[END:.*]]: index,
// CHECK-SAME:    %[[A:.*]]: memref<64xf32> {llvm.noalias}, %[[S:.*]]: f32)
// CHECK-SAME:    attributes {nn.parallel_body}
// CHECK-DAG:     %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK:         scf.for %[[I:.*]] = %[[BEGIN]] to %[[END]] step %[[C1]] {
// CHECK-NEXT:      %[[X:.*]] = memref.load %[[A]][%[[I]]]
// CHECK-NEXT:      %[[Y:.*]] = arith.mulf %[[X]], %[[S]]
// CHECK-NEXT:      %[[Z:.*]] = arith.mulf %[[Y]], %[[HALF]]
// CHECK-NEXT:      memref.store %[[Z]], %[[A]][%[[I]]]

// CHECK-LABEL: func.func private @scale(
// CHECK-SAME:    %[[A:.*]]: memref<64xf32>, %[[S:.*]]: f32, %[[POOL:.*]]: !llvm.ptr {nn.pool})
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK:         call @scale_parallel_0(%[[POOL]], %{{.*}}, %{{.*}}, %[[A]], %[[S]]) {nn.parallel = 2048 : i64}
// CHECK-NOT:     scf.parallel
func.func private @scale(%a: memref<64xf32>, %s: f32) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %half = arith.constant 0.5 : f32
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    %x = memref.load %a[%i] : memref<64xf32>
    %y = arith.mulf %x, %s : f32
    %z = arith.mulf %y, %half : f32
    memref.store %z, %a[%i] : memref<64xf32>
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[A:.*]]: memref<64xf32>, %[[S:.*]]: f32, %[[POOL:.*]]: !llvm.ptr {nn.pool})
// CHECK-NEXT:    call @scale(%[[A]], %[[S]], %[[POOL]])
// CHECK-NEXT:    call @scale(%[[A]], %[[S]], %[[POOL]])
func.func @main(%a: memref<64xf32>, %s: f32) {
  call @scale(%a, %s) : (memref<64xf32>, f32) -> ()
  call @scale(%a, %s) : (memref<64xf32>, f32) -> ()
  return
}

// Who has no parallel loop keeps its type.
// CHECK-LABEL: func.func @other(
// CHECK-SAME:    %{{.*}}: f32) -> f32 {
func.func @other(%s: f32) -> f32 {
  return %s : f32
}
