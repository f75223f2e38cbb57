// nn-opt --lower-to-amx
#rows = affine_map<(r, k) -> (r, 0)>
#vector = affine_map<(k, n) -> (n)>
module attributes {nnc.target = "sapphirerapids"} {
  func.func @product(%x: memref<16x40xi32>, %w: memref<40x16xi32>, %y: memref<16x16xi32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c40 = arith.constant 40 : index
    %pad = ub.poison : i32
    %zeros = arith.constant dense<0> : vector<16x16xi32>
    %s = scf.for %k = %c0 to %c40 step %c1 iter_args(%sums = %zeros) -> (vector<16x16xi32>) {
      %a = vector.transfer_read %x[%c0, %k], %pad {in_bounds = [true, true], permutation_map = #rows} : memref<16x40xi32>, vector<16x1xi32>
      %b = vector.transfer_read %w[%k, %c0], %pad {in_bounds = [true], permutation_map = #vector} : memref<40x16xi32>, vector<16xi32>
      %as = vector.broadcast %a : vector<16x1xi32> to vector<16x16xi32>
      %bs = vector.broadcast %b : vector<16xi32> to vector<16x16xi32>
      %d = packed.dot "u8s8" %as, %bs : vector<16x16xi32>
      %n = arith.addi %sums, %d : vector<16x16xi32>
      scf.yield %n : vector<16x16xi32>
    }
    vector.transfer_write %s, %y[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xi32>, memref<16x16xi32>
    return
  }
}
