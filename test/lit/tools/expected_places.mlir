// Expectations name their line in every way that upstream knows; mlir-opt agrees on this file.
// RUN: nn-opt --split-input-file --verify-diagnostics %s
// RUN: nn-opt --split-input-file --verify-diagnostics=all %s
// RUN: mlir-opt-22 --split-input-file --verify-diagnostics %s

func.func @same_line() -> i32 {
  return // expected-error {{'func.return' op has 0 operands}}
}

// -----

func.func @before() -> i32 {
  // expected-error@+3 {{has 0 operands}}


  return
}

// -----

func.func @after() -> i32 {
  return
  // expected-error@-1 {{has 0 operands}}
}

// -----

func.func @below() -> i32 {
  // expected-error@below {{has 0 operands}}
  return
}

// -----

func.func @above() -> i32 {
  return
  // expected-error@above {{has 0 operands}}
}

// -----

func.func @regex() -> i32 {
  // expected-error-re@below {{has {{[0-9]+}} operands, but enclosing function (@{{.*}}) returns {{[1-9]}}}}
  return
}

// -----

// expected-note@below {{see existing symbol definition here}}
func.func @f() {
  return
}
// expected-error@+1 {{redefinition of symbol named 'f'}}
func.func @f() {
  return
}
