// nn-opt --outline-parallel
func.func private @scale(%a: memref<64xf32>, %s: f32) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    %x = memref.load %a[%i] : memref<64xf32>
    %y = arith.mulf %x, %s : f32
    memref.store %y, %a[%i] : memref<64xf32>
    scf.reduce
  }
  return
}
func.func @main(%a: memref<64xf32>, %s: f32) {
  call @scale(%a, %s) : (memref<64xf32>, f32) -> ()
  return
}
