// An expectation that nothing meets fails, and so does a diagnostic that nobody expects.
// RUN: not nn-opt --split-input-file --verify-diagnostics %s 2>&1 | filecheck %s
// RUN: not nn-opt --split-input-file --verify-diagnostics=only-expected %s 2>&1 | filecheck %s --check-prefix=ONLY

// CHECK:      unmet_expectation.mlir:9:4: error: expected error "never said" was not produced
// CHECK-NEXT: // expected-error@+1 {{.*}}never said{{.*}}
// CHECK-NEXT: {{^}}   ^~~~~~~~~~{{$}}
// ONLY:       9:4: error: expected error "never said" was not produced
// expected-error@+1 {{never said}}
module {}

// -----

// CHECK:      unmet_expectation.mlir:{{[0-9]+}}:3: error: unexpected error: 'func.return' op has 0 operands
// CHECK-NEXT: {{^}}  return{{$}}
// CHECK-NEXT: {{^}}  ^{{$}}
// ONLY-NOT:   unexpected error
func.func @f() -> i32 {
  return
}

// -----

// CHECK: error: 'error' diagnostic emitted when expecting a 'warning'
// CHECK: error: expected warning "block with no terminator" was not produced
func.func @g() {
  // expected-warning@+1 {{block with no terminator}}
  %0 = arith.constant 1.0 : f32
}

// -----

// CHECK: error: found start of regex with no end '}}'
// CHECK: error: invalid regex: missing ), unterminated subpattern
// expected-error-re@below {{a{{b+c}}
// expected-error-re@below {{a{{(b+}}}}
module {}
