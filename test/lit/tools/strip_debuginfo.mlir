// --strip-debuginfo makes every location unknown, as upstream's pass does.
// RUN: nn-opt --strip-debuginfo --mlir-print-debuginfo %s -o %t.ours.mlir
// RUN: mlir-opt-22 --strip-debuginfo --mlir-print-debuginfo %s -o %t.theirs.mlir
// RUN: diff %t.ours.mlir %t.theirs.mlir
// RUN: cat %t.ours.mlir | filecheck %s

// CHECK:      #[[L:.*]] = loc(unknown)
// CHECK-NEXT: module {
// CHECK-NEXT:   func.func @f(%arg0: i32 loc(unknown)) -> i32 {
// CHECK-NEXT:     arith.addi {{.*}} loc(#[[L]])
func.func @f(%a: i32 loc("model.py":3:7)) -> i32 {
  %0 = arith.addi %a, %a : i32 loc("sum")
  return %0 : i32
}
