// What an unknown extent leaves of a vectorized loop: whole vectors, then ever smaller ones where the
// machine has no masks; with masks, whole vectors of which the last one is masked.
// RUN: nn-opt --apply-schedules='target=cortex-a76' --canonicalize --cse %s | filecheck %s
// RUN: nn-opt --apply-schedules='target=avx512' --canonicalize --cse %s | filecheck %s --check-prefix=MASKS

// CHECK-LABEL: func.func @negate
// CHECK:         %[[N:.*]] = memref.dim %arg0, %c0
// CHECK:         scf.for %{{.*}} = %c0 to %[[A:.*]] step %c16
// CHECK:           vector.transfer_read {{.*}} {in_bounds = [true]} : memref<?xf32>, vector<16xf32>
// CHECK:         scf.for %{{.*}} = %[[A]] to %[[B:.*]] step %c4
// CHECK:           vector.transfer_read {{.*}} {in_bounds = [true]} : memref<?xf32>, vector<4xf32>
// CHECK:         scf.for %{{.*}} = %[[B]] to %[[C:.*]] step %c2
// CHECK:           vector.transfer_read {{.*}} {in_bounds = [true]} : memref<?xf32>, vector<2xf32>
// CHECK:         scf.for %{{.*}} = %[[C]] to %[[N]] step %c1
// CHECK:           vector.transfer_read {{.*}} {in_bounds = [true]} : memref<?xf32>, vector<1xf32>
// CHECK-NOT:     scf.for
// MASKS-LABEL: func.func @negate
// MASKS:         %[[N:.*]] = memref.dim %arg0, %c0
// MASKS:         scf.for %{{.*}} = %c0 to %[[A:.*]] step %c16
// MASKS:         scf.for %[[I:.*]] = %[[A]] to %[[N]] step %c4
// MASKS:           %[[LEFT:.*]] = arith.subi %[[N]], %[[I]]
// MASKS:           %[[COUNT:.*]] = arith.minsi %[[LEFT]], %c4
// MASKS:           vector.create_mask %[[COUNT]] : vector<4xi1>
// MASKS-NOT:     scf.for
func.func @negate(%x: memref<?xf32>, %y: memref<?xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.negf %a : f32
    linalg.yield %c : f32
  }
  return
}

schedule.for @negate {
^bb0(%negate: !schedule.stage):
  %i = schedule.loops 1 of %negate
  %io, %ii = schedule.split %i by 16
  %iio, %iii = schedule.split %ii by 4
  schedule.unroll %iio
  schedule.vectorize %iii
}
