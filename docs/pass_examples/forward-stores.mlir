// nn-opt --forward-stores
func.func private @kernel(%x: memref<16xf32>, %y: memref<16xf32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %a = vector.load %x[%c0] : memref<16xf32>, vector<8xf32>
  %b = vector.load %x[%c8] : memref<16xf32>, vector<8xf32>
  %s = arith.addf %a, %b : vector<8xf32>
  vector.store %s, %y[%c0] : memref<16xf32>, vector<8xf32>
  %c = vector.load %y[%c0] : memref<16xf32>, vector<8xf32>
  %d = vector.load %x[%c0] : memref<16xf32>, vector<8xf32>
  %t = arith.mulf %c, %d : vector<8xf32>
  vector.store %t, %y[%c8] : memref<16xf32>, vector<8xf32>
  vector.store %t, %y[%c0] : memref<16xf32>, vector<8xf32>
  return
}
