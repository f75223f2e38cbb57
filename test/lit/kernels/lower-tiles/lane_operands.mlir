// Where a multiply-add takes one lane of a vector for all lanes, what four steps of a reduction need of
// the operand without lanes is one load; elsewhere it is four.
// RUN: nn-opt --lower-tiles='target=neoverse-n1' --canonicalize --cse %s | filecheck %s
// RUN: nn-opt --lower-tiles='target=sse' --canonicalize --cse %s | filecheck %s --check-prefix=SCALAR
// RUN: nn-opt --check-numerics --lower-tiles='target=neoverse-n1' %s | filecheck %s --check-prefix=SAME

// SAME: func.func @steps
// CHECK-LABEL: func.func @steps
// CHECK:         scf.for %[[K:[^ ]*]] =
// CHECK:           %[[ROW:.*]] = vector.load %arg0[%c0, %[[K]]] : memref<1x32xf32>, vector<4xf32>
// CHECK:           vector.extract %[[ROW]][0]
// CHECK:           vector.extract %[[ROW]][1]
// CHECK:           vector.extract %[[ROW]][2]
// CHECK:           vector.extract %[[ROW]][3]
// CHECK-NOT:       vector.extract
// SCALAR-LABEL: func.func @steps
// SCALAR-NOT:    vector.extract
// SCALAR-COUNT-4:  memref.load %arg0
func.func @steps(%a: memref<1x32xf32>, %b: memref<32x4xf32>, %c: memref<1x4xf32>) attributes {nn.kernel} {
  %zero = arith.constant dense<0.0> : vector<1x4xf32>
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %t = scf.for %k = %c0 to %c32 step %c4 iter_args(%acc = %zero) -> (vector<1x4xf32>) {
    %x = vector.transfer_read %a[%c0, %k], %pad {in_bounds = [true, true]} : memref<1x32xf32>, vector<1x4xf32>
    %y = vector.transfer_read %b[%k, %c0], %pad {in_bounds = [true, true]} : memref<32x4xf32>, vector<4x4xf32>
    %d = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %x, %y, %acc : vector<1x4xf32>, vector<4x4xf32> into vector<1x4xf32>
    scf.yield %d : vector<1x4xf32>
  }
  vector.transfer_write %t, %c[%c0, %c0] {in_bounds = [true, true]} : vector<1x4xf32>, memref<1x4xf32>
  return
}
