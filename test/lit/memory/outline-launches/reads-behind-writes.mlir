// A read behind a write of the same launch stays behind it, though nothing behind writes there again.
// RUN: nn-opt --outline-launches %s | filecheck %s

// CHECK:         gpu.func @shift_0
// CHECK:           vector.transfer_write %[[OLD:.*]], %{{.*}}[%c0]
// CHECK:           vector.transfer_read %{{.*}}[%c1]
// CHECK:           vector.transfer_write
// CHECK:           gpu.return
func.func private @shift(%x: memref<5xf32>, %y: memref<4xf32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = ub.poison : f32
  %t = memref.alloca() : memref<5xf32>
  %v = vector.transfer_read %x[%c0], %p {in_bounds = [true]} : memref<5xf32>, vector<5xf32>
  vector.transfer_write %v, %t[%c0] {in_bounds = [true]} : vector<5xf32>, memref<5xf32>
  %w = vector.transfer_read %t[%c1], %p {in_bounds = [true]} : memref<5xf32>, vector<4xf32>
  vector.transfer_write %w, %y[%c0] {in_bounds = [true]} : vector<4xf32>, memref<4xf32>
  return
}
