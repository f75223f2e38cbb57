// schedule.cache padded: the group copies its part of the image, with the border's number around it; the stages
// that made the padded image are gone, and so is that image.
// RUN: nn-opt --apply-schedules --canonicalize --cse %s | filecheck %s
// RUN: nn-opt --apply-schedules --outline-launches --assign-layouts --distribute-tiles --prove-kernels=require %s

// CHECK-LABEL: func.func @window(%arg0: memref<64xf32>,
// CHECK-DAG:     %[[EVERY:.*]] = arith.constant dense<true> : vector<18xi1>
// CHECK-DAG:     %[[NUMBER:.*]] = arith.constant -2.500000e+00 : f32
// CHECK-NOT:     memref.alloc()
// CHECK-NOT:     linalg.fill
// CHECK:         scf.parallel (%[[I:.*]]) =
// CHECK:           %[[ROOM:.*]] = memref.alloca() : memref<18xf32, #gpu.address_space<workgroup>>
// CHECK-DAG:       %[[FIRST:.*]] = arith.addi %[[I]], %c-1
// CHECK-DAG:       %[[END:.*]] = arith.subi %c65, %[[I]]
// CHECK-DAG:       %[[BEFORE:.*]] = arith.subi %c1, %[[I]]
// CHECK-DAG:       %[[BELOW:.*]] = vector.create_mask %[[END]] : vector<18xi1>
// CHECK-DAG:       %[[OUTSIDE:.*]] = vector.create_mask %[[BEFORE]] : vector<18xi1>
// CHECK:           %[[REST:.*]] = arith.xori %[[OUTSIDE]], %[[EVERY]] : vector<18xi1>
// CHECK:           %[[MASK:.*]] = arith.andi %[[BELOW]], %[[REST]] : vector<18xi1>
// CHECK:           %[[PART:.*]] = vector.transfer_read %arg0[%[[FIRST]]], %[[NUMBER]], %[[MASK]] {in_bounds = [true]}
// CHECK:           vector.transfer_write %[[PART]], %[[ROOM]][%c0]
func.func @window(%x: memref<64xf32>, %w: memref<3xf32>, %y: memref<64xf32>) attributes {nn.kernel} {
  %less = arith.constant -2.5 : f32
  %padded = memref.alloc() : memref<66xf32>
  %before = memref.subview %padded[0] [1] [1] : memref<66xf32> to memref<1xf32, strided<[1]>>
  linalg.fill ins(%less : f32) outs(%before : memref<1xf32, strided<[1]>>)
  %behind = memref.subview %padded[65] [1] [1] : memref<66xf32> to memref<1xf32, strided<[1], offset: 65>>
  linalg.fill ins(%less : f32) outs(%behind : memref<1xf32, strided<[1], offset: 65>>)
  %middle = memref.subview %padded[1] [64] [1] : memref<66xf32> to memref<64xf32, strided<[1], offset: 1>>
  linalg.copy ins(%x : memref<64xf32>) outs(%middle : memref<64xf32, strided<[1], offset: 1>>)
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%padded, %w : memref<66xf32>, memref<3xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %old, %p : f32
    linalg.yield %s : f32
  }
  memref.dealloc %padded : memref<66xf32>
  return
}
schedule.for @window {
^bb0(%before: !schedule.stage, %behind: !schedule.stage, %copy: !schedule.stage, %conv: !schedule.stage):
  %i, %k = schedule.loops 2 of %conv
  %io, %ii = schedule.split %i by 16
  schedule.reorder %io, %k, %ii
  schedule.vectorize %ii
  schedule.bind %io to groups<x>
  schedule.cache padded 0 of %conv in workgroup at %io
}
