// nn-opt --lower-to-circuit
memref.global "private" constant @w : memref<4xi8> = dense<[1, -2, 3, -4]>
func.func @main(%x: memref<4xi8>, %y: memref<4xi8>) attributes {nn.entry, nn.input_names = ["x"], nn.output_names = ["y"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %w = memref.get_global @w : memref<4xi8>
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %x[%i] : memref<4xi8>
    %b = memref.load %w[%i] : memref<4xi8>
    %c = arith.maxsi %a, %b : i8
    memref.store %c, %y[%i] : memref<4xi8>
  } {nn.pipeline = 1 : i64}
  func.return
}
