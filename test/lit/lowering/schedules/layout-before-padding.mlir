// A change of layout before padding, which only the padding reads, is carried out in the loops over blocks of
// channels that both share with the convolution: a block of channels passes through the caches once.
// RUN: nn-opt --choose-schedules='target=x86-64-v3' %s | filecheck %s

#rows = affine_map<(n, g, h, w, c) -> (n, h, w, g, c)>
#same = affine_map<(n, g, h, w, c) -> (n, g, h, w, c)>
#in = affine_map<(n, g, h, w, c, kh, kw) -> (n, g, h + kh, w + kw, c)>
#weight = affine_map<(n, g, h, w, c, kh, kw) -> (g, kh, kw, c)>
#out = affine_map<(n, g, h, w, c, kh, kw) -> (n, g, h, w, c)>

// CHECK-LABEL: schedule.for @depthwise
// CHECK:         %[[CHANNELS:.*]], %{{.*}} = schedule.split %g2 by 8
// CHECK:         schedule.fuse rolled %copy at %[[CHANNELS]]
// CHECK-NEXT:    schedule.fuse rolled %map at %[[CHANNELS]]

func.func private @depthwise(%x: memref<1x28x28x8x16xf32>, %w: memref<8x3x3x16xf32>, %z: memref<1x8x28x28x16xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<1x8x28x28x16xf32>
  linalg.generic {indexing_maps = [#rows, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%x : memref<1x28x28x8x16xf32>) outs(%t : memref<1x8x28x28x16xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  }
  %p = memref.alloc() : memref<1x8x30x30x16xf32>
  linalg.fill ins(%zero : f32) outs(%p : memref<1x8x30x30x16xf32>)
  %middle = memref.subview %p[0, 0, 1, 1, 0] [1, 8, 28, 28, 16] [1, 1, 1, 1, 1] : memref<1x8x30x30x16xf32> to memref<1x8x28x28x16xf32, strided<[115200, 14400, 480, 16, 1], offset: 496>>
  linalg.copy ins(%t : memref<1x8x28x28x16xf32>) outs(%middle : memref<1x8x28x28x16xf32, strided<[115200, 14400, 480, 16, 1], offset: 496>>)
  linalg.fill ins(%zero : f32) outs(%z : memref<1x8x28x28x16xf32>)
  linalg.generic {indexing_maps = [#in, #weight, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%p, %w : memref<1x8x30x30x16xf32>, memref<8x3x3x16xf32>) outs(%z : memref<1x8x28x28x16xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
