// schedule.bind: loops as groups of a device along the axes that it names, which outline-launches
// makes a grid of.
// RUN: nn-opt --apply-schedules --canonicalize --cse %s | filecheck %s
// RUN: nn-opt --apply-schedules --outline-launches --canonicalize --cse %s | filecheck %s --check-prefix=GRID

// CHECK-LABEL: func.func private @twice
// CHECK:         scf.parallel (%[[IO:.*]], %[[J:.*]]) = (%c0, %c0) to (%c64, %c20) step (%c16, %c1)
// CHECK:           vector.transfer_read %{{.*}}[%[[IO]], %[[J]]]
// CHECK:         } {mapping = [#gpu.block<x>, #gpu.block<z>]}

// GRID:          gpu.func @twice_0
// GRID-DAG:        %[[X:.*]] = gpu.block_id  x
// GRID-DAG:        %[[Z:.*]] = gpu.block_id  z
// GRID:            %[[I:.*]] = arith.muli %[[X]], %c16
// GRID:            vector.transfer_read %{{.*}}[%[[I]], %[[Z]]]
// GRID:          gpu.launch_func  @kernels::@twice_0 blocks in (%c4, %c1, %c20)
func.func private @twice(%x: memref<64x20xf32>, %y: memref<64x20xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x20xf32>) outs(%y : memref<64x20xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @twice {
^bb0(%map: !schedule.stage):
  %i, %j = schedule.loops 2 of %map
  %io, %ii = schedule.split %i by 16
  schedule.reorder %io, %j, %ii
  schedule.bind %io to groups<x>
  schedule.bind %j to groups<z>
  schedule.vectorize %ii
}
