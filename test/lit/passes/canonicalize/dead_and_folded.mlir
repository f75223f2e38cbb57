// canonicalize folds, simplifies and removes dead code to a fixed point.
// RUN: nn-opt --canonicalize %s | filecheck %s

// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    %[[C:.*]] = arith.constant 24 : index
// CHECK-NEXT:    return %[[C]] : index
func.func @chain() -> index {
  %0 = arith.constant 2 : index
  %1 = arith.constant 3 : index
  %2 = arith.muli %0, %1 : index
  %3 = arith.addi %2, %2 : index
  %4 = arith.muli %3, %0 : index
  return %4 : index
}

// Not x * 0 on floats: NaN * 0 is NaN.
// CHECK-LABEL: func.func @float_zero
// CHECK:         arith.mulf
func.func @float_zero(%a: f32) -> f32 {
  %0 = arith.constant 0.0 : f32
  %1 = arith.mulf %a, %0 : f32
  return %1 : f32
}
