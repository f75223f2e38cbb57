// --trace-rewrites names each rule that fires, and what it fires on.
// RUN: nn-opt --canonicalize --trace-rewrites %s 2>&1 | filecheck %s

// CHECK: fold: arith.addi
// CHECK-LABEL: func.func @f
// CHECK-NEXT: return
func.func @f(%a: i32) -> i32 {
  %0 = arith.constant 0 : i32
  %1 = arith.addi %a, %0 : i32
  return %1 : i32
}
