// Operands that cannot be kept in workgroup memory as a schedule says.
// RUN: nn-opt --apply-schedules %s --split-input-file --verify-diagnostics

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  schedule.bind %i to groups<x>
  // expected-error @+1 {{the stage has no input buffer 1}}
  schedule.cache 1 of %s in workgroup at %j
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  schedule.bind %i to groups<x>
  // expected-error @+1 {{is not an order of the operand's 2 dimensions}}
  schedule.cache 0 of %s order [1, 1] in workgroup at %j
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  schedule.bind %i to groups<x>
  %o, %p = schedule.split %j by 4
  // expected-error @+1 {{the loop is gone: it was split or collapsed}}
  schedule.cache 0 of %s in workgroup at %j
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  schedule.bind %i to groups<x>
  schedule.cache 0 of %s in workgroup at %j
  // expected-error @+1 {{the operand is in workgroup memory already}}
  schedule.cache 0 of %s in workgroup at %j
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  schedule.bind %i to groups<x>
  // expected-error @+1 {{iterations that run at once have no next one to copy for}}
  schedule.cache 0 of %s in workgroup at %i buffers 2
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  // expected-error @+1 {{needs a loop around it that is bound to groups}}
  schedule.cache 0 of %s in workgroup at %j
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  schedule.bind %i to groups<x>
  %o, %v = schedule.split %j by 4
  // expected-error @+1 {{cannot be copied at a loop that is vectorized}}
  schedule.cache 0 of %s in workgroup at %v
  schedule.vectorize %v
  schedule.accumulate %o
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  schedule.bind %i to groups<x>
  // expected-error @+1 {{the loop at which an operand is copied is gone}}
  schedule.cache 0 of %s in workgroup at %j
  %o, %v = schedule.split %j by 4
}

// -----

func.func private @rows(%x: memref<6x?xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x?xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  schedule.bind %i to groups<x>
  // expected-error @+1 {{has no known size: split dimension 1 around the loop}}
  schedule.cache 0 of %s in workgroup at %i
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i floordiv 2, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  schedule.bind %i to groups<x>
  // expected-error @+1 {{must be subscripted by sums of loops}}
  schedule.cache 0 of %s in workgroup at %j
}

// -----

func.func private @rows(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (5 - i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @rows {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  %o, %p = schedule.split %i by 2
  schedule.bind %o to groups<x>
  // expected-error @+1 {{cannot be read backwards}}
  schedule.cache 0 of %s in workgroup at %o
}

// -----

func.func private @two(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  %t = memref.alloc() : memref<6x20xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<6x20xf32>) outs(%t : memref<6x20xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%t : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  memref.dealloc %t : memref<6x20xf32>
  return
}
schedule.for @two {
^bb0(%neg: !schedule.stage, %sum: !schedule.stage):
  %i, %j = schedule.loops 2 of %sum
  schedule.bind %i to groups<x>
  schedule.fuse %neg at %i
  // expected-error @+1 {{stage 0 writes an operand in workgroup memory while it is there}}
  schedule.cache 0 of %sum in workgroup at %i
}

// -----

schedule.for @f {
^bb0(%s: !schedule.stage):
  // expected-error @+1 {{has several buffers only in workgroup memory}}
  %c = schedule.cache 0 of %s buffers 2
}

// -----

schedule.for @f {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  // expected-error @+1 {{expects 1 to 8 buffers, found 9}}
  schedule.cache 0 of %s in workgroup at %j buffers 9
}
