// nn-opt --sample-ranges=runs=1
func.func private @halves(%x: memref<4xf32>, %y: memref<4xf32>) {
  %half = arith.constant 5.000000e-01 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %old: f32):
    %p = arith.mulf %a, %half : f32
    linalg.yield %p : f32
  }
  return
}
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>)
    attributes {nn.entry, nn.input_names = ["x"], nn.output_names = ["y"]} {
  call @halves(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}
