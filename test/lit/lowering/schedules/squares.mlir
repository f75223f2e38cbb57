// A product of much data runs over blocks of positions, and the change of layout before it is carried
// out in each block: rows become lanes in squares of eight, along the rows first, so that a line is used
// up before the next one is asked for. A block has a buffer of its own, though positions are rows and
// columns collapsed.
// RUN: nn-opt --choose-schedules='target=x86-64-v3' %s | filecheck %s
// RUN: nn-opt --choose-schedules='target=x86-64-v3' --apply-schedules='target=x86-64-v3' %s | filecheck %s --check-prefix=LOOPS

#rows = affine_map<(b, i, y, x, c) -> (b, i, c, y, x)>
#same = affine_map<(b, i, y, x, c) -> (b, i, y, x, c)>
#in = affine_map<(b, o, y, x, n, i, ky, kx, c) -> (b, i, y + ky, x + kx, c)>
#weight = affine_map<(b, o, y, x, n, i, ky, kx, c) -> (o, i, ky, kx, c, n)>
#out = affine_map<(b, o, y, x, n, i, ky, kx, c) -> (b, o, y, x, n)>

// CHECK-LABEL: schedule.for @product
// CHECK:         %[[POSITIONS:.*]] = schedule.collapse %{{.*}}, %{{.*}}
// CHECK:         %[[BLOCK:.*]], %{{.*}} = schedule.split %[[POSITIONS]] by 48
// CHECK:         %{{.*}}, %[[I:.*]], %{{.*}}, %{{.*}}, %{{.*}} = schedule.loops 5 of %map
// CHECK:         %{{.*}}, %[[INSIDE:.*]] = schedule.split %{{.*}} by 48
// CHECK-NEXT:    %[[SQUARES:.*]], %[[ROW:.*]] = schedule.split %[[INSIDE]] by 8
// CHECK-NEXT:    %[[VECTORS:.*]], %[[LANES:.*]] = schedule.split %{{.*}} by 8
// CHECK-NEXT:    schedule.reorder %{{.*}}, %{{.*}}, %[[I]], %[[VECTORS]], %[[SQUARES]], %[[ROW]], %[[LANES]]
// CHECK-NEXT:    schedule.unroll %[[ROW]]
// CHECK-NEXT:    schedule.vectorize %[[LANES]]
// CHECK-NEXT:    schedule.fuse rolled ordered %map at %[[BLOCK]]

// LOOPS-LABEL: func.func private @product
// LOOPS:         scf.parallel
// LOOPS-NEXT:      memref.alloca() : memref<1x64x1x48x16xf32>
func.func private @product(%x: memref<1x64x16x64x64xf32>, %w: memref<16x64x1x1x16x16xf32>, %z: memref<1x16x64x64x16xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<1x64x64x64x16xf32>
  linalg.generic {indexing_maps = [#rows, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%x : memref<1x64x16x64x64xf32>) outs(%t : memref<1x64x64x64x16xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  }
  linalg.fill ins(%zero : f32) outs(%z : memref<1x16x64x64x16xf32>)
  linalg.generic {indexing_maps = [#in, #weight, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]} ins(%t, %w : memref<1x64x64x64x16xf32>, memref<16x64x1x1x16x16xf32>) outs(%z : memref<1x16x64x64x16xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  }
  memref.dealloc %t : memref<1x64x64x64x16xf32>
  return
}
