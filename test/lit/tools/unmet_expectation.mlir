// An expectation that nothing meets fails, and so does a diagnostic that nobody expects.
// RUN: not nn-opt --split-input-file --verify-diagnostics %s 2>&1 | filecheck %s

// CHECK: unmet_expectation.mlir:{{[0-9]+}}: expected error "never said" was not produced
// expected-error@+1 {{never said}}
module {}

// -----

// CHECK: unmet_expectation.mlir:{{[0-9]+}}: unexpected error
func.func @f() -> i32 {
  return
}
