// A strided convolution reads its image through a view with a dimension for each loop: rows of
// windows overlap. The unrolled columns of the window are a reduction of the contraction.
// RUN: nn-opt --apply-schedules='machine=avx512' %s | filecheck %s

#x = affine_map<(o, h, w, i, kh, kw) -> (i, h * 2 + kh, w * 2 + kw)>
#f = affine_map<(o, h, w, i, kh, kw) -> (o, i, kh, kw)>
#y = affine_map<(o, h, w, i, kh, kw) -> (o, h, w)>

// CHECK-LABEL: func.func @strided
// CHECK:         %[[VIEW:.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [7, 16, 3, 3, 3], strides: [66, 2, 495, 33, 1]
// CHECK:         scf.for %[[O:[^ ]*]] =
// CHECK:           scf.for %[[H:[^ ]*]] =
// CHECK:             scf.for %[[I:[^ ]*]] = {{.*}} iter_args({{.*}}) -> (vector<2x16xf32>)
// CHECK:               scf.for %[[KH:[^ ]*]] =
// CHECK:                 %[[IMAGE:.*]] = vector.transfer_read %[[VIEW]][%[[H]], %{{.*}}, %[[I]], %[[KH]], %{{.*}}]{{.*}}, vector<3x16xf32>
// CHECK:                 %[[FILTER:.*]] = vector.transfer_read %arg1[%[[O]], %[[I]], %[[KH]], %{{.*}}]{{.*}}, vector<2x3xf32>
// CHECK:                 vector.contract {{.*}}vector<3x16xf32>, vector<2x3xf32> into vector<2x16xf32>
func.func @strided(%x: memref<3x15x33xf32>, %f: memref<4x3x3x3xf32>, %y: memref<4x7x16xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#x, #f, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %f : memref<3x15x33xf32>, memref<4x3x3x3xf32>) outs(%y : memref<4x7x16xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

schedule.for @strided {
^bb0(%conv: !schedule.stage):
  %o, %h, %w, %i, %kh, %kw = schedule.loops 6 of %conv
  %oo, %oi = schedule.split %o by 2
  schedule.reorder %oo, %h, %i, %kh, %kw, %oi, %w
  schedule.unroll %kw
  schedule.unroll %oi
  schedule.vectorize %w
  schedule.accumulate %i
}
