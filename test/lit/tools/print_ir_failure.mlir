// The IR after a pass that failed is shown by --mlir-print-ir-after-failure, and by -after-all.
// RUN: not nn-opt --cse --canonicalize='max-rewrites=1' --mlir-print-ir-after-failure %s 2>&1 | filecheck %s --check-prefixes=ONLY,CHECK
// RUN: not nn-opt --cse --canonicalize='max-rewrites=1' --mlir-print-ir-after-all %s 2>&1 | filecheck %s --check-prefixes=ALL,CHECK

// ONLY-NOT:  IR Dump After CSE
// ALL:       IR Dump After CSE (cse)
// CHECK:     // -----// IR Dump After Canonicalizer Failed (canonicalize) //----- //
// CHECK:     error: rewriting does not end
func.func @f(%a: i32) -> i32 {
  %c = arith.constant 0 : i32
  %0 = arith.addi %a, %c : i32
  %1 = arith.muli %0, %0 : i32
  %2 = arith.addi %1, %c : i32
  return %2 : i32
}
