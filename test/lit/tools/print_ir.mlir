// --mlir-print-ir-* show the IR around passes, under upstream's headings, on standard error.
// RUN: nn-opt --canonicalize --cse --mlir-print-ir-after-all %s 2>&1 | filecheck %s
// RUN: nn-opt --canonicalize --cse --mlir-print-ir-before-all %s 2>&1 | filecheck %s --check-prefix=BEFORE-ALL
// RUN: nn-opt --canonicalize --cse --mlir-print-ir-before=cse %s 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: nn-opt --canonicalize --cse --mlir-print-ir-after=symbol-dce,cse %s 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: nn-opt --canonicalize --cse --mlir-print-ir-after-all --mlir-print-ir-after-change %s 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: nn-opt --canonicalize --cse --mlir-print-ir-after-change %s 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: nn-opt --canonicalize --cse --mlir-print-ir-after-failure %s 2>&1 | filecheck %s --check-prefix=NONE
// RUN: nn-opt --cse --mlir-print-ir-after-all --mlir-print-op-generic %s 2>&1 | filecheck %s --check-prefix=GENERIC

// CHECK:      // -----// IR Dump After Canonicalizer (canonicalize) //----- //
// CHECK-NEXT: module {
// CHECK-NEXT:   func.func @f
// CHECK:      {{^}$}}
// CHECK-EMPTY:
// CHECK-EMPTY:
// CHECK-NEXT: // -----// IR Dump After CSE (cse) //----- //
// CHECK-NEXT: module {

// BEFORE-ALL:     // -----// IR Dump Before Canonicalizer (canonicalize) //----- //
// BEFORE-ALL:     // -----// IR Dump Before CSE (cse) //----- //
// BEFORE-ALL-NOT: IR Dump

// BEFORE-NOT: Canonicalizer
// BEFORE:     // -----// IR Dump Before CSE (cse) //----- //
// BEFORE-NOT: IR Dump After

// AFTER-NOT: Canonicalizer
// AFTER:     // -----// IR Dump After CSE (cse) //----- //
// AFTER-NOT: IR Dump Before

// CHANGE-NOT: Canonicalizer
// CHANGE:     // -----// IR Dump After CSE (cse) //----- //
// CHANGE-NOT: IR Dump Before

// NONE-NOT: IR Dump

// GENERIC:      // -----// IR Dump After CSE (cse) //----- //
// GENERIC-NEXT: "builtin.module"() ({
func.func @f(%a: f32) -> f32 {
  %0 = arith.mulf %a, %a : f32
  %1 = arith.mulf %a, %a : f32
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}
