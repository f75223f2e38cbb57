// nn-opt --flatten-addresses
func.func private @kernel(%a: memref<64x32xf32>, %out: memref<32xf32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c2 {
    scf.for %j = %c0 to %c32 step %c8 {
      %next = arith.addi %i, %c1 : index
      %x = vector.load %a[%i, %j] : memref<64x32xf32>, vector<8xf32>
      %y = vector.load %a[%next, %j] : memref<64x32xf32>, vector<8xf32>
      %s = arith.addf %x, %y : vector<8xf32>
      vector.store %s, %out[%j] : memref<32xf32>, vector<8xf32>
    }
  }
  return
}
