// Loops of more iterations than a machine integer counts stay as they are.
// RUN: nn-opt --canonicalize %s | filecheck %s

// CHECK-LABEL: func.func @f
// CHECK: scf.parallel
// CHECK: scf.for
func.func @f(%m: memref<4xf32>, %x: f32) {
  %low = arith.constant -9223372036854775808 : index
  %high = arith.constant 9223372036854775807 : index
  %s = arith.constant 1 : index
  %z = arith.constant 0 : index
  scf.parallel (%i) = (%low) to (%high) step (%s) {
    memref.store %x, %m[%z] : memref<4xf32>
  }
  scf.for %i = %low to %high step %s {
    memref.store %x, %m[%z] : memref<4xf32>
  }
  return
}
