// A schedule written by hand: register tiles of 2 rows times 2 vectors, the initial value and
// the activation on the tile, one store for each result and no temporary buffer.
// RUN: nn-opt --apply-schedules='target=avx2' --lower-tiles --forward-stores --canonicalize --cse %s | filecheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// CHECK-LABEL: func.func private @matmul_relu
// CHECK-NOT:     memref.alloc
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK:         scf.parallel (%[[M:.*]]) =
// CHECK:           scf.for %[[N:.*]] =
// CHECK:             %[[ACC:.*]]:4 = scf.for {{.*}} iter_args({{.*}} = %[[ZERO]], {{.*}} = %[[ZERO]], {{.*}} = %[[ZERO]], {{.*}} = %[[ZERO]])
// CHECK-COUNT-4:       math.fma {{.*}} : vector<8xf32>
// CHECK:               scf.yield
// CHECK:             arith.maximumf %[[ACC]]#0, %[[ZERO]]
// CHECK:             arith.maximumf %[[ACC]]#3, %[[ZERO]]
// CHECK-COUNT-4:     vector.store
// CHECK-NOT:         vector.store
// CHECK:             scf.reduce
func.func private @matmul_relu(%a: memref<8x32xf32>, %b: memref<32x48xf32>, %out: memref<8x48xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<8x48xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<8x48xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<8x32xf32>, memref<32x48xf32>) outs(%t : memref<8x48xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : memref<8x48xf32>) outs(%out : memref<8x48xf32>) {
  ^bb0(%x: f32, %o: f32):
    %r = arith.maximumf %x, %zero : f32
    linalg.yield %r : f32
  }
  memref.dealloc %t : memref<8x48xf32>
  return
}

schedule.for @matmul_relu {
^bb0(%fill: !schedule.stage, %matmul: !schedule.stage, %relu: !schedule.stage):
  %m, %n, %k = schedule.loops 3 of %matmul
  %mo, %mi = schedule.split %m by 2
  %no, %ni = schedule.split %n by 16
  %nu, %nv = schedule.split %ni by 8
  schedule.reorder %mo, %no, %k, %mi, %nu, %nv
  schedule.unroll %mi
  schedule.unroll %nu
  schedule.vectorize %nv
  schedule.accumulate %k
  schedule.parallel %mo
  schedule.fuse %fill at %no
  schedule.fuse %relu at %no
}
