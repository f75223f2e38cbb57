// A product of halves takes as many threads as one of floats: it reads half, and converts it.
// RUN: nn-opt --choose-schedules %s | filecheck %s

// CHECK: schedule.for @floats
// CHECK: schedule.parallel
// CHECK: schedule.for @halves
// CHECK: schedule.parallel
#x = affine_map<(m, n, l, k) -> (m, k)>
#w = affine_map<(m, n, l, k) -> (n, k, l)>
#y = affine_map<(m, n, l, k) -> (m, n, l)>
module attributes {nnc.target = {name = "x86-64-v4", machine = {cores = 2 : i64}}} {
func.func private @floats(%x: memref<1x256xf32>, %w: memref<32x256x32xf32>, %y: memref<1x32x32xf32>) attributes {nn.kernel, nn.repeated} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<1x32x32xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : memref<1x256xf32>, memref<32x256x32xf32>) outs(%y : memref<1x32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
func.func private @halves(%x: memref<1x256xf16>, %w: memref<32x256x32xf16>, %y: memref<1x32x32xf32>) attributes {nn.kernel, nn.repeated} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<1x32x32xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : memref<1x256xf16>, memref<32x256x32xf16>) outs(%y : memref<1x32x32xf32>) {
  ^bb0(%a: f16, %b: f16, %sum: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %b : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  }
  return
}
}
