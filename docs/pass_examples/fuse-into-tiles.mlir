// nn-opt --fuse-into-tiles
func.func @pairs(%x: memref<4xf32>, %b: memref<8xf32>, %y: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i * 2)>, affine_map<(i) -> (i * 2 + 1)>], iterator_types = ["parallel"]} ins(%x : memref<4xf32>) outs(%t, %t : memref<8xf32>, memref<8xf32>) {
  ^bb0(%in: f32, %even: f32, %odd: f32):
    %0 = arith.negf %in : f32
    linalg.yield %in, %0 : f32, f32
  }
  linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]} ins(%t, %b : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %0 = arith.addf %in, %bias : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %t : memref<8xf32>
  return
}
