// Where a pass fails, a reproducer holds the module as it was and the pipeline; it can be run.
// RUN: not nn-opt --pass-pipeline='builtin.module(func.func(cse),canonicalize{max-rewrites=1},symbol-dce)' --mlir-pass-pipeline-crash-reproducer=%t.mlir %s 2>&1 | filecheck %s
// RUN: cat %t.mlir | filecheck %s --check-prefix=FILE
// RUN: mlir-opt-22 %t.mlir | filecheck %s --check-prefix=UPSTREAM
// RUN: not nn-opt --run-reproducer %t.mlir 2>&1 | filecheck %s --check-prefix=AGAIN
// RUN: nn-opt %t.mlir | filecheck %s --check-prefix=UPSTREAM

// CHECK: reproducer.mlir: error: rewriting does not end
// CHECK: error: Failures have been detected while processing an MLIR pass pipeline
// CHECK: note: Pipeline failed while executing [`Canonicalizer` on 'builtin.module' operation]: reproducer generated at `{{.*}}reproducer.mlir`
// CHECK-NOT: func.func @f

// FILE:      module {
// FILE-NEXT:   func.func @f(%arg0: i32) -> i32 {
// FILE-COUNT-2: arith.muli
// FILE:      {{^}$}}
// FILE-EMPTY:
// FILE-NEXT: {-#
// FILE-NEXT:   external_resources: {
// FILE-NEXT:     mlir_reproducer: {
// FILE-NEXT:       pipeline: "builtin.module(func.func(cse),canonicalize{max-rewrites=1},symbol-dce)",
// FILE-NEXT:       disable_threading: true,
// FILE-NEXT:       verify_each: true
// FILE-NEXT:     }
// FILE-NEXT:   }
// FILE-NEXT: #-}

// UPSTREAM-COUNT-2: arith.muli

// AGAIN: error: rewriting does not end
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
