// cse merges pure operations with equal operands and attributes, across nested regions that
// see them, and in either order of operands where the operation is commutative.
// RUN: nn-opt --cse %s | filecheck %s

// CHECK-LABEL: func.func @equal
// CHECK:         %[[S:.*]] = arith.addi %[[A:.*]], %[[B:.*]] : i32
// CHECK-NEXT:    arith.muli %[[S]], %[[S]]
func.func @equal(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %b, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}

// CHECK-LABEL: func.func @nested
// CHECK:         arith.mulf
// CHECK:         scf.if
// CHECK-NOT:     arith.mulf
// CHECK:         return
func.func @nested(%c: i1, %a: f32) -> f32 {
  %0 = arith.mulf %a, %a : f32
  %1 = scf.if %c -> (f32) {
    %2 = arith.mulf %a, %a : f32
    scf.yield %2 : f32
  } else {
    scf.yield %0 : f32
  }
  return %1 : f32
}
