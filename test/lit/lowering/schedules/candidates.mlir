// The schedules that a kernel may get, with the cycles that the models expect of them.
// RUN: nn-opt --choose-schedules='target=x86-64-v4 print-candidates' %s -o /dev/null 2>&1 | filecheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// CHECK: candidates.mlir:12:1: remark: schedule of @product, grouped: {{[0-9]+}} cycles (chosen)
// CHECK: candidates.mlir:12:1: remark: schedule of @product, apart: {{[0-9]+}} cycles
// CHECK-NOT: chosen
func.func private @product(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %out: memref<64x64xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%out : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
