// A product with bias and ReLU is loops over tiles: one contraction a step, results carried by the
// loop over the reduction, and what follows it on the same tile. What is left of the columns
// is written again for its own size.
// RUN: nn-opt --apply-schedules='machine=avx512' %s | filecheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#row = affine_map<(m, n) -> (n)>
#all = affine_map<(m, n) -> (m, n)>

// CHECK-LABEL: func.func @product
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<4x32xf32>
// CHECK:         scf.parallel (%[[M:.*]]) =
// CHECK:           %[[SUM:.*]] = scf.for %[[K:[^ ]*]] = {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (vector<4x32xf32>)
// CHECK:             %[[A:.*]] = vector.transfer_read %arg0[%[[M]], %[[K]]]{{.*}} : memref<8x16xf32>, vector<4x1xf32>
// CHECK:             %[[B:.*]] = vector.transfer_read %arg1[%[[K]], %{{.*}}]{{.*}} : memref<16x40xf32>, vector<1x32xf32>
// CHECK:             vector.contract {{.*}} %[[A]], %[[B]], %[[ACC]] : vector<4x1xf32>, vector<1x32xf32> into vector<4x32xf32>
// CHECK:           %[[BIAS:.*]] = vector.transfer_read %arg2[%{{.*}}]{{.*}} : memref<40xf32>, vector<32xf32>
// CHECK:           %[[WIDE:.*]] = vector.broadcast %[[BIAS]] : vector<32xf32> to vector<4x32xf32>
// CHECK:           %[[ADDED:.*]] = arith.addf %[[SUM]], %[[WIDE]] : vector<4x32xf32>
// CHECK:           %[[OUT:.*]] = arith.maximumf %[[ADDED]], %[[ZERO]]
// CHECK:           scf.for {{.*}} -> (vector<4x8xf32>)
// CHECK:           vector.transfer_write %[[OUT]], %arg3[%[[M]], %{{.*}}]
// CHECK-NOT:     memref.alloc
func.func @product(%x: memref<8x16xf32>, %w: memref<16x40xf32>, %bias: memref<40xf32>, %y: memref<8x40xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<8x40xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<8x40xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<8x16xf32>, memref<16x40xf32>) outs(%sum : memref<8x40xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%sum, %bias : memref<8x40xf32>, memref<40xf32>) outs(%y : memref<8x40xf32>) {
  ^bb0(%p: f32, %q: f32, %old: f32):
    %0 = arith.addf %p, %q : f32
    %1 = arith.maximumf %0, %zero : f32
    linalg.yield %1 : f32
  }
  memref.dealloc %sum : memref<8x40xf32>
  return
}

schedule.for @product {
^bb0(%fill: !schedule.stage, %matmul: !schedule.stage, %relu: !schedule.stage):
  %m, %n, %k = schedule.loops 3 of %matmul
  %mo, %mi = schedule.split %m by 4
  %no, %ni = schedule.split %n by 32
  %nu, %nv = schedule.split %ni by 16
  schedule.reorder %mo, %no, %k, %mi, %nu, %nv
  schedule.unroll %mi
  schedule.unroll %nu
  schedule.vectorize %nv
  schedule.accumulate %k
  schedule.parallel %mo
  schedule.fuse %fill at %no
  schedule.fuse %relu at %no
}
