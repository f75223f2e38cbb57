// nn-opt --outline-launches
func.func private @scale(%a: memref<8x64xf32>, %s: f32) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %p = ub.poison : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c64) step (%c1, %c16) {
    %x = vector.transfer_read %a[%i, %j], %p {in_bounds = [true]} : memref<8x64xf32>, vector<16xf32>
    %v = vector.broadcast %s : f32 to vector<16xf32>
    %y = arith.mulf %x, %v : vector<16xf32>
    vector.transfer_write %y, %a[%i, %j] {in_bounds = [true]} : vector<16xf32>, memref<8x64xf32>
    scf.reduce
  }
  return
}
