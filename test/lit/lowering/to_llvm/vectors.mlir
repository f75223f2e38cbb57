// Vectors of two dimensions become rows; masks and reductions become intrinsics.
// RUN: nn-opt --lower-tiles='target=avx2' --lower-to-llvm %s | filecheck %s

// CHECK-LABEL: llvm.func @rows(
// CHECK:         %[[P:.*]] = llvm.getelementptr inbounds|nuw %[[M:.*]][8]
// CHECK:         %[[A:.*]] = llvm.load %[[M]] {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK:         %[[B:.*]] = llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK:         %[[C:.*]] = llvm.intr.fma(%[[A]], %[[A]], %[[A]])
// CHECK:         %[[D:.*]] = llvm.intr.fma(%[[B]], %[[B]], %[[B]])
// CHECK:         llvm.store %[[C]], %[[M]]
// CHECK:         llvm.store %[[D]], %[[P]]
func.func @rows(%m: memref<2x8xf32>) {
  %c0 = arith.constant 0 : index
  %v = vector.load %m[%c0, %c0] : memref<2x8xf32>, vector<2x8xf32>
  %w = vector.fma %v, %v, %v : vector<2x8xf32>
  vector.store %w, %m[%c0, %c0] : memref<2x8xf32>, vector<2x8xf32>
  return
}

// CHECK-LABEL: llvm.func @tail(
// CHECK:         %[[MASK:.*]] = llvm.icmp "ult" %{{.*}}, %{{.*}} : vector<8xi32>
// CHECK:         %[[V:.*]] = llvm.intr.masked.load %{{.*}}, %[[MASK]]
// CHECK:         "llvm.intr.vector.reduce.fadd"(%{{.*}}, %[[V]]) <{fastmathFlags = #llvm.fastmath<reassoc>}>
func.func @tail(%m: memref<?xf32>, %i: index) -> f32 {
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %m[%i], %z : memref<?xf32>, vector<8xf32>
  %s = vector.reduction <add>, %v fastmath<reassoc> : vector<8xf32> into f32
  return %s : f32
}
