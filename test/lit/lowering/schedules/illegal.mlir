// Schedules that would not compute what the kernel says, or name what is not there.
// RUN: nn-opt --apply-schedules %s --split-input-file --verify-diagnostics

func.func private @sum(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @sum {
^bb0(%s: !schedule.stage):
  // expected-error @+1 {{asks for 3 loops of a stage that has 2}}
  %i, %j, %k = schedule.loops 3 of %s
}

// -----

func.func private @sum(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @sum {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  %o, %p = schedule.split %j by 4
  // expected-error @+1 {{the loop is gone: it was split or collapsed}}
  schedule.unroll %j
}

// -----

func.func private @sum(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @sum {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  %o, %p = schedule.split %j by 4
  // expected-error @+1 {{the outer half of a split cannot be split again}}
  %q, %r = schedule.split %o by 2
}

// -----

func.func private @sum(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @sum {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  // expected-error @+1 {{cannot collapse a parallel loop with a reduction}}
  %k = schedule.collapse %i, %j
}

// -----

func.func private @sum(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  // expected-error @+1 {{a reduction cannot be parallel}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @sum {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  schedule.reorder %j, %i
  schedule.parallel %j
}

// -----

func.func private @sum(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  // expected-error @+1 {{a parallel loop must be outermost}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @sum {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  schedule.reorder %j, %i
  schedule.parallel %i
}

// -----

func.func private @sum(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  // expected-error @+1 {{the vectorized loop must be the only one and the innermost}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @sum {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  schedule.vectorize %i
}

// -----

func.func private @sum(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  // expected-error @+1 {{partial results of a reduction need an accumulation around them}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @sum {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  %o, %v = schedule.split %j by 4
  schedule.vectorize %v
}

// -----

func.func private @sum(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  // expected-error @+1 {{inside the accumulation must be unrolled or vectorized: the results depend on it}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @sum {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  schedule.reorder %j, %i
  schedule.accumulate %j
}

// -----

func.func private @sum(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  // expected-error @+1 {{the inner half of a split with a remainder stands outside the outer half}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @sum {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  %o, %p = schedule.split %j by 3
  schedule.reorder %p, %o
}

// -----

func.func private @last(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  // expected-error @+1 {{cannot be combined from partial ones}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %d = arith.divf %a, %acc : f32
    linalg.yield %d : f32
  }
  return
}
schedule.for @last {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  %o, %v = schedule.split %j by 4
  schedule.accumulate %o
  schedule.vectorize %v
}

// -----

func.func private @last(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  // expected-error @+1 {{the reduction depends on its order, which must stay as it was}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %d = arith.divf %a, %acc : f32
    linalg.yield %d : f32
  }
  return
}
schedule.for @last {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  %o, %p = schedule.split %j by 4
  schedule.reorder %p, %o
}

// -----

func.func private @two(%x: memref<6x20xf32>, %y: memref<6xf32>, %z: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%y : memref<6xf32>) outs(%z : memref<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @two {
^bb0(%sum: !schedule.stage, %neg: !schedule.stage):
  %i, %j = schedule.loops 2 of %sum
  // expected-error @+1 {{the stage has no loop that corresponds to dimension 1}}
  schedule.fuse %neg at %j
}

// -----

func.func private @two(%x: memref<6x20xf32>, %y: memref<6xf32>, %z: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%y : memref<6xf32>) outs(%z : memref<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @two {
^bb0(%sum: !schedule.stage, %neg: !schedule.stage):
  %i, %j = schedule.loops 2 of %sum
  schedule.fuse %neg at %i
  // expected-error @+1 {{the loop is shared with a fused stage and cannot be changed any more}}
  %o, %p = schedule.split %i by 2
}

// -----

func.func private @two(%x: memref<6x20xf32>, %y: memref<6xf32>, %z: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%y : memref<6xf32>) outs(%z : memref<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @two {
^bb0(%sum: !schedule.stage, %neg: !schedule.stage):
  %i = schedule.loops 1 of %neg
  schedule.vectorize %i
  // expected-error @+1 {{cannot fuse inside the lanes of a vector}}
  schedule.fuse %sum at %i
}

// -----

func.func private @two(%x: memref<6x20xf32>, %y: memref<6xf32>, %z: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%y : memref<6xf32>) outs(%z : memref<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @two {
^bb0(%sum: !schedule.stage, %neg: !schedule.stage):
  // expected-error @+1 {{cannot inline: the stage computes something}}
  schedule.inline %sum
}

// -----

func.func private @two(%x: memref<6x20xf32>, %y: memref<6xf32>, %z: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%y : memref<6xf32>) outs(%z : memref<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @two {
^bb0(%sum: !schedule.stage, %neg: !schedule.stage):
  // expected-error @+1 {{the stage has no input buffer 1}}
  %c = schedule.cache 1 of %neg order [0]
}

// -----

func.func private @two(%x: memref<6x20xf32>, %y: memref<6xf32>, %z: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%y : memref<6xf32>) outs(%z : memref<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @two {
^bb0(%sum: !schedule.stage, %neg: !schedule.stage):
  // expected-error @+1 {{is not an order of the operand's 2 dimensions}}
  %c = schedule.cache 0 of %sum order [0, 0]
}

// -----

func.func private @two(%x: memref<6x20xf32>, %y: memref<6xf32>, %z: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%y : memref<6xf32>) outs(%z : memref<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @two {
^bb0(%sum: !schedule.stage, %neg: !schedule.stage):
  %i, %j = schedule.loops 2 of %sum
  schedule.fuse %neg at %i
  // expected-error @+1 {{must come before the stage is fused with others}}
  %c = schedule.cache 0 of %sum order [1, 0]
}

// -----

func.func private @copy(%x: memref<6x20xf32>, %w: memref<20x6xf32>, %y: memref<6x6xf32>) attributes {nn.kernel} {
  %t = memref.alloc() : memref<20x6xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<6x20xf32>) outs(%t : memref<20x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w, %t : memref<20x6xf32>, memref<20x6xf32>) outs(%y : memref<6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %acc : f32
    linalg.yield %s : f32
  }
  memref.dealloc %t : memref<20x6xf32>
  return
}
schedule.for @copy {
^bb0(%copy: !schedule.stage, %product: !schedule.stage):
  schedule.inline %copy
  // expected-error @+1 {{the stage is gone: it was inlined}}
  %i, %j = schedule.loops 2 of %copy
}

// -----

func.func private @copy(%x: memref<6x20xf32>, %w: memref<20x6xf32>, %y: memref<6x6xf32>) attributes {nn.kernel} {
  %t = memref.alloc() : memref<20x6xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<6x20xf32>) outs(%t : memref<20x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w, %t : memref<20x6xf32>, memref<20x6xf32>) outs(%y : memref<6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %acc : f32
    linalg.yield %s : f32
  }
  memref.dealloc %t : memref<20x6xf32>
  return
}
schedule.for @copy {
^bb0(%copy: !schedule.stage, %product: !schedule.stage):
  %i, %j = schedule.loops 2 of %copy
  schedule.inline %copy
  // expected-error @+1 {{the loop is gone: it was split or collapsed, or its stage inlined}}
  %o, %u = schedule.split %i by 4
}

// -----

func.func private @copy(%x: memref<6x20xf32>, %w: memref<20x6xf32>, %y: memref<6x6xf32>) attributes {nn.kernel} {
  %t = memref.alloc() : memref<20x6xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<6x20xf32>) outs(%t : memref<20x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  memref.dealloc %x : memref<6x20xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w, %t : memref<20x6xf32>, memref<20x6xf32>) outs(%y : memref<6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %acc : f32
    linalg.yield %s : f32
  }
  memref.dealloc %t : memref<20x6xf32>
  return
}
schedule.for @copy {
^bb0(%copy: !schedule.stage, %product: !schedule.stage):
  // expected-error @+1 {{cannot inline: what the stage copies is overwritten or freed before the copy is read}}
  schedule.inline %copy
}

// -----

func.func private @copy(%x: memref<6x20xf32>, %w: memref<20x6xf32>, %y: memref<6x6xf32>) attributes {nn.kernel} {
  %t = memref.alloc() : memref<20x6xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<6x20xf32>) outs(%t : memref<20x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<6x20xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w, %t : memref<20x6xf32>, memref<20x6xf32>) outs(%y : memref<6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %acc : f32
    linalg.yield %s : f32
  }
  memref.dealloc %t : memref<20x6xf32>
  return
}
schedule.for @copy {
^bb0(%copy: !schedule.stage, %fill: !schedule.stage, %product: !schedule.stage):
  // expected-error @+1 {{cannot inline: what the stage copies is overwritten or freed before the copy is read}}
  schedule.inline %copy
}

// -----

func.func private @batch(%x: memref<2x3x20xf32>, %y: memref<2x3xf32>) attributes {nn.kernel} {
  %t = memref.alloc() : memref<2x3x20xf32>
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<2x3x20xf32>) outs(%t : memref<2x3x20xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%t : memref<2x3x20xf32>) outs(%y : memref<2x3xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  memref.dealloc %t : memref<2x3x20xf32>
  return
}
schedule.for @batch {
^bb0(%copy: !schedule.stage, %sum: !schedule.stage):
  %i, %j, %k = schedule.loops 3 of %sum
  %ij = schedule.collapse %i, %j
  // expected-error @+1 {{must come before loops of the stage that reads are collapsed}}
  schedule.inline %copy
}

// -----

func.func private @sum(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  // expected-error @+1 {{a loop is parallel beside one that is bound to groups}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @sum {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  %io, %ii = schedule.split %i by 2
  schedule.bind %io to groups<x>
  schedule.parallel %ii
}

// -----

func.func private @sum(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @sum {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  %io, %ii = schedule.split %i by 2
  schedule.bind %io to groups<y>
  schedule.bind %ii to groups<x>
  // expected-error @+1 {{the loop is not the outermost one of those that groups share}}
  schedule.threads 32 of %ii
}

// -----

func.func private @sum(%x: memref<6x20xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x20xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @sum {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  schedule.pipeline %j
  // expected-error @+1 {{the loop is already pipelined}}
  schedule.replicate %j
}

// -----

func.func private @sum(%x: memref<6x?xf32>, %y: memref<6xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x?xf32>) outs(%y : memref<6xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @sum {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  // expected-error @+1 {{the loop's extent is not known; split it first}}
  schedule.replicate %j
}

// -----

func.func private @add(%x: memref<?x8xf32>, %y: memref<?x8xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x8xf32>) outs(%y : memref<?x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @add {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  // expected-error @+1 {{'i' is neither a multiple of 4 nor split}}
  %o, %n = schedule.order %i, %j in blocks of 4
}

// -----

func.func private @add(%x: memref<6x8xf32>, %y: memref<6x8xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<6x8xf32>) outs(%y : memref<6x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @add {
^bb0(%s: !schedule.stage):
  %i, %j = schedule.loops 2 of %s
  // expected-error @+1 {{'i' is neither a multiple of 4 nor split}}
  %o, %n = schedule.order %i, %j in blocks of 4
}
