// Indices of constants are constants; digits put together again are the index they came from.
// RUN: nn-opt --canonicalize %s | filecheck %s

// CHECK-LABEL: @constants
// CHECK-DAG: %[[A:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[B:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[D:.*]] = arith.constant 23 : index
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @constants() -> (index, index, index, index) {
  %c33 = arith.constant 33 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0:3 = affine.delinearize_index %c33 into (2, 5, 5) : index, index, index
  %c2 = affine.min affine_map<(d0) -> (d0, 2)>(%c3)
  %c3b = affine.max affine_map<(d0) -> (d0, 2)>(%c3)
  %2 = affine.linearize_index [%c3b] by () : index
  %3 = affine.linearize_index [%c1, %c1, %c3] by (3, 5) : index
  return %0#0, %c2, %2, %3 : index, index, index, index
}

// CHECK-LABEL: @put_together
// CHECK-NEXT: return %arg0 : index
func.func @put_together(%i: index, %n: index) -> index {
  %0:3 = affine.delinearize_index %i into (%n, 5) : index, index, index
  %1 = affine.linearize_index [%0#0, %0#1, %0#2] by (%n, 5) : index
  return %1 : index
}

// CHECK-LABEL: @other_basis
// CHECK: affine.linearize_index
func.func @other_basis(%i: index, %n: index) -> index {
  %0:3 = affine.delinearize_index %i into (%n, 5) : index, index, index
  %1 = affine.linearize_index [%0#0, %0#1, %0#2] by (%n, 6) : index
  return %1 : index
}
