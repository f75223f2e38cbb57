// schedule.rfactor: each iteration of a loop of a reduction has results of its own, here those of a
// group; a new stage, a launch of its own, adds them up in their order.
// RUN: nn-opt --apply-schedules --canonicalize --cse %s | filecheck %s
// RUN: nn-opt --apply-schedules --outline-launches --canonicalize --cse %s | filecheck %s --check-prefix=LAUNCH
// RUN: nn-opt --apply-schedules --outline-launches --assign-layouts --distribute-tiles --prove-kernels=require %s

// 1000 elements by 256: three groups of 256 elements, and one of 232.

// CHECK-LABEL: func.func private @sum
// CHECK:         %[[PARTS:.*]] = memref.alloc() : memref<4x8xf32>
// CHECK:         scf.parallel (%[[JO:.*]], %[[I:.*]]) = (%c0, %c0) to (%c768, %c8) step (%c256, %c1)
// CHECK:           %[[PART:.*]] = arith.divui %[[JO]], %c256
// CHECK:           scf.for {{.*}} iter_args(%{{.*}} = %cst_0)
// CHECK:           memref.store %{{.*}}, %[[PARTS]][%[[PART]], %[[I]]]
// CHECK:         } {mapping = [#gpu.block<y>, #gpu.block<x>]}
// CHECK:         scf.parallel (%[[REST:.*]]) = (%c0) to (%c8) step (%c1)
// CHECK:           memref.store %{{.*}}, %[[PARTS]][%c3, %[[REST]]]
// CHECK:         scf.parallel (%[[K:.*]]) = (%c0) to (%c8) step (%c1)
// CHECK:           %[[OLD:.*]] = memref.load %arg1[%[[K]]]
// CHECK:           scf.for %[[P:.*]] = %c0 to %c4 step %c1 iter_args(%[[SUM:.*]] = %[[OLD]])
// CHECK:             %[[ONE:.*]] = memref.load %[[PARTS]][%[[P]], %[[K]]]
// CHECK:             arith.addf %[[SUM]], %[[ONE]]
// CHECK:         memref.dealloc %[[PARTS]]

// LAUNCH:       gpu.launch_func  @kernels::@sum_0 blocks in (%c8, %c3, %c1)
// LAUNCH:       gpu.launch_func  @kernels::@sum_1 blocks in (%c8, %c1, %c1)
// LAUNCH:       gpu.launch_func  @kernels::@sum_2 blocks in (%c8, %c1, %c1)
func.func private @sum(%x: memref<8x1000xf32>, %y: memref<8xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : memref<8x1000xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @sum {
^bb0(%reduce: !schedule.stage):
  %i, %j = schedule.loops 2 of %reduce
  %jo, %ji = schedule.split %j by 256
  %jm, %jv = schedule.split %ji by 8
  schedule.reorder %jo, %i, %jm, %jv
  schedule.vectorize %jv
  schedule.accumulate %jm
  %sum = schedule.rfactor %jo
  schedule.bind %jo to groups<y>
  schedule.bind %i to groups<x>
  %k, %p = schedule.loops 2 of %sum
  schedule.accumulate %p
  schedule.bind %k to groups<x>
}
