// A dimension that a stage has split by the same factor takes part in the other's loops, and what
// is left of it can be scheduled on; one split by another factor does not.
// RUN: nn-opt --apply-schedules %s --split-input-file --verify-diagnostics | filecheck %s

#map = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func private @same
// CHECK:         scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c8
// CHECK:           scf.for
// CHECK:             arith.negf %{{.*}} : f32
// CHECK:           vector.transfer_read
// CHECK:           math.absf %{{.*}} : vector<8xf32>
func.func private @same(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%y : memref<64xf32>) outs(%z : memref<64xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = math.absf %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @same {
^bb0(%neg: !schedule.stage, %abs: !schedule.stage):
  %i = schedule.loops 1 of %neg
  %io, %ii = schedule.split %i by 8
  %j = schedule.loops 1 of %abs
  %jo, %ji = schedule.split %j by 8
  schedule.fuse %abs at %io
  schedule.vectorize %ji
}

// -----

#map = affine_map<(i) -> (i)>

func.func private @other(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%y : memref<64xf32>) outs(%z : memref<64xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = math.absf %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @other {
^bb0(%neg: !schedule.stage, %abs: !schedule.stage):
  %i = schedule.loops 1 of %neg
  %io, %ii = schedule.split %i by 8
  %j = schedule.loops 1 of %abs
  %jo, %ji = schedule.split %j by 16
  // expected-error @+1 {{the stage has no loop that corresponds to dimension 0}}
  schedule.fuse %abs at %io
}
