// schedule.pipeline and schedule.replicate leave loops as they are and mark them; a stage that is
// fused into a loop inside shares the mark.
// RUN: nn-opt --apply-schedules --canonicalize --cse %s | filecheck %s

// CHECK-LABEL: func.func private @product
// CHECK:         scf.for %[[NO:.*]] = %c0 to %c8 step %c4
// CHECK:           scf.for %[[K:.*]] = %c0 to %c6 step %c1
// CHECK:             scf.for %[[NI:.*]] = %c0 to %c4 step %c1
// CHECK:               arith.muli
// CHECK:               arith.addi
// CHECK:             } {nn.replicate = 4 : i64}
// CHECK:           } {nn.pipeline = 2 : i64}
func.func private @product(%x: memref<6xi32>, %w: memref<6x8xi32>, %y: memref<8xi32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(n, k) -> (k)>, affine_map<(n, k) -> (k, n)>, affine_map<(n, k) -> (n)>], iterator_types = ["parallel", "reduction"]} ins(%x, %w : memref<6xi32>, memref<6x8xi32>) outs(%y : memref<8xi32>) {
  ^bb0(%a: i32, %b: i32, %acc: i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %acc, %p : i32
    linalg.yield %s : i32
  }
  return
}
schedule.for @product {
^bb0(%p: !schedule.stage):
  %n, %k = schedule.loops 2 of %p
  %no, %ni = schedule.split %n by 4
  schedule.reorder %no, %k, %ni
  schedule.replicate %ni
  schedule.pipeline %k interval 2
}

// CHECK-LABEL: func.func private @halves
// CHECK:         scf.for %[[I:.*]] = %c0 to %c8 step %c1
// CHECK:           arith.mulf
// CHECK:           arith.addf
// CHECK:         } {nn.pipeline = 1 : i64}
func.func private @halves(%x: memref<8xf32>, %y: memref<8xf32>) attributes {nn.kernel} {
  %half = arith.constant 5.000000e-01 : f32
  %t = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%t : memref<8xf32>) {
  ^bb0(%a: f32, %old: f32):
    %p = arith.mulf %a, %half : f32
    linalg.yield %p : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t : memref<8xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %old: f32):
    %p = arith.addf %a, %half : f32
    linalg.yield %p : f32
  }
  memref.dealloc %t : memref<8xf32>
  return
}
schedule.for @halves {
^bb0(%first: !schedule.stage, %second: !schedule.stage):
  %i = schedule.loops 1 of %second
  schedule.fuse %first at %i
  schedule.pipeline %i
}
