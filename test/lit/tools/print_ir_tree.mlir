// --mlir-print-ir-tree-dir writes the dumps into folders that follow the nesting of operations.
// RUN: nn-opt --pass-pipeline='builtin.module(func.func(canonicalize,cse),symbol-dce)' --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t %s 2>&1 | filecheck %s --check-prefix=NONE
// RUN: cat %t/builtin_module_no-symbol-name/func_func_f/0_0_canonicalize.mlir | filecheck %s --check-prefix=FIRST
// RUN: cat %t/builtin_module_no-symbol-name/func_func_f/0_1_cse.mlir | filecheck %s --check-prefix=SECOND
// RUN: cat %t/builtin_module_no-symbol-name/func_func_g/0_1_cse.mlir | filecheck %s --check-prefix=OTHER
// RUN: cat %t/builtin_module_no-symbol-name/1_symbol-dce.mlir | filecheck %s --check-prefix=LAST

// NONE-NOT: IR Dump

// FIRST:      // -----// IR Dump After Canonicalizer (canonicalize) //----- //
// FIRST-NEXT: func.func @f

// SECOND:      // -----// IR Dump After CSE (cse) //----- //
// SECOND-NEXT: func.func @f

// OTHER:      // -----// IR Dump After CSE (cse) //----- //
// OTHER-NEXT: func.func @g

// LAST:      // -----// IR Dump After SymbolDCE (symbol-dce) //----- //
// LAST-NEXT: module {
func.func @f(%a: f32) -> f32 {
  return %a : f32
}
func.func @g() {
  return
}
