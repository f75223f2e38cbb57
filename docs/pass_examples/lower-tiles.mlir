// nn-opt --lower-tiles=target=avx2 --canonicalize
func.func private @kernel(%a: memref<64x32xf32>, %b: memref<32x24xf32>, %out: memref<64x24xf32>) attributes {nn.kernel} {
  %zero = arith.constant dense<0.0> : vector<2x16xf32>
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %t = scf.for %k = %c0 to %c32 step %c1 iter_args(%acc = %zero) -> (vector<2x16xf32>) {
    %x = vector.transfer_read %a[%c0, %k], %pad {in_bounds = [true, true]} : memref<64x32xf32>, vector<2x1xf32>
    %y = vector.transfer_read %b[%k, %c0], %pad {in_bounds = [true, true]} : memref<32x24xf32>, vector<1x16xf32>
    %d = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %x, %y, %acc : vector<2x1xf32>, vector<1x16xf32> into vector<2x16xf32>
    scf.yield %d : vector<2x16xf32>
  }
  vector.transfer_write %t, %out[%c0, %c0] {in_bounds = [true, true]} : vector<2x16xf32>, memref<64x24xf32>
  return
}
