// nn-opt --mark-in-place
func.func private @add(%a: memref<16xf32>, %b: memref<16xf32>, %out: memref<16xf32>)
    attributes {nn.kernel} {
  linalg.map { arith.addf } ins(%a, %b : memref<16xf32>, memref<16xf32>) outs(%out : memref<16xf32>)
  return
}
