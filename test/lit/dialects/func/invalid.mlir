// What the verifier rejects, in upstream's words.
// RUN: nn-opt --allow-unregistered-dialect --split-input-file --verify-diagnostics %s

func.func @f(%s: f32, %i: i32, %n: index) -> f32 {
  // expected-error @+1 {{type of return operand 0 ('i32') doesn't match function result type ('f32') in function @f}}
  return %i : i32
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) -> f32 {
  // expected-error @+1 {{'func.return' op has 0 operands, but enclosing function (@f) returns 1}}
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) -> f32 {
  // expected-error @+1 {{'func.call' op 'nope' does not reference a valid function}}
  %0 = func.call @nope() : () -> f32
  return %0 : f32
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) -> f32 {
  // expected-error @+1 {{'func.call' op incorrect number of operands for callee}}
  %0 = func.call @f(%s) : (f32) -> f32
  return %0 : f32
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) -> f32 {
  // expected-error @+1 {{'func.call' op operand type mismatch: expected operand type 'i32', but provided 'f32' for operand number 1}}
  %0 = func.call @f(%s, %s, %s) : (f32, f32, f32) -> f32
  return %0 : f32
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) -> f32 {
  // expected-note@below {{op result types: 'i32'}}
  // expected-note@below {{function result types: 'f32'}}
  // expected-error @+1 {{'func.call' op result type mismatch at index 0}}
  %0 = func.call @f(%s, %i, %n) : (f32, i32, index) -> i32
  return %s : f32
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) -> f32 {
  // expected-error @+1 {{'func.call' op incorrect number of results for callee}}
  func.call @f(%s, %i, %n) : (f32, i32, index) -> ()
  return %s : f32
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) -> f32 {
  // expected-error @+1 {{'func.constant' op reference to undefined function 'nope'}}
  %f = func.constant @nope : () -> ()
  return %s : f32
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) -> f32 {
  // expected-error @+1 {{'func.constant' op reference to function with mismatched type}}
  %f = func.constant @f : () -> ()
  return %s : f32
}

// -----

// expected-note@below {{see existing symbol definition here}}
func.func @f(%s: f32) { return }
// expected-error @+1 {{redefinition of symbol named 'f'}}
func.func @f(%s: f32) { return }

// -----

// expected-error @+1 {{'func.func' op type of entry block argument #0('f32') must match the type of the corresponding argument in function signature('i32')}}
"func.func"() <{function_type = (i32) -> (), sym_name = "h"}> ({
^bb0(%a : f32):
    "func.return"() : () -> ()
  }) : () -> ()

// -----

// expected-error @+1 {{'func.func' op entry block must have 1 arguments to match function signature}}
"func.func"() <{function_type = (i32) -> (), sym_name = "h"}> ({
^bb0:
    "func.return"() : () -> ()
  }) : () -> ()

// -----

// expected-error @+1 {{'func.func' op attribute 'function_type' failed to satisfy constraint: type attribute of function type}}
"func.func"() <{function_type = i32, sym_name = "h"}> ({
^bb0:
    "func.return"() : () -> ()
  }) : () -> ()

// -----

// expected-error @+1 {{'func.func' op expects argument attribute array to have the same number of elements as the number of function arguments, got 0, but expected 1}}
"func.func"() <{function_type = (i32) -> (), sym_name = "h", arg_attrs=[]}> ({
^bb0(%a : i32):
    "func.return"() : () -> ()
  }) : () -> ()

// -----

// expected-error @+1 {{'func.func' op arguments may only have dialect attributes}}
"func.func"() <{function_type = (i32) -> (), sym_name = "h", arg_attrs=[{x}]}> ({
^bb0(%a : i32):
    "func.return"() : () -> ()
  }) : () -> ()

// -----

func.func @f(%s: f32) { 
  // expected-error @+1 {{'func.func' op symbol's parent must have the SymbolTable trait}}
  func.func @g() { return }
  return }

// -----

// expected-error @+1 {{'func.func' op symbol declaration cannot have public visibility}}
func.func @g()

// -----

scf.execute_region {
// expected-error @+1 {{'func.return' op expects parent op 'func.func'}}
func.return
}

// -----

func.func @f() {
  // expected-error @+1 {{cannot name an operation with no results}}
  %c = "builtin.unrealized_conversion_cast"() : () -> ()
  return
}
