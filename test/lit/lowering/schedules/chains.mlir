// Two products with a sum of rows between share the loops over heads and over blocks of rows, as
// many as stay in the second cache; heads whose rows all do have no blocks. A copy of an operand
// that all blocks read is made once for each head.
// RUN: nn-opt --choose-schedules='target=avx512' %s | filecheck %s

#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i, j)>
#sum = affine_map<(h, i, j) -> (h, i)>
#p = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#y = affine_map<(h, i, d, j) -> (h, i, d)>

// CHECK-LABEL: schedule.for @blocks
// CHECK:         %[[COPY:.*]] = schedule.cache 1 of %[[SCORES:.*]] order [0, 2, 1]
// CHECK:         %[[H:.*]], %[[I:.*]], %{{.*}}, %{{.*}} = schedule.loops 4 of %[[SCORES]]
// CHECK:         %[[BLOCK:.*]], %{{.*}} = schedule.split %[[I]] by 36
// CHECK:         schedule.split %{{.*}} by 36
// CHECK:         schedule.fuse %reduce at %[[BLOCK]]
// CHECK:         schedule.split %{{.*}} by 36
// CHECK:         schedule.fuse %{{.*}} at %[[BLOCK]]
// CHECK:         schedule.fuse rolled %[[COPY]] at %[[H]]
func.func private @blocks(%q: memref<4x512x64xf32>, %k: memref<4x1024x64xf32>, %v: memref<4x1024x64xf32>, %y: memref<4x512x64xf32>) attributes {nn.kernel} {
  %s = memref.alloc() : memref<4x512x1024xf32>
  %m = memref.alloc() : memref<4x512xf32>
  %p = memref.alloc() : memref<4x512x1024xf32>
  linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : memref<4x512x64xf32>, memref<4x1024x64xf32>) outs(%s : memref<4x512x1024xf32>) {
  ^bb0(%x: f32, %z: f32, %acc: f32):
    %0 = arith.mulf %x, %z : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : memref<4x512x1024xf32>) outs(%m : memref<4x512xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %0 = arith.addf %acc, %x : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#row, #sum, #row], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : memref<4x512x1024xf32>, memref<4x512xf32>) outs(%p : memref<4x512x1024xf32>) {
  ^bb0(%x: f32, %z: f32, %old: f32):
    %0 = arith.divf %x, %z : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#p, #v, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : memref<4x512x1024xf32>, memref<4x1024x64xf32>) outs(%y : memref<4x512x64xf32>) {
  ^bb0(%x: f32, %z: f32, %acc: f32):
    %0 = arith.mulf %x, %z : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  }
  memref.dealloc %s : memref<4x512x1024xf32>
  memref.dealloc %m : memref<4x512xf32>
  memref.dealloc %p : memref<4x512x1024xf32>
  return
}

// CHECK-LABEL: schedule.for @whole_heads
// CHECK:         %[[H:.*]], %{{.*}}, %{{.*}}, %{{.*}} = schedule.loops 4 of %[[SCORES:.*]]
// CHECK:         schedule.fuse %reduce at %[[H]]
// CHECK:         schedule.fuse %{{.*}} at %[[H]]
func.func private @whole_heads(%q: memref<4x16x64xf32>, %k: memref<4x32x64xf32>, %v: memref<4x32x64xf32>, %y: memref<4x16x64xf32>) attributes {nn.kernel} {
  %s = memref.alloc() : memref<4x16x32xf32>
  %m = memref.alloc() : memref<4x16xf32>
  %p = memref.alloc() : memref<4x16x32xf32>
  linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : memref<4x16x64xf32>, memref<4x32x64xf32>) outs(%s : memref<4x16x32xf32>) {
  ^bb0(%x: f32, %z: f32, %acc: f32):
    %0 = arith.mulf %x, %z : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : memref<4x16x32xf32>) outs(%m : memref<4x16xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %0 = arith.addf %acc, %x : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#row, #sum, #row], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : memref<4x16x32xf32>, memref<4x16xf32>) outs(%p : memref<4x16x32xf32>) {
  ^bb0(%x: f32, %z: f32, %old: f32):
    %0 = arith.divf %x, %z : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#p, #v, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : memref<4x16x32xf32>, memref<4x32x64xf32>) outs(%y : memref<4x16x64xf32>) {
  ^bb0(%x: f32, %z: f32, %acc: f32):
    %0 = arith.mulf %x, %z : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  }
  memref.dealloc %s : memref<4x16x32xf32>
  memref.dealloc %m : memref<4x16xf32>
  memref.dealloc %p : memref<4x16x32xf32>
  return
}
