// nn-opt --keep-on-chip
func.func @twice(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<8xf32>
  %t = memref.alloc() : memref<8xf32>
  memref.store %v, %t[%c0] : memref<8xf32>
  memref.copy %t, %y : memref<8xf32> to memref<8xf32>
  memref.dealloc %t : memref<8xf32>
  func.return
}
