// A pass on functions dumps the function; with --mlir-print-ir-module-scope the module around it.
// RUN: nn-opt --pass-pipeline='builtin.module(func.func(cse))' --mlir-print-ir-before-all %s 2>&1 | filecheck %s
// RUN: nn-opt --pass-pipeline='builtin.module(func.func(cse),cse)' --mlir-print-ir-before-all --mlir-print-ir-module-scope --mlir-disable-threading %s 2>&1 | filecheck %s --check-prefix=MODULE

// CHECK:      // -----// IR Dump Before CSE (cse) //----- //
// CHECK-NEXT: func.func @f(%arg0: f32) -> f32 {
// CHECK-NEXT:   return
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: // -----// IR Dump Before CSE (cse) //----- //
// CHECK-NEXT: func.func private @g()
// CHECK-EMPTY:
// CHECK-NEXT: module {

// MODULE:      // -----// IR Dump Before CSE (cse) ('func.func' operation: @f) //----- //
// MODULE-NEXT: module {
// MODULE:      // -----// IR Dump Before CSE (cse) ('func.func' operation: @g) //----- //
// MODULE-NEXT: module {
// MODULE:      // -----// IR Dump Before CSE (cse) ('builtin.module' operation) //----- //
func.func @f(%a: f32) -> f32 {
  return %a : f32
}
func.func private @g()
