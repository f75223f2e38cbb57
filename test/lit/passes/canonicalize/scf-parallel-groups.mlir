// A parallel loop of groups keeps one dimension, though it has one iteration, and the axes of those it
// keeps.
// RUN: nn-opt --canonicalize %s | filecheck %s

// CHECK-LABEL: func.func @one
// CHECK:         scf.parallel (%{{.*}}) = (%c0) to (%c1) step (%c1)
// CHECK:         } {mapping = [#gpu.block<y>], nn.threads = 64 : i64}
func.func @one(%x: memref<1x1xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %c1) step (%c1, %c1) {
    memref.store %v, %x[%i, %j] : memref<1x1xf32>
    scf.reduce
  } {mapping = [#gpu.block<y>, #gpu.block<x>], nn.threads = 64 : i64}
  return
}

// CHECK-LABEL: func.func @some
// CHECK:         scf.parallel (%{{.*}}) = (%c0) to (%c9) step (%c1)
// CHECK:         } {mapping = [#gpu.block<x>], nn.threads = 64 : i64}
func.func @some(%x: memref<1x9xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %c9) step (%c1, %c1) {
    memref.store %v, %x[%i, %j] : memref<1x9xf32>
    scf.reduce
  } {mapping = [#gpu.block<y>, #gpu.block<x>], nn.threads = 64 : i64}
  return
}
