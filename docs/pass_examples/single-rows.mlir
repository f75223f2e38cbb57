// nn-opt --single-rows='target=x86-64-v3'
func.func @step(%x: memref<?x?x512xf32>, %w: memref<512x1024xf32>, %y: memref<?x?x1024xf32>) {
  call @k(%x, %w, %y) : (memref<?x?x512xf32>, memref<512x1024xf32>, memref<?x?x1024xf32>) -> ()
  return
}
func.func private @k(%x: memref<?x?x512xf32>, %w: memref<512x1024xf32>, %y: memref<?x?x1024xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<?x?x1024xf32>)
  linalg.generic {indexing_maps = [affine_map<(a, b, n, k) -> (a, b, k)>, affine_map<(a, b, n, k) -> (k, n)>, affine_map<(a, b, n, k) -> (a, b, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : memref<?x?x512xf32>, memref<512x1024xf32>) outs(%y : memref<?x?x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
