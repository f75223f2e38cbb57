// nn-opt --apply-schedules=target=avx2
#row = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
func.func private @kernel(%a: memref<64x32xf32>, %b: memref<32xf32>, %out: memref<64x32xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#row, #column, #row], iterator_types = ["parallel", "parallel"]} ins(%a, %b : memref<64x32xf32>, memref<32xf32>) outs(%out : memref<64x32xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @kernel {
^bb0(%sum: !schedule.stage):
  %i, %j = schedule.loops 2 of %sum
  %jo, %ji = schedule.split %j by 8
  schedule.vectorize %ji
}
