// What the verifier rejects, in upstream's words.
// RUN: nn-opt --allow-unregistered-dialect --split-input-file --verify-diagnostics %s

func.func @f(%s: f32, %i: i32, %n: index) -> f32 {
  // expected-error @+1 {{branch has 0 operands for successor #0, but target block has 1}}
  cf.br ^bb1
^bb1(%x: i32):
  return %s : f32
}

// -----

func.func @f(%s: f32, %i: i32, %n: index) -> f32 {
  // expected-error @+1 {{type mismatch for bb argument #0 of successor #0}}
  cf.br ^bb1(%s : f32)
^bb1(%x: i32):
  return %s : f32
}

// -----

func.func @f(%s: f32, %i: i1, %n: index) -> f32 {
  // expected-error @+1 {{branch has 0 operands for successor #1, but target block has 1}}
  cf.cond_br %i, ^bb1(%s : f32), ^bb1
^bb1(%x: f32):
  return %s : f32
}

// -----

func.func @f(%s: f32, %i: i1, %n: index) -> f32 {
  // expected-error @+1 {{'cf.switch' op number of case values (1) should match number of case destinations (2)}}
  "cf.switch"(%i) [^bb1, ^bb1, ^bb1] {operandSegmentSizes = array<i32: 1, 0, 0>, case_operand_segments = array<i32: 0, 0>, case_values = dense<[1]> : vector<1xi1>} : (i1) -> ()
^bb1:
  return %s : f32
}

// -----

func.func @f(%s: f32, %i: i1, %n: index) -> f32 {
  // expected-error @+1 {{'cf.switch' op 'flag' type ('i1') should match case value type ('i32')}}
  "cf.switch"(%i) [^bb1, ^bb1] {operandSegmentSizes = array<i32: 1, 0, 0>, case_operand_segments = array<i32: 0>, case_values = dense<[1]> : vector<1xi32>} : (i1) -> ()
^bb1:
  return %s : f32
}

// -----

func.func @f(%s: f32, %i: i1, %n: index) -> f32 {
  // expected-error @+1 {{expects number of branch weights to match number of successors: 1 vs 2}}
  "cf.cond_br"(%i) [^bb1, ^bb1] {operandSegmentSizes = array<i32: 1, 0, 0>, branch_weights = array<i32: 0>}  : (i1) -> ()
^bb1:
  return %s : f32
}

// -----

func.func @f(%s: f32, %i: i1, %n: index) -> f32 {
  // expected-error @+1 {{branch weights cannot all be zero}}
  "cf.cond_br"(%i) [^bb1, ^bb1] {operandSegmentSizes = array<i32: 1, 0, 0>, branch_weights = array<i32: 0, 0>}  : (i1) -> ()
^bb1:
  return %s : f32
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32, %t: tensor<4xf32>) {
  // expected-error @+1 {{use of value '%t' expects different type than prior uses: 'tensor<5xf32>' vs 'tensor<4xf32>'}}
  scf.forall (%j) in (%n) shared_outs(%o = %t) -> (tensor<5xf32>) { 
  }
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32, %t: tensor<4xf32>) {
  // expected-error @+1 {{expected 2 upper bound values, got 1}}
  scf.forall (%j, %k) in (%n) { 
  }
  return
}
