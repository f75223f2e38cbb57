// Buffers that a call makes on its way are on a heap at the start of the arena; what the caller is to
// free is on C's heap.
// RUN: nn-opt --lower-to-llvm --split-input-file %s | filecheck %s

// CHECK-LABEL: llvm.func internal @main(
// CHECK-SAME:      i64, %[[HEAP:arg[0-9]+]]: !llvm.ptr) ->
// CHECK:         %[[CALL:.*]] = llvm.call @kernel(%{{.*}}, %{{.*}}, %[[HEAP]])
// CHECK:         %[[A:.*]] = llvm.extractvalue %[[CALL]][1]
// CHECK:         %[[RESULT:.*]] = llvm.call @nnc_heap_result(%[[HEAP]],
// CHECK:         llvm.call @use(%[[A]], %{{.*}}, %[[RESULT]], %{{.*}}) :
// CHECK:         llvm.call @nnc_heap_give(%[[HEAP]], %[[A]])
// CHECK:         %[[OTHER:.*]] = llvm.call @nnc_heap_result(%[[HEAP]],
// CHECK:         llvm.intr.memmove
func.func @main(%n: memref<?xf32>) -> (memref<?xf32>, memref<?xf32>) attributes {
    nn.entry, nn.inputs = [tensor<?xf32>], nn.outputs = [tensor<?xf32>, tensor<?xf32>]} {
  %c0 = arith.constant 0 : index
  %a = func.call @kernel(%n) : (memref<?xf32>) -> memref<?xf32>
  %d = memref.dim %a, %c0 : memref<?xf32>
  %y = memref.alloc(%d) : memref<?xf32>
  func.call @use(%a, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  memref.dealloc %a : memref<?xf32>
  // A function may return a block of either heap, so this one is copied.
  %b = func.call @kernel(%n) : (memref<?xf32>) -> memref<?xf32>
  return %y, %b : memref<?xf32>, memref<?xf32>
}

// CHECK-LABEL: llvm.func internal @kernel(
// CHECK-SAME:      %[[HEAP:arg[0-9]+]]: !llvm.ptr) ->
// CHECK:         llvm.call @nnc_heap_take(%[[HEAP]], %{{.*}})
func.func private @kernel(%x: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %y = memref.alloc(%n) : memref<?xf32>
  func.call @use(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  return %y : memref<?xf32>
}

// CHECK-LABEL: llvm.func internal @use(
// CHECK-SAME:      i64, %{{arg[0-9]+}}: !llvm.ptr {llvm.noundef}, %{{arg[0-9]+}}: i64) {
func.func private @use(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %y[%i] : memref<?xf32>
  }
  return
}

// CHECK-LABEL: llvm.func @nnc_run(
// CHECK-SAME:      %[[HEAP:arg2]]: !llvm.ptr,
// CHECK:         llvm.call @nnc_heap_start(%[[HEAP]])
// CHECK:         llvm.call @main({{.*}}%[[HEAP]])
// CHECK:         llvm.call @nnc_heap_end(%[[HEAP]])
