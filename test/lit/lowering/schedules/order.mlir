// schedule.order: tiles in blocks of rows, here two rows of tiles, so that groups that start one after
// the other need one part of %w and few parts of %x. What is no whole block is one of its own.
// RUN: nn-opt --apply-schedules --canonicalize --cse %s | filecheck %s
// RUN: nn-opt --apply-schedules --outline-launches --canonicalize --cse %s | filecheck %s --check-prefix=GRID

// 5 x 3 tiles of 16 x 8.

// CHECK-LABEL: func.func private @map
// CHECK:         scf.parallel (%[[B:.*]], %[[N:.*]], %[[M:.*]]) = (%c0, %c0, %c0) to (%c64, %c24, %c32) step (%c32, %c8, %c16)
// CHECK:           %[[ROW:.*]] = arith.addi
// CHECK:           vector.transfer_read %{{.*}}[%[[ROW]], %[[N]]]
// CHECK:         } {mapping = [#gpu.block<z>, #gpu.block<y>, #gpu.block<x>]}
// CHECK:         scf.parallel (%[[N:.*]]) = (%c0) to (%c24) step (%c8)
// CHECK:           vector.transfer_read %{{.*}}[%c64, %[[N]]]

// GRID:          gpu.launch_func  @kernels::@map_0 blocks in (%c2, %c3, %c2)
// GRID:          gpu.launch_func  @kernels::@map_1 blocks in (%c1, %c3, %c1)
func.func private @map(%x: memref<80x24xf32>, %y: memref<80x24xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<80x24xf32>) outs(%y : memref<80x24xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @map {
^bb0(%map: !schedule.stage):
  %m, %n = schedule.loops 2 of %map
  %mo, %mi = schedule.split %m by 16
  %no, %ni = schedule.split %n by 8
  schedule.reorder %mo, %no, %mi, %ni
  schedule.unroll %mi
  schedule.vectorize %ni
  %block, %row = schedule.order %mo, %no in blocks of 2
  schedule.bind %block to groups<z>
  schedule.bind %no to groups<y>
  schedule.bind %row to groups<x>
}

// Several loops along one axis count there as one.

// GRID:          gpu.launch_func  @kernels::@flat_0 blocks in (%c12, %c1, %c1)
// CHECK-LABEL: func.func private @flat
// CHECK:         } {mapping = [#gpu.block<x>, #gpu.block<x>]}
func.func private @flat(%x: memref<4x24xf32>, %y: memref<4x24xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x24xf32>) outs(%y : memref<4x24xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @flat {
^bb0(%map: !schedule.stage):
  %m, %n = schedule.loops 2 of %map
  %no, %ni = schedule.split %n by 8
  schedule.vectorize %ni
  schedule.bind %m to groups<x>
  schedule.bind %no to groups<x>
}
