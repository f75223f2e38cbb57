// A function marked nn.entry gets a C function; the module keeps what the runtime must know.
// RUN: nn-opt --lower-to-llvm %s | filecheck %s

// CHECK:       module attributes {
// CHECK-SAME:    nn.arena_bytes = 768 : i64,
// CHECK-SAME:    nn.failures = ["{{.*}}: there is not enough memory for a tensor<?xf32>"], nn.heap_bytes = 512 : i64,
// CHECK-SAME:    nn.input_names = ["x"], nn.inputs = [tensor<?xf32>],
// CHECK-SAME:    nn.live_bytes = 256 : i64,
// CHECK-SAME:    nn.output_names = ["y"], nn.outputs = [tensor<?xf32>], nn.weights_bytes = 0 : i64
// CHECK:       llvm.func internal @main(%{{.*}}: !llvm.ptr {llvm.noundef}, %{{.*}}: i64,
// CHECK-SAME:      %{{.*}}: !llvm.ptr {llvm.noundef}, %[[HEAP:arg[0-9]+]]: !llvm.ptr) -> !llvm.struct<(i32, ptr, i64)>
func.func @main(%x: memref<?xf32>, %arena: memref<256xi8> {nn.arena}) -> memref<?xf32> attributes {
    nn.entry, nn.input_names = ["x"], nn.inputs = [tensor<?xf32>],
    nn.output_names = ["y"], nn.outputs = [tensor<?xf32>]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  // CHECK: llvm.call @nnc_heap_result(%[[HEAP]],
  %y = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %y : memref<?xf32> to memref<?xf32>
  return %y : memref<?xf32>
}

// CHECK-LABEL: llvm.func @nnc_run(
// CHECK-SAME:      %[[IN:[a-z0-9]+]]: !llvm.ptr, %[[OUT:[a-z0-9]+]]: !llvm.ptr, %[[ARENA:[a-z0-9]+]]: !llvm.ptr,
// What is NULL, or has other extents, is a status: here the arena, then arrays, shapes and data.
// CHECK:         %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK:         llvm.icmp "eq" %[[ARENA]], %[[NULL]] : !llvm.ptr
// CHECK:         llvm.cond_br %{{.*}}, ^[[BAD:.*]], ^[[GOOD:.*]]
// CHECK:         ^[[BAD]]:
// CHECK:         llvm.return %{{.*}} : i32
// CHECK:         %[[EXTENT:.*]] = llvm.load %{{.*}} -> i64
// CHECK:         llvm.icmp "slt" %[[EXTENT]], %{{.*}} : i64
// CHECK:         llvm.fcmp "ogt"
// CHECK:         %[[BEHIND:.*]] = llvm.getelementptr inbounds %[[ARENA]][512]
// CHECK:         %[[P:.*]] = llvm.getelementptr inbounds %[[IN]][0, 0]
// CHECK:         %[[DATA:.*]] = llvm.load %[[P]]
// CHECK:         %[[N:.*]] = llvm.load %{{.*}} -> i64
// CHECK:         %[[MADE:.*]] = llvm.call @main(%[[DATA]], %[[N]], %[[BEHIND]], %[[ARENA]])
// CHECK:         %[[STATUS:.*]] = llvm.extractvalue %[[MADE]][0]
// CHECK:         %[[ILL:.*]] = llvm.icmp "ne" %[[STATUS]], %{{.*}} : i32
// CHECK:         llvm.cond_br %[[ILL]], ^[[FAILURE:.*]], ^[[ON:.*]]
// CHECK:       ^[[FAILURE]]:
// CHECK:         %[[FAILED:.*]] = llvm.add %[[STATUS]], %{{.*}} : i32
// CHECK:         llvm.return %[[FAILED]] : i32
// CHECK:       ^[[ON]]:
// CHECK:         llvm.getelementptr inbounds %[[OUT]][0, 0]
// CHECK:         llvm.return %{{.*}} : i32
