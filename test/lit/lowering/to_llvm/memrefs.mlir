// Static memrefs become bare pointers, others a pointer and what their type does not say; the
// constant part of an address comes last, the part of an outer index outside the inner loop.
// RUN: nn-opt --lower-to-llvm %s | filecheck %s

// CHECK-LABEL: llvm.func @static(
// CHECK-SAME:      %[[M:.*]]: !llvm.ptr {llvm.noundef}, %[[I:.*]]: i64) -> f32
// CHECK:         %[[FOUR:.*]] = llvm.mlir.constant(4 : i64)
// CHECK:         %[[ROW:.*]] = llvm.mul %[[I]], %[[FOUR]] : i64
// CHECK:         %[[P:.*]] = llvm.getelementptr %[[M]][%[[ROW]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK:         %[[Q:.*]] = llvm.getelementptr %[[P]][6] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK:         llvm.load %[[Q]] {alignment = 4 : i64} : !llvm.ptr -> f32
func.func @static(%m: memref<8x4xf32>, %i: index) -> f32 {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %j = arith.addi %i, %c1 : index
  %x = memref.load %m[%j, %c2] : memref<8x4xf32>
  return %x : f32
}

// CHECK-LABEL: llvm.func @dynamic(
// CHECK-SAME:      !llvm.ptr {llvm.noundef}, %[[N:.*]]: i64, %[[K:.*]]: i64) -> i64
// CHECK:         llvm.return %[[K]] : i64
func.func @dynamic(%m: memref<?x4x?xf32>) -> index {
  %c2 = arith.constant 2 : index
  %n = memref.dim %m, %c2 : memref<?x4x?xf32>
  return %n : index
}

// CHECK-LABEL: llvm.func @strided(
// CHECK-SAME:      !llvm.ptr {llvm.noundef}, %[[S:.*]]: i64)
func.func @strided(%m: memref<4x4xf32, strided<[?, 1], offset: ?>>) {
  return
}

// CHECK-LABEL: llvm.func @loops(
// CHECK:         llvm.br ^[[OUTER:bb[0-9]+]](
// CHECK:       ^[[OUTER]](%[[I:.*]]: i64):
// CHECK:         llvm.mul %[[I]]
// CHECK:         %[[ROW:.*]] = llvm.getelementptr inbounds|nuw
// CHECK:       ^{{.*}}(%[[J:.*]]: i64):
// CHECK-NEXT:    llvm.getelementptr inbounds|nuw %[[ROW]][%[[J]]]
// CHECK-NEXT:    llvm.store
// CHECK:         llvm.add %[[J]], %{{.*}} overflow<nsw>
func.func @loops(%m: memref<8x4xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      memref.store %x, %m[%i, %j] : memref<8x4xf32>
    }
  }
  return
}

// CHECK-LABEL: llvm.func internal @kernel(
// CHECK-SAME:      !llvm.ptr {llvm.noalias, llvm.noundef}, %{{.*}}: !llvm.ptr {llvm.noundef})
// CHECK-SAME:      no_inline
func.func private @kernel(%a: memref<4xf32>, %b: memref<4xf32> {nn.in_place}) attributes {nn.kernel} {
  return
}
