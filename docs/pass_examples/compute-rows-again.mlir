// nn-opt --compute-rows-again=target=cuda
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d0, 0)>
func.func private @matmul_softmax_matmul_0(%arg0: memref<64x16xf32>, %arg1: memref<16x96xf32>, %arg2: memref<96x16xf32>, %arg3: memref<64x16xf32>) attributes {nn.kernel} {
  %cst = arith.constant 0.000000e+00 : f32
  %cst_0 = arith.constant 0xFF800000 : f32
  %cst_1 = arith.constant 1.000000e+00 : f32
  %alloc = memref.alloc() : memref<64x96xf32>
  linalg.fill ins(%cst : f32) outs(%alloc : memref<64x96xf32>)
  linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : memref<64x16xf32>, memref<16x96xf32>) outs(%alloc : memref<64x96xf32>) {
  ^bb0(%in: f32, %in_8: f32, %out: f32):
    %0 = arith.mulf %in, %in_8 : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  %alloc_2 = memref.alloc() : memref<64x1xf32>
  linalg.fill ins(%cst_0 : f32) outs(%alloc_2 : memref<64x1xf32>)
  linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%alloc : memref<64x96xf32>) outs(%alloc_2 : memref<64x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.cmpf ogt, %in, %out : f32
    %1 = arith.select %0, %in, %out : f32
    linalg.yield %1 : f32
  }
  %alloc_3 = memref.alloc() : memref<64x96xf32>
  linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%alloc, %alloc_2 : memref<64x96xf32>, memref<64x1xf32>) outs(%alloc_3 : memref<64x96xf32>) {
  ^bb0(%in: f32, %in_8: f32, %out: f32):
    %0 = arith.subf %in, %in_8 : f32
    linalg.yield %0 : f32
  }
  %alloc_4 = memref.alloc() : memref<64x96xf32>
  linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%alloc_3 : memref<64x96xf32>) outs(%alloc_4 : memref<64x96xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in fastmath<afn> : f32
    linalg.yield %0 : f32
  }
  %alloc_5 = memref.alloc() : memref<64x1xf32>
  linalg.fill ins(%cst : f32) outs(%alloc_5 : memref<64x1xf32>)
  linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%alloc_4 : memref<64x96xf32>) outs(%alloc_5 : memref<64x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  %alloc_6 = memref.alloc() : memref<64x1xf32>
  linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%alloc_5 : memref<64x1xf32>) outs(%alloc_6 : memref<64x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %cst_1, %in : f32
    linalg.yield %0 : f32
  }
  %alloc_7 = memref.alloc() : memref<64x96xf32>
  linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%alloc_4, %alloc_6 : memref<64x96xf32>, memref<64x1xf32>) outs(%alloc_7 : memref<64x96xf32>) {
  ^bb0(%in: f32, %in_8: f32, %out: f32):
    %0 = arith.mulf %in, %in_8 : f32
    linalg.yield %0 : f32
  }
  linalg.fill ins(%cst : f32) outs(%arg3 : memref<64x16xf32>)
  linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%alloc_7, %arg2 : memref<64x96xf32>, memref<96x16xf32>) outs(%arg3 : memref<64x16xf32>) {
  ^bb0(%in: f32, %in_8: f32, %out: f32):
    %0 = arith.mulf %in, %in_8 : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  }
  memref.dealloc %alloc : memref<64x96xf32>
  memref.dealloc %alloc_2 : memref<64x1xf32>
  memref.dealloc %alloc_3 : memref<64x96xf32>
  memref.dealloc %alloc_4 : memref<64x96xf32>
  memref.dealloc %alloc_5 : memref<64x1xf32>
  memref.dealloc %alloc_6 : memref<64x1xf32>
  memref.dealloc %alloc_7 : memref<64x96xf32>
  return
}
