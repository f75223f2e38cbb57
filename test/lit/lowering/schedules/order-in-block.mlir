// 512 channels to 25 blocks of 40 at 13 x 13 positions. A tile's 512 lines of weights are as large as the
// first cache, and code cannot ask for the next ones: none of them are there when the next tile begins. So
// positions pass by once for each block of 40: the loop over columns is inside of the one over positions.
// RUN: nn-opt --choose-schedules='target=wasm32-simd' %s | filecheck %s

#in = affine_map<(b, o, y, x, n, i, ky, kx, c) -> (b, i, y + ky, x + kx, c)>
#weight = affine_map<(b, o, y, x, n, i, ky, kx, c) -> (o, i, ky, kx, c, n)>
#out = affine_map<(b, o, y, x, n, i, ky, kx, c) -> (b, o, y, x, n)>

// CHECK-LABEL: schedule.for @product
// CHECK:         %[[POSITIONS:.*]], %{{.*}} = schedule.split %{{.*}} by 4
// CHECK:         %[[COLUMNS:.*]], %{{.*}} = schedule.split %{{.*}} by 8
// CHECK:         schedule.reorder %{{.*}}, %{{.*}}, %[[POSITIONS]], %[[COLUMNS]], %k
func.func private @product(%x: memref<1x32x13x13x16xf32>, %w: memref<25x32x1x1x16x40xf32>, %z: memref<1x25x13x13x40xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%z : memref<1x25x13x13x40xf32>)
  linalg.generic {indexing_maps = [#in, #weight, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]} ins(%x, %w : memref<1x32x13x13x16xf32>, memref<25x32x1x1x16x40xf32>) outs(%z : memref<1x25x13x13x40xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
