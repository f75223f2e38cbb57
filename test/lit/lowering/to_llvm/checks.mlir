// A check that fails ends the run: buffers are freed, callers return the number that they are given,
// counted on from their own checks, and nnc_run turns it into a status. Here all buffers are on C's
// heap: one has an alignment that the heap of a call does not know.
// RUN: nn-opt --lower-to-llvm --split-input-file %s | filecheck %s

// CHECK:       module attributes {
// CHECK-SAME:    nn.failures = ["node 'first' (Add): negative",
// CHECK-SAME:      "node 'first' (Add): there is not enough memory for a tensor<?xf32>",
// CHECK-SAME:      "node 'second' (Add): negative",
// CHECK-SAME:      "node 'second' (Add): there is not enough memory for a tensor<?xf32>"],

// CHECK-LABEL: llvm.func internal @main(
// CHECK-SAME:      -> !llvm.struct<(i32, ptr, i64)>
// CHECK:         %[[A:.*]] = llvm.call @kernel({{.*}} -> !llvm.struct<(i32, ptr, i64)>
// CHECK:         %[[STATUS:.*]] = llvm.extractvalue %[[A]][0]
// CHECK:         %[[BUFFER:.*]] = llvm.extractvalue %[[A]][1]
// CHECK:         %[[OK:.*]] = llvm.icmp "eq" %[[STATUS]], %{{.*}} : i32
// CHECK:         llvm.cond_br %[[OK]] weights([1048576, 1]), ^[[ON:bb[0-9]+]], ^[[FAILED:bb[0-9]+]]
// CHECK:       ^[[FAILED]]:
// CHECK-NEXT:    llvm.br ^[[RETURN:bb[0-9]+]](%[[STATUS]] : i32)
// CHECK:       ^[[ON]]:
// CHECK:         llvm.call @kernel(
// CHECK:         %[[SECOND:.*]] = llvm.extractvalue %{{.*}}[0]
// CHECK:       ^[[RETURN]](%[[NUMBER:.*]]: i32):
// CHECK:         %[[RESULT:.*]] = llvm.insertvalue %[[NUMBER]], %{{.*}}[0]
// CHECK:         llvm.return %[[RESULT]]
// CHECK:         %[[LATER:.*]] = llvm.add %[[SECOND]], %{{.*}} : i32
// CHECK:         llvm.br ^[[FREE:bb[0-9]+]](%[[LATER]] : i32)
// CHECK:       ^[[FREE]](%[[NUMBER:.*]]: i32):
// CHECK-NEXT:    llvm.call @free(%[[BUFFER]])
// CHECK-NEXT:    llvm.br ^[[RETURN]](%[[NUMBER]] : i32)
func.func @main(%n: memref<?xf32>) -> memref<?xf32> attributes {
    nn.entry, nn.inputs = [tensor<?xf32>], nn.outputs = [tensor<?xf32>]} {
  %a = func.call @kernel(%n) : (memref<?xf32>) -> memref<?xf32> loc("first (Add)")
  %b = func.call @kernel(%a) : (memref<?xf32>) -> memref<?xf32> loc("second (Add)")
  memref.dealloc %a : memref<?xf32>
  return %b : memref<?xf32>
}

// CHECK-LABEL: llvm.func internal @kernel(
// CHECK:         llvm.cond_br %{{.*}} weights([1048576, 1]),
// CHECK:         llvm.intr.umax
// CHECK:         llvm.icmp "ult" %{{.*}} : i128
// CHECK:         llvm.call @aligned_alloc(
// CHECK:         llvm.icmp "ne" %{{.*}} : !llvm.ptr
func.func private @kernel(%x: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %positive = arith.cmpi sge, %n, %c0 : index
  cf.assert %positive, "negative" loc("first (Add)")
  %y = memref.alloc(%n) {alignment = 128 : i64} : memref<?xf32> loc("first (Add)")
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %y[%i] : memref<?xf32>
  }
  return %y : memref<?xf32>
} loc("first (Add)")

// CHECK-LABEL: llvm.func @nnc_run(
// CHECK:         llvm.mlir.constant(15 : i32)
// CHECK:       llvm.mlir.global internal constant @nnc.failure_texts("node 'first' (Add): negative\00
// CHECK-LABEL: llvm.func @nnc_failure(%{{.*}}: i32) -> !llvm.ptr

// -----

// Where nobody asks for a status, the process ends, as after upstream's lowering.
// CHECK-LABEL: llvm.func @f(%{{.*}}: i1) {
// CHECK:         llvm.call @abort()
// CHECK-NEXT:    llvm.unreachable
func.func @f(%c: i1) {
  cf.assert %c, "false"
  return
}
