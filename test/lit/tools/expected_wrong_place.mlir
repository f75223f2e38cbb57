// An error on another line than expected is both unexpected and missing.
// RUN: not nn-opt --verify-diagnostics %s 2>&1 | filecheck %s
// RUN: not nn-opt --verify-diagnostics=some %s 2>&1 | filecheck %s --check-prefix=CHOICE

// CHECK-DAG: :11:3: error: unexpected error: 'func.return' op has 0 operands
// CHECK-DAG: :10:6: error: expected error "has 0 operands" was not produced
// CHOICE:    option '--verify-diagnostics' takes one of all, only-expected, not 'some'

func.func @f() -> i32 {
  // expected-error@+2 {{has 0 operands}}
  return
}
