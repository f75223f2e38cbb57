// Unrolled splits within each other are one axis, as long as what they walk over: five elements,
// by 4 and again by 8, are a vector of 5. Lanes that are not the machine's are noted.
// RUN: nn-opt --apply-schedules='target=avx512' --split-input-file %s | filecheck %s
// RUN: nn-opt --apply-schedules='target=avx512' --lower-tiles --split-input-file %s | filecheck %s --check-prefix=VECTORS

// CHECK-LABEL: func.func @five
// CHECK:         vector.transfer_read %arg0[%c0]{{.*}} : memref<5xf32>, vector<5xf32>
// CHECK:         vector.transfer_write {{.*}} : vector<5xf32>, memref<5xf32>
// VECTORS-LABEL: func.func @five
// VECTORS:         vector.load %arg0[%c0] : memref<5xf32>, vector<4xf32>
// VECTORS:         memref.load %arg0[%c4]
func.func @five(%x: memref<5xf32>, %y: memref<5xf32>) attributes {nn.kernel} {
  linalg.copy ins(%x : memref<5xf32>) outs(%y : memref<5xf32>)
  return
}

schedule.for @five {
^bb0(%copy: !schedule.stage):
  %i = schedule.loops 1 of %copy
  %io, %ii = schedule.split %i by 4
  %iio, %iii = schedule.split %ii by 8
  schedule.unroll %io
  schedule.unroll %iio
  schedule.vectorize %iii
}

// -----

// CHECK-LABEL: func.func @narrow
// CHECK:         vector.transfer_read %arg0[%c0]{{.*}}schedule.lanes = 4 : i64{{.*}} : memref<32xf32>, vector<32xf32>
// VECTORS-LABEL: func.func @narrow
// VECTORS-COUNT-8: vector.load {{.*}} : memref<32xf32>, vector<4xf32>
func.func @narrow(%x: memref<32xf32>, %y: memref<32xf32>) attributes {nn.kernel} {
  linalg.copy ins(%x : memref<32xf32>) outs(%y : memref<32xf32>)
  return
}

schedule.for @narrow {
^bb0(%copy: !schedule.stage):
  %i = schedule.loops 1 of %copy
  %io, %ii = schedule.split %i by 4
  schedule.unroll %io
  schedule.vectorize %ii
}
