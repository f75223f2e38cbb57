// A loop whose steps the body uses is unrolled around small remainders of a tile: there each step is a
// constant. Around the whole tile it stays a loop.
// RUN: nn-opt --apply-schedules %s | filecheck %s

// CHECK-LABEL: @parts
// CHECK:         scf.for %{{.*}} = %c0 to %{{.*}} step %c4
// CHECK:           scf.for {{.*}} -> (vector<4x8xi32>)
// CHECK:             scf.for %{{.*}} = %c0 to %c4 step %c1 {{.*}} -> (vector<4x8xi32>)
// CHECK:         scf.for {{.*}} -> (vector<2x8xi32>)
// CHECK-NOT:       scf.for
// CHECK:           arith.shrui
// CHECK:           arith.shrui
// CHECK:           arith.shrui
// CHECK:           scf.yield
func.func private @parts(%x: memref<?x16x4xi32>, %w: memref<16x8xi32>, %y: memref<?x8xi32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(m, n, k, j) -> (m, k, j)>, affine_map<(m, n, k, j) -> (k, n)>, affine_map<(m, n, k, j) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %w : memref<?x16x4xi32>, memref<16x8xi32>) outs(%y : memref<?x8xi32>) {
  ^bb0(%a: i32, %b: i32, %c: i32):
    %j = linalg.index 3 : index
    %0 = arith.index_cast %j : index to i32
    %1 = arith.shrui %b, %0 : i32
    %2 = arith.muli %a, %1 : i32
    %3 = arith.addi %c, %2 : i32
    linalg.yield %3 : i32
  }
  return
}
schedule.for @parts {
^bb0(%product: !schedule.stage):
  %m, %n, %k, %j = schedule.loops 4 of %product
  %mo, %mi = schedule.split %m by 4
  schedule.unroll %j {most = 8 : i64}
  schedule.reorder %mo, %k, %j, %mi, %n
  schedule.unroll %mi
  schedule.vectorize %n
  schedule.accumulate %k
}
