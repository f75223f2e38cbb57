// Partial results that a stage cannot have.
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
  // expected-error @+1 {{only a reduction has partial results}}
  %r = schedule.rfactor %i
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
  %o, %p = schedule.split %j by 4
  // expected-error @+1 {{expects the outermost loop of one dimension}}
  %r = schedule.rfactor %p
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
  %o, %p = schedule.split %j by 4
  %r = schedule.rfactor %o
  // expected-error @+1 {{the stage has partial results already}}
  %q = schedule.rfactor %o
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  // expected-error @+1 {{must stay a loop}}
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
  %o, %p = schedule.split %j by 4
  schedule.vectorize %p
  schedule.accumulate %o
  %r = schedule.rfactor %o
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.divf %acc, %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  %o, %p = schedule.split %j by 4
  // expected-error @+1 {{cannot be combined from partial ones}}
  %r = schedule.rfactor %o
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (5 - i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  %o, %p = schedule.split %j by 4
  // expected-error @+1 {{the result is not subscripted by plain loops}}
  %r = schedule.rfactor %o
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  // expected-error @+1 {{must be inside of an accumulation}}
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
  %o, %p = schedule.split %j by 4
  %q, %v = schedule.split %p by 2
  schedule.reorder %q, %o, %v
  schedule.accumulate %v
  %r = schedule.rfactor %o
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  // expected-error @+1 {{must be inside of an accumulation}}
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
  %o, %p = schedule.split %j by 4
  schedule.reorder %o, %p, %i
  %r = schedule.rfactor %o
}
