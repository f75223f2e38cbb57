// Lanes of a reduction are partial results, and so are its unrolled copies: the loop carries them
// all, in one vector. Where the rest does not fill them, a mask keeps the others as they are.
// RUN: nn-opt --apply-schedules='machine=avx512' %s | filecheck %s

// CHECK-LABEL: func.func @rows
// CHECK:         scf.for %[[R:[^ ]*]] =
// CHECK:           %[[START:.*]] = memref.load %arg1[%[[R]]]
// CHECK:           %[[PARTS:.*]] = scf.for %[[C:[^ ]*]] = {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (vector<32xf32>)
// CHECK:             %[[X:.*]] = vector.transfer_read %arg0[%[[R]], %[[C]]]{{.*}}, vector<32xf32>
// CHECK:             arith.addf %[[ACC]], %[[X]] : vector<32xf32>
// CHECK:           %[[REST:.*]] = vector.transfer_read {{.*}}, %[[MASK:.*]] : memref<6x69xf32>, vector<32xf32>
// CHECK:           %[[MORE:.*]] = arith.addf %[[PARTS]], %[[REST]]
// CHECK:           %[[ALL:.*]] = arith.select %[[MASK]], %[[MORE]], %[[PARTS]]
// CHECK:           %[[SUM:.*]] = vector.multi_reduction <add>, %[[ALL]], %[[START]] [0] : vector<32xf32> to f32
// CHECK:           memref.store %[[SUM]], %arg1[%[[R]]]
func.func @rows(%x: memref<6x69xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x69xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%p: f32, %acc: f32):
    %0 = arith.addf %acc, %p : f32
    linalg.yield %0 : f32
  }
  return
}

schedule.for @rows {
^bb0(%sum: !schedule.stage):
  %r, %c = schedule.loops 2 of %sum
  %co, %ci = schedule.split %c by 32
  %cu, %cv = schedule.split %ci by 16
  schedule.unroll partial %cu
  schedule.vectorize %cv
  schedule.accumulate %co
}
