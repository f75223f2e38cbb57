// A local reproducer holds the module just before the pass that fails, and that pass only.
// RUN: not nn-opt --pass-pipeline='builtin.module(func.func(cse,canonicalize{max-rewrites=1}))' --mlir-pass-pipeline-crash-reproducer=%t.mlir --mlir-pass-pipeline-local-reproducer --mlir-disable-threading %s 2>&1 | filecheck %s
// RUN: cat %t.mlir | filecheck %s --check-prefix=FILE
// RUN: not nn-opt --run-reproducer --dump-pass-pipeline %t.mlir 2>&1 | filecheck %s --check-prefix=AGAIN

// CHECK: note: Pipeline failed while executing `Canonicalizer` on 'func.func' operation: @f: reproducer generated at `{{.*}}`

// FILE: arith.muli
// FILE-NOT: arith.muli
// FILE: pipeline: "builtin.module(func.func(canonicalize{max-rewrites=1}))",

// AGAIN:      Pass Manager with 1 passes:
// AGAIN-NEXT: builtin.module(
// AGAIN-NEXT:   func.func(
// AGAIN-NEXT:     canonicalize{max-iterations=10 max-num-rewrites=-1 max-rewrites=1 
// AGAIN:      error: rewriting does not end
func.func @f(%a: i32) -> i32 {
  %c = arith.constant 0 : i32
  %0 = arith.muli %a, %a : i32
  %1 = arith.muli %a, %a : i32
  %2 = arith.addi %0, %c : i32
  %3 = arith.addi %1, %c : i32
  %4 = arith.addi %2, %3 : i32
  %5 = arith.addi %4, %c : i32
  return %5 : i32
}
