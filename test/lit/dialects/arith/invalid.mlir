// What the verifier rejects, in upstream's words.
// RUN: nn-opt --allow-unregistered-dialect --split-input-file --verify-diagnostics %s

func.func @f(%s: f32, %i: i32, %n: index) {
  // expected-error @+1 {{'arith.addf' op operand #0 must be floating-point-like, but got 'i32'}}
  %u = arith.addf %i, %i : i32
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) {
  // expected-error @+1 {{'arith.addi' op operand #0 must be signless-integer-like, but got 'f32'}}
  %u = arith.addi %s, %s : f32
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) {
  // expected-error @+1 {{'arith.addi' op requires the same type for all operands and results}}
  %u = "arith.addi"(%i, %n) : (i32, index) -> i32
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) {
  // expected-error @+1 {{'arith.trunci' op operand type 'i32' and result type 'i64' are cast incompatible}}
  %u = arith.trunci %i : i32 to i64
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) {
  // expected-error @+1 {{'arith.extf' op operand type 'f32' and result type 'f16' are cast incompatible}}
  %u = arith.extf %s : f32 to f16
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) {
  // expected-error @+1 {{'arith.index_cast' op operand type 'i32' and result type 'i64' are cast incompatible}}
  %u = arith.index_cast %i : i32 to i64
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) {
  // expected-error @+1 {{'arith.bitcast' op operand type 'i32' and result type 'f64' are cast incompatible}}
  %u = arith.bitcast %i : i32 to f64
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) {
  // expected-error @+1 {{'arith.cmpi' op result #0 must be bool-like, but got 'i32'}}
  %u = "arith.cmpi"(%i, %i) <{predicate = 2 : i64}> : (i32, i32) -> i32
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) {
  // expected-error @+1 {{'arith.constant' op failed to verify that all of {value, result} have same type}}
  %u = "arith.constant"() <{value = 2 : i64}> : () -> i32
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) {
  // expected-error @+1 {{'arith.constant' op integer return type must be signless}}
  %u = arith.constant 2 : si32
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) {
  // expected-error @+1 {{'arith.constant' op value must be an integer, float, or elements attribute}}
  %u = arith.constant "a"
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index, %c: vector<4xi1>, %v: vector<5xf32>) {
  // expected-error @+1 {{'arith.select' op failed to verify that condition is signless i1 or has matching shape}}
  %u = arith.select %c, %v, %v : vector<4xi1>, vector<5xf32>
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index, %c: vector<4xi1>, %v: vector<5xf32>) {
  // expected-error @+1 {{'arith.extf' op requires the same shape for all operands and results}}
  %u = arith.extf %v : vector<5xf32> to vector<4xf64>
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index, %c: vector<4xi1>, %v: tensor<?xf32>) {
  // expected-error @+1 {{'arith.extf' op failed to verify that input and output have the same tensor dimensions}}
  %u = arith.extf %v : tensor<?xf32> to tensor<5xf64>
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index, %c: vector<4xi1>, %v: tensor<?xf32>) {
  // expected-error @+1 {{'arith.sitofp' op operand #0 must be signless-fixed-width-integer-like, but got 'f32'}}
  %u = arith.sitofp %s : f32 to i32
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index, %c: vector<4xi1>, %v: tensor<?xf32>) {
  // expected-error @+1 {{'arith.addui_extended' op if a result is non-scalar, then at least one operand must be non-scalar}}
  %u:2 = "arith.addui_extended"(%i, %i) : (i32, i32) -> (i32, vector<4xi1>)
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index, %c: vector<4xi1>, %v: tensor<?xf32>) {
  // expected-error @+1 {{'arith.addui_extended' op failed to verify that all of {lhs, rhs, sum} have same type}}
  %u:2 = "arith.addui_extended"(%i, %n) : (i32, index) -> (i32, i1)
  return
}

// -----

func.func @f(%s: f32, %i: i32, %n: index, %c: vector<4xi1>, %v: tensor<?xf32>) {
  // expected-error @+1 {{'arith.select' op operand #0 must be bool-like, but got 'f32'}}
  %u = "arith.select"(%s, %i, %i) : (f32, i32, i32) -> (i32)
  return
}

// -----

func.func @f(%x: f32, %v: vector<4xf32>) {
  // expected-error @+1 {{'arith.cmpf' op failed to verify that result type has i1 element type and same shape as operands}}
  %u = "arith.cmpf"(%v, %v) <{predicate = 1 : i64}> : (vector<4xf32>, vector<4xf32>) -> vector<5xi1>
  return
}

// -----

func.func @f(%x: f32, %v: vector<4xf32>, %n: i32) {
  // expected-error @+1 {{'arith.scaling_extf' op operand types 'f32', 'f32' and result type 'f16' are cast incompatible}}
  %u = arith.scaling_extf %x, %x : f32, f32 to f16
  return
}

// -----

func.func @f(%x: f32, %v: vector<4xf32>, %n: i32) {
  // expected-error @+1 {{'arith.bitcast' op result #0 must be signless-integer-or-float-like or memref of signless-integer or float, but got 'index'}}
  %u = arith.bitcast %n : i32 to index
  return
}

// -----

func.func @f(%x: f32, %v: vector<4xf32>, %n: i32) {
  // expected-error @+1 {{'arith.index_cast' op operand #0 must be signless-integer-like or memref of signless-integer, but got 'f32'}}
  %u = arith.index_cast %x : f32 to index
  return
}

// -----

func.func @f(%x: f32, %v: vector<4xf32>, %n: i32) {
  // expected-error @+1 {{'arith.extui' op result #0 must be signless-fixed-width-integer-like, but got 'index'}}
  %u = arith.extui %n : i32 to index
  return
}
