// nn-opt --convert-scf-to-cf
func.func @double(%x: memref<8xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<8xi32>
    %w = arith.addi %v, %v : i32
    memref.store %w, %x[%i] : memref<8xi32>
  }
  func.return
}
