// What the verifier rejects, in upstream's words.
// RUN: nn-opt --allow-unregistered-dialect --split-input-file --verify-diagnostics %s

func.func @f(%x: f32, %v: vector<4xf32>) {
  // expected-error @+1 {{'math.isfinite' op failed to verify that result type has i1 element type and same shape as operands}}
  %u = "math.isfinite"(%v) : (vector<4xf32>) -> vector<5xi1>
  return
}

// -----

func.func @f(%x: f32, %v: vector<4xf32>) {
  // expected-error @+1 {{'math.exp' op requires the same type for all operands and results}}
  %u = "math.exp"(%v) : (vector<4xf32>) -> vector<5xf32>
  return
}

// -----

func.func @f(%x: f32, %v: vector<4xf32>, %n: i32) {
  // expected-error @+1 {{'math.fpowi' op requires the same shape for all operands and results}}
  %u = "math.fpowi"(%v, %n) : (vector<4xf32>, i32) -> vector<4xf32>
  return
}

// -----

func.func @f(%x: f32, %v: vector<4xf32>, %n: i32) {
  // expected-error @+1 {{'math.ctlz' op operand #0 must be signless-integer-like, but got 'vector<4xf32>'}}
  %u = "math.ctlz"(%v) : (vector<4xf32>) -> vector<4xf32>
  return
}

// -----

func.func @f(%x: f32, %v: vector<4xf32>, %n: i32) {
  // expected-error @+1 {{'math.fma' op requires the same type for all operands and results}}
  %u = "math.fma"(%x, %x, %v) : (f32, f32, vector<4xf32>) -> (f32)
  return
}

// -----

func.func @f(%x: f32, %v: vector<4xf32>, %n: i32) {
  // expected-error @+1 {{'math.ipowi' op operand #0 must be signless-integer-like, but got 'f32'}}
  %u = math.ipowi %x, %x : f32
  return
}
