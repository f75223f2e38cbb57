// A reproducer that mlir-opt wrote is run here, and one of ours there; --mlir-generate-reproducer needs no failure.
// RUN: mlir-opt-22 %s --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' --mlir-generate-reproducer=%t.theirs.mlir -o %t.out
// RUN: nn-opt --run-reproducer %t.theirs.mlir | filecheck %s
// RUN: nn-opt %s --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' --verify-each=0 --mlir-generate-reproducer=%t.ours.mlir -o %t.out
// RUN: mlir-opt-22 --run-reproducer %t.ours.mlir | filecheck %s
// RUN: cat %t.ours.mlir | filecheck %s --check-prefix=FILE

// CHECK-NOT: @unused
// CHECK:     func.func @f
// CHECK-NEXT:  arith.muli
// CHECK-NEXT:  arith.addi
// CHECK-NEXT:  return

// FILE: func.func private @unused
// FILE: verify_each: false
func.func private @unused()
func.func @f(%a: i32) -> i32 {
  %0 = arith.muli %a, %a : i32
  %1 = arith.muli %a, %a : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
