// nn-opt --instrument-kernels
func.func private @k(%x: memref<4xf32>, %y: memref<4xf32>) attributes {nn.kernel} {
  return
}
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {nn.entry, nn.inputs = [tensor<4xf32>], nn.outputs = [tensor<4xf32>], nn.input_names = ["x"], nn.output_names = ["y"]} {
  func.call @k(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}
