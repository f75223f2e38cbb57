// --split-input-file treats each part alone: the same symbol may stand in several.
// RUN: nn-opt --split-input-file --canonicalize %s | filecheck %s

// CHECK-LABEL: func.func @f() -> i32
// CHECK-NEXT:    %[[C:.*]] = arith.constant 3 : i32
// CHECK-NEXT:    return %[[C]] : i32
func.func @f() -> i32 {
  %0 = arith.constant 1 : i32
  %1 = arith.constant 2 : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}

// CHECK: // -----
// -----

// CHECK-LABEL: func.func @f(
// CHECK-NEXT:    return
func.func @f(%arg0: f32) {
  return
}
