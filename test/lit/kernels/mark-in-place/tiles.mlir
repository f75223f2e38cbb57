// Tiles over tiles at the same places; not over those at others.
// RUN: nn-opt --mark-in-place %s | filecheck %s

// CHECK-LABEL: func.func private @tiles(
// CHECK-SAME:    %{{.*}}: memref<4xf32>, %{{.*}}: memref<8xf32> {nn.in_place}, %{{.*}}: memref<8xf32> {nn.in_place = array<i64: 1>})
// CHECK-LABEL: func.func private @other_tiles(
// CHECK-NOT:     nn.in_place
// CHECK:         return
#one = affine_map<(i) -> (i)>
#even = affine_map<(i) -> (i * 2)>
#odd = affine_map<(i) -> (i * 2 + 1)>
func.func private @tiles(%x: memref<4xf32>, %r: memref<8xf32>, %y: memref<8xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#one, #even, #odd, #even, #odd], iterator_types = ["parallel"]} ins(%x, %r, %r : memref<4xf32>, memref<8xf32>, memref<8xf32>) outs(%y, %y : memref<8xf32>, memref<8xf32>) {
  ^bb0(%e: f32, %a: f32, %b: f32, %o0: f32, %o1: f32):
    %0 = arith.addf %e, %a : f32
    %1 = arith.addf %e, %b : f32
    linalg.yield %0, %1 : f32, f32
  }
  return
}
func.func private @other_tiles(%x: memref<4xf32>, %r: memref<8xf32>, %y: memref<8xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#one, #even, #even, #even, #odd], iterator_types = ["parallel"]} ins(%x, %r, %r : memref<4xf32>, memref<8xf32>, memref<8xf32>) outs(%y, %y : memref<8xf32>, memref<8xf32>) {
  ^bb0(%e: f32, %a: f32, %b: f32, %o0: f32, %o1: f32):
    %0 = arith.addf %e, %a : f32
    %1 = arith.addf %e, %b : f32
    linalg.yield %0, %1 : f32, f32
  }
  return
}
