// Loops that cannot be run through in blocks.
// RUN: nn-opt --apply-schedules %s --split-input-file --verify-diagnostics

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  // expected-error @+1 {{must stand directly inside the first one}}
  %a, %b = schedule.order %j, %i in blocks of 2
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  // expected-error @+1 {{names a loop twice}}
  %a, %b = schedule.order %i, %i in blocks of 2
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  // expected-error @+1 {{expects blocks of at least 1, found 0}}
  %a, %b = schedule.order %i, %j in blocks of 0
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  schedule.bind %i to groups<x>
  // expected-error @+1 {{the loop is already bound to groups along x}}
  %a, %b = schedule.order %i, %j in blocks of 2
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  %o, %p = schedule.split %i by 2
  // expected-error @+1 {{the loop is gone}}
  %a, %b = schedule.order %i, %j in blocks of 2
}
