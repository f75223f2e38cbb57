// --mlir-print-ir-* show the IR around passes, under upstream's headings, on standard error.
// RUN: nn-opt --canonicalize --cse --mlir-print-ir-after-all %s 2>&1 | filecheck %s
// RUN: nn-opt --canonicalize --cse --mlir-print-ir-before=cse %s 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: nn-opt --canonicalize --cse --mlir-print-ir-after-change %s 2>&1 | filecheck %s --check-prefix=CHANGE

// CHECK: // -----// IR Dump After Canonicalize (canonicalize) //----- //
// CHECK: func.func @f
// CHECK: // -----// IR Dump After Cse (cse) //----- //
// BEFORE-NOT: IR Dump After
// BEFORE: // -----// IR Dump Before Cse (cse) //----- //
// CHANGE-NOT: (canonicalize)
// CHANGE: // -----// IR Dump After Cse (cse) //----- //
func.func @f(%a: f32) -> f32 {
  %0 = arith.mulf %a, %a : f32
  %1 = arith.mulf %a, %a : f32
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}
