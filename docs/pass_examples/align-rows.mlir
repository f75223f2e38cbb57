// nn-opt --align-rows=target=cuda
func.func @main(%y: memref<1x64x7x7xf32>) {
  %x = memref.alloc() : memref<1x64x7x7xf32>
  call @clear(%x) : (memref<1x64x7x7xf32>) -> ()
  call @copy(%x, %y) : (memref<1x64x7x7xf32>, memref<1x64x7x7xf32>) -> ()
  memref.dealloc %x : memref<1x64x7x7xf32>
  return
}
func.func private @clear(%x: memref<1x64x7x7xf32>) attributes {nn.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<1x64x7x7xf32>)
  return
}
func.func private @copy(%x: memref<1x64x7x7xf32>, %y: memref<1x64x7x7xf32>) attributes {nn.kernel} {
  linalg.copy ins(%x : memref<1x64x7x7xf32>) outs(%y : memref<1x64x7x7xf32>)
  return
}
