// A pass runs only on operations whose regions see nothing from outside; `any` skips the others.
// RUN: nn-opt --no-implicit-module --canonicalize --split-input-file --verify-diagnostics %s
// RUN: mlir-opt-22 --no-implicit-module --canonicalize --split-input-file --verify-diagnostics %s
// RUN: not nn-opt --pass-pipeline='builtin.module(arith.constant(cse))' --split-input-file %s 2>&1 | filecheck %s
// RUN: nn-opt --pass-pipeline='builtin.module(any(cse))' --split-input-file %s | filecheck %s --check-prefix=ANY

// CHECK: error: trying to schedule a pass on an operation not marked as 'IsolatedFromAbove'
// ANY:   arith.constant 0
// expected-error@below {{trying to schedule a pass on an operation not marked as 'IsolatedFromAbove'}}
%0 = arith.constant 0 : i64

// -----

func.func @f() {
  return
}
