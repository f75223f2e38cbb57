// schedule.threads: how many threads a group has, and that all groups run the same code, of which the
// last one masks what is beyond.
// RUN: nn-opt --apply-schedules --canonicalize --cse %s | filecheck %s
// RUN: nn-opt --apply-schedules --outline-launches --assign-layouts --canonicalize --cse %s | filecheck %s --check-prefix=GRID

// CHECK-LABEL: func.func private @twice
// CHECK:         scf.parallel (%[[I:.*]], %[[JO:.*]]) = (%c0, %c0) to (%c3, %c100) step (%c1, %c64)
// CHECK:           %[[REST:.*]] = arith.subi %c100, %[[JO]]
// CHECK:           %[[LEFT:.*]] = arith.minsi %[[REST]], %c64
// CHECK:           %[[MASK:.*]] = vector.create_mask %[[LEFT]] : vector<64xi1>
// CHECK:           vector.transfer_read %{{.*}}[%[[I]], %[[JO]]], %{{.*}}, %[[MASK]]
// CHECK:           vector.transfer_write %{{.*}}, %{{.*}}[%[[I]], %[[JO]]], %[[MASK]]
// CHECK:           scf.reduce
// CHECK:         } {mapping = [#gpu.block<y>, #gpu.block<x>], nn.threads = 16 : i64}
// CHECK-NOT:     vector.

// GRID:          gpu.func @twice_0{{.*}}known_block_size = array<i32: 16, 1, 1>
// GRID:          gpu.launch_func  @kernels::@twice_0 blocks in (%c2, %c3, %c1) threads in (%c16, %c1, %c1)
func.func private @twice(%x: memref<3x100xf32>, %y: memref<3x100xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<3x100xf32>) outs(%y : memref<3x100xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @twice {
^bb0(%map: !schedule.stage):
  %i, %j = schedule.loops 2 of %map
  %jo, %ji = schedule.split %j by 64
  schedule.vectorize %ji
  schedule.bind %i to groups<y>
  schedule.bind %jo to groups<x>
  schedule.threads 16 of %i
}
