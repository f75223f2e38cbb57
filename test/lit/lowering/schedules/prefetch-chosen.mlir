// Weights too large for the second-level cache are asked for ahead, by 4 kB. Where several tiles one
// after the other read the same panels, they share asking for the next ones, whatever the size. Small
// weights are not asked for, and a matrix of which each element is used once only if no cache holds it.
// RUN: nn-opt --choose-schedules='target=avx512' %s | filecheck %s

#a = affine_map<(no, m, ni, k) -> (m, k)>
#b = affine_map<(no, m, ni, k) -> (no, k, ni)>
#c = affine_map<(no, m, ni, k) -> (no, m, ni)>

// CHECK-LABEL: schedule.for @one_pass
// CHECK:         schedule.prefetch 1 of %contract ahead 1024
func.func private @one_pass(%a: memref<16x512xf32>, %b: memref<64x512x16xf32>, %c: memref<64x16x16xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : memref<16x512xf32>, memref<64x512x16xf32>) outs(%c : memref<64x16x16xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: schedule.for @few_passes
// CHECK:         schedule.prefetch 1 of %contract ahead 16384 over %mo
func.func private @few_passes(%a: memref<48x512xf32>, %b: memref<64x512x16xf32>, %c: memref<64x48x16xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : memref<48x512xf32>, memref<64x512x16xf32>) outs(%c : memref<64x48x16xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: schedule.for @from_cache
// CHECK-NOT:     schedule.prefetch
func.func private @from_cache(%a: memref<48x64xf32>, %b: memref<8x64x16xf32>, %c: memref<8x48x16xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : memref<48x64xf32>, memref<8x64x16xf32>) outs(%c : memref<8x48x16xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

#v = affine_map<(no, ni, k) -> (k)>
#w = affine_map<(no, ni, k) -> (no, k, ni)>
#y = affine_map<(no, ni, k) -> (no, ni)>

// A matrix that is read once, of 4 MB: the third cache holds it.
// CHECK-LABEL: schedule.for @streamed_from_cache
// CHECK-NOT:     schedule.prefetch
func.func private @streamed_from_cache(%a: memref<1024xf32>, %b: memref<64x1024x16xf32>, %c: memref<64x16xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#v, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<1024xf32>, memref<64x1024x16xf32>) outs(%c : memref<64x16xf32>) {
  ^bb0(%x: f32, %z: f32, %acc: f32):
    %p = arith.mulf %x, %z : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Of 16 MB: no cache holds it.
// CHECK-LABEL: schedule.for @streamed_from_memory
// CHECK:         schedule.prefetch 1 of %contract ahead 1024
func.func private @streamed_from_memory(%a: memref<4096xf32>, %b: memref<64x4096x16xf32>, %c: memref<64x16xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#v, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<4096xf32>, memref<64x4096x16xf32>) outs(%c : memref<64x16xf32>) {
  ^bb0(%x: f32, %z: f32, %acc: f32):
    %p = arith.mulf %x, %z : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
