// nn-opt --describe-entry
func.func private @half(%n: index) -> index {
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : index
  %rest = arith.remui %n, %c2 : index
  %even = arith.cmpi eq, %rest, %zero : index
  cf.assert %even, "the number of rows is even"
  %half = arith.divui %n, %c2 : index
  return %half : index
}
func.func @main(%x: memref<?xf32>, %y: memref<4xf32>)
    attributes {nn.entry, nn.input_names = ["x"], nn.output_names = ["y"]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %half = call @half(%n) : (index) -> index
  return
}
