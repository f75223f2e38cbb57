// nn-opt --plan-memory
func.func private @kernel(%a: memref<16xf32>, %b: memref<16xf32>, %out: memref<16xf32>) {
  linalg.map { arith.mulf } ins(%a, %b : memref<16xf32>, memref<16xf32>) outs(%out : memref<16xf32>)
  return
}
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) attributes {nn.entry} {
  %a = memref.alloc() : memref<16xf32>
  call @kernel(%x, %x, %a) : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  %b = memref.alloc() : memref<16xf32>
  call @kernel(%a, %x, %b) : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  memref.dealloc %a : memref<16xf32>
  call @kernel(%b, %x, %y) : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  memref.dealloc %b : memref<16xf32>
  return
}
