// A core that issues in order computes one step of a sum while what the next one reads is under way: as
// many steps as the tile leaves room for are unrolled, and a whole number of them. So does AVX2, for weights
// that come from memory. An odd or unknown length, and AVX-512, go step by step.
// RUN: nn-opt --choose-schedules='target=spacemit-x60' %s | filecheck %s
// RUN: nn-opt --choose-schedules='target=avx2' %s | filecheck %s --check-prefix=AVX2
// RUN: nn-opt --choose-schedules='target=avx512' %s | filecheck %s --check-prefix=AHEAD

#a = affine_map<(no, m, ni, k) -> (m, k)>
#b = affine_map<(no, m, ni, k) -> (no, k, ni)>
#c = affine_map<(no, m, ni, k) -> (no, m, ni)>

// CHECK-LABEL: schedule.for @three_steps
// CHECK:         %mo, %mi = schedule.split %m by 12
// CHECK:         %ko, %ki = schedule.split %k by 3
// CHECK:         schedule.unroll %ki
// CHECK:         schedule.accumulate %ko
// AVX2-LABEL:  schedule.for @three_steps
// AVX2:          %mo, %mi = schedule.split %m by 6
// AVX2:          %ko, %ki = schedule.split %k by 4
// AVX2:          schedule.unroll %ki
// AVX2-LABEL:  schedule.for @odd
// AVX2-NOT:      schedule.split %k
// AHEAD-LABEL: schedule.for @three_steps
// AHEAD-NOT:     schedule.split %k
func.func private @three_steps(%a: memref<48x768xf32>, %b: memref<8x768x16xf32>, %c: memref<8x48x16xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : memref<48x768xf32>, memref<8x768x16xf32>) outs(%c : memref<8x48x16xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: schedule.for @odd
// CHECK-NOT:     schedule.split %k
// AHEAD-LABEL: schedule.for @odd
func.func private @odd(%a: memref<48x767xf32>, %b: memref<8x767x16xf32>, %c: memref<8x48x16xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : memref<48x767xf32>, memref<8x767x16xf32>) outs(%c : memref<8x48x16xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: schedule.for @unknown
// CHECK-NOT:     schedule.split %k
func.func private @unknown(%a: memref<48x?xf32>, %b: memref<8x?x16xf32>, %c: memref<8x48x16xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : memref<48x?xf32>, memref<8x?x16xf32>) outs(%c : memref<8x48x16xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
