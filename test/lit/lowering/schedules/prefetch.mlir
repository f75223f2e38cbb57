// Each vector of the right-hand side that is read asks for the one 512 elements further, once
// for all rows; beyond the end of the buffer, too. What is known already asks for nothing.
// RUN: nn-opt --apply-schedules='target=avx512' --lower-tiles --forward-stores --canonicalize --cse %s | filecheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func private @matmul
// CHECK:         scf.for %[[K:.*]] =
// CHECK:           vector.load
// CHECK:           memref.prefetch %{{.*}}[%{{.*}}], read, locality<2>, data
// CHECK-COUNT-2:   math.fma
// CHECK-NOT:       memref.prefetch
// CHECK:           scf.yield
func.func private @matmul(%a: memref<2x32xf32>, %b: memref<32x16xf32>, %c: memref<2x16xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<2x32xf32>, memref<32x16xf32>) outs(%c : memref<2x16xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

schedule.for @matmul {
^bb0(%matmul: !schedule.stage):
  %m, %n, %k = schedule.loops 3 of %matmul
  schedule.prefetch 1 of %matmul ahead 512
  schedule.reorder %k, %m, %n
  schedule.unroll %m
  schedule.vectorize %n
  schedule.accumulate %k
}
