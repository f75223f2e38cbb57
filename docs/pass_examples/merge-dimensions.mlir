// nn-opt --merge-dimensions=target=cuda
func.func private @add(%x: memref<1x64x7x7xf32>, %b: memref<64xf32>, %y: memref<1x64x7x7xf32>)
    attributes {nn.kernel} {
  linalg.generic {
      indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (c)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : memref<1x64x7x7xf32>, memref<64xf32>) outs(%y : memref<1x64x7x7xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  }
  return
}
