// What the verifier rejects, in upstream's words.
// RUN: nn-opt --allow-unregistered-dialect --split-input-file --verify-diagnostics %s

func.func @f(%n: index, %x: f32, %c: i1) {
  // expected-error @+1 {{'scf.if' op must have an else block if defining values}}
  %0 = scf.if %c -> f32 {
    scf.yield %x : f32
  }
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1) {
  // expected-error @+1 {{'scf.if' op along control flow edge from Operation scf.yield to parent: successor operand type #0 'index' should match successor input type #0 'f32'}}
  %0 = scf.if %c -> f32 {
    scf.yield %n : index
  } else {
    scf.yield %x : f32
  }
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1) {
  // expected-error @+1 {{'scf.if' op along control flow edge from Operation scf.yield to parent: region branch point has 0 operands, but region successor needs 1 inputs}}
  %0 = scf.if %c -> f32 {
    scf.yield
  } else {
    scf.yield %x : f32
  }
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1) {
  // expected-error @+1 {{'scf.if' op region #0 should have no arguments}}
  "scf.if"(%c) ({
    ^bb0(%a: i32):
    "scf.yield"() : () -> ()
  }, {}) : (i1) -> ()
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1) {
  // expected-error @+1 {{'scf.if' op expects regions to end with 'scf.yield', found 't.u'}}
  "scf.if"(%c) ({
    "t.u"() : () -> ()
  }, {}) : (i1) -> ()
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1) {
  // expected-error @+1 {{'scf.for' op expected induction variable to be same type as bounds and step}}
  "scf.for"(%n, %n, %n) ({
    ^bb0(%i: i32):
    "scf.yield"() : () -> ()
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1) {
  // expected-error @+1 {{'scf.for' op different number of inits and region iter_args: 1 != 0}}
  "scf.for"(%n, %n, %n, %x) ({
    ^bb0(%i: index):
    "scf.yield"() : () -> ()
  }) : (index, index, index, f32) -> (f32)
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1) {
  // expected-error @+1 {{'scf.for' op mismatch in number of loop-carried values and defined values}}
  "scf.for"(%n, %n, %n, %x) ({
    ^bb0(%i: index, %z: f32):
    "scf.yield"() : () -> ()
  }) : (index, index, index, f32) -> ()
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1) {
  // expected-error @+1 {{'scf.for' op 0-th region iter_arg and 0-th yielded value have different type: 'f32' != 'index'}}
  %r = scf.for %i = %n to %n step %n iter_args(%a = %x) -> (f32) {
    scf.yield %i : index
  }
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1) {
  // expected-error @+1 {{'scf.for' op along control flow edge from Operation scf.yield to Region #0: region branch point has 0 operands, but region successor needs 1 inputs}}
  %r = scf.for %i = %n to %n step %n iter_args(%a = %x) -> (f32) {
    scf.yield
  }
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1) {
  // expected-error @+1 {{'scf.for' op 0-th init and 0-th region iter_arg have different type: 'f32' != 'i32'}}
  %r = "scf.for"(%n, %n, %n, %x) ({
    ^bb0(%i: index, %z: i32):
    "scf.yield"(%z) : (i32) -> ()
  }) : (index, index, index, f32) -> (f32)
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1) {
  // expected-error @+1 {{'scf.for' op 0-th region iter_arg and 0-th loop result have different type: 'f32' != 'i32'}}
  %r = "scf.for"(%n, %n, %n, %x) ({
    ^bb0(%i: index, %z: f32):
    "scf.yield"(%z) : (f32) -> ()
  }) : (index, index, index, f32) -> (i32)
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.for' op failed to verify that all of {lowerBound, upperBound, step} have same type}}
  "scf.for"(%n, %n, %i) ({
    ^bb0(%ii: index):
    "scf.yield"() : () -> ()
  }) : (index, index, i32) -> ()
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.for' op region #0 ('region') failed to verify constraint: region with 1 blocks}}
  "scf.for"(%n, %n, %n) ({
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.while' op along control flow edge from Operation scf.condition to parent: successor operand type #0 'f32' should match successor input type #0 'i32'}}
  scf.while (%a = %x) : (f32) -> (i32) {
    scf.condition(%c) %a : f32
  } do {
  ^bb0(%b: i32):
    scf.yield %x : f32
  }
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.while' op along control flow edge from Operation scf.yield to Region #0: successor operand type #0 'i32' should match successor input type #0 'f32'}}
  scf.while (%a = %x) : (f32) -> (i32) {
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%b: i32):
    scf.yield %i : i32
  }
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.while' op expects the 'before' region to terminate with 'scf.condition'}}
  scf.while (%a = %x) : (f32) -> (i32) {
    scf.yield %i : i32
  } do {
  ^bb0(%b: i32):
    scf.yield %x : f32
  }
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.while' op expects the 'after' region to terminate with 'scf.yield'}}
  scf.while (%a = %x) : (f32) -> (i32) {
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%b: i32):
    scf.condition(%c) %i : i32
  }
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.while' op along control flow edge from Operation scf.condition to Region #1: successor operand type #0 'i32' should match successor input type #0 'f32'}}
  scf.while (%a = %x) : (f32) -> (i32) {
    scf.condition(%c) %i : i32
  } do {
  ^bb0(%b: f32):
    scf.yield %x : f32
  }
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.condition' op expects parent op 'scf.while'}}
  scf.condition(%c) %i : i32
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.yield' op expects parent op to be one of 'scf.execute_region, scf.for, scf.if, scf.index_switch, scf.while'}}
  scf.yield
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.parallel' op needs at least one tuple element for lowerBound, upperBound and step}}
  "scf.parallel"() ({
   ^bb0:
     scf.reduce
   }) {operandSegmentSizes = array<i32: 0, 0, 0, 0>} : () -> ()
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.parallel' op expects arguments for the induction variable to be of index type}}
  "scf.parallel"(%n, %n, %n) ({
   ^bb0(%a: f32):
     scf.reduce
   }) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (index, index, index) -> ()
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.parallel' op expects the same number of induction variables: 2 as bound and step values: 1}}
  "scf.parallel"(%n, %n, %n) ({
   ^bb0(%a: index, %b : index):
     scf.reduce
   }) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (index, index, index) -> ()
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.parallel' op expects number of results: 1 to be the same as number of reductions: 0}}
  %r = "scf.parallel"(%n, %n, %n, %x) ({
   ^bb0(%a: index):
     scf.reduce
   }) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (index, index, index, f32) -> (f32)
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.parallel' op expects number of results: 1 to be the same as number of initial values: 0}}
  %r = "scf.parallel"(%n, %n, %n) ({
   ^bb0(%a: index):
     scf.reduce(%x : f32) {
     ^bb0(%p: f32, %q: f32):
       scf.reduce.return %p : f32
     }
   }) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (index, index, index) -> (f32)
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  %r = "scf.parallel"(%n, %n, %n, %x) ({
   ^bb0(%a: index):
     // expected-error @+1 {{'scf.reduce' op expects type of 0-th reduction operand: 'i32' to be the same as the 0-th result type: 'f32'}}
     scf.reduce(%i : i32) {
     ^bb0(%p: i32, %q: i32):
       scf.reduce.return %p : i32
     }
   }) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (index, index, index, f32) -> (f32)
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  %r = "scf.parallel"(%n, %n, %n, %x) ({
   ^bb0(%a: index):
     // expected-error @+1 {{'scf.reduce' op expected two block arguments with type 'f32' in the 0-th reduction region}}
     scf.reduce(%x : f32) {
     ^bb0(%p: i32, %q: i32):
       scf.reduce.return %p : i32
     }
   }) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (index, index, index, f32) -> (f32)
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  %r = "scf.parallel"(%n, %n, %n, %x) ({
   ^bb0(%a: index):
     scf.reduce(%x : f32) {
     ^bb0(%p: f32, %q: f32):
       // expected-error @+1 {{'scf.reduce.return' op must have type 'f32' (the type of the reduction inputs)}}
       scf.reduce.return %i : i32
     }
   }) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (index, index, index, f32) -> (f32)
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  %r = "scf.parallel"(%n, %n, %n, %x) ({
   ^bb0(%a: index):
     // expected-error @+1 {{'scf.reduce' op expected two block arguments with type 'f32' in the 0-th reduction region}}
     scf.reduce(%x : f32) {
     ^bb0(%p: f32):
       scf.reduce.return %p : f32
     }
   }) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (index, index, index, f32) -> (f32)
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'scf.parallel' op constant step operand must be positive}}
  scf.parallel (%a) = (%n) to (%n) step (%c0) { }
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.execute_region' op along control flow edge from Operation scf.yield to parent: region branch point has 0 operands, but region successor needs 1 inputs}}
  %r = scf.execute_region -> i32 {
     scf.yield
  }
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.execute_region' op region needs to have at least one block}}
  "scf.execute_region"() ({
  }) : () -> ()
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.execute_region' op region cannot have any arguments}}
  "scf.execute_region"() ({
  ^bb0(%a: i32):
    "scf.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.index_switch' op has duplicate case value: 1}}
  "scf.index_switch"(%n) <{cases = array<i64: 1, 1>}> ({
    "scf.yield"() : () -> ()
  }, {
    "scf.yield"() : () -> ()
  }, {
    "scf.yield"() : () -> ()
  }) : (index) -> ()
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.index_switch' op has 2 case regions but 3 case values}}
  "scf.index_switch"(%n) <{cases = array<i64: 1, 2, 3>}> ({
    "scf.yield"() : () -> ()
  }, {
    "scf.yield"() : () -> ()
  }, {
    "scf.yield"() : () -> ()
  }) : (index) -> ()
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.index_switch' op expected result #0 of each region to be 'f32'}}
  %r = scf.index_switch %n -> f32
  case 1 {
    scf.yield %i : i32
  }
  default {
    scf.yield %x : f32
  }
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  // expected-error @+1 {{'scf.index_switch' op expected each region to return 1 values, but default region returns 0}}
  %r = scf.index_switch %n -> f32
  case 1 {
    scf.yield %x : f32
  }
  default {
    scf.yield
  }
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32, %t: tensor<4xf32>) {
  scf.forall (%j) in (%n) { 
     // expected-error @+1 {{'scf.forall.in_parallel' op expected only ParallelCombiningOpInterface ops}}
     scf.forall.in_parallel { 
        "t.u"() : () -> ()
     }
  }
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32, %t: tensor<4xf32>) {
  // expected-error @+1 {{'scf.forall' op expects 0-th block argument to be an index}}
  "scf.forall"(%n) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, staticLowerBound = array<i64: -9223372036854775808>, staticStep = array<i64: 2>, staticUpperBound = array<i64: 10>}> ({
    ^bb0(%arg6: f32):
      "scf.forall.in_parallel"() ({
      ^bb0:
      }) : () -> ()
    }) : (index) -> ()
  return
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32, %t: tensor<4xf32>) {
  // expected-error @+1 {{'scf.forall' op region expects 1 arguments}}
  "scf.forall"(%n) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, staticLowerBound = array<i64: -9223372036854775808>, staticStep = array<i64: 2>, staticUpperBound = array<i64: 10>}> ({
    ^bb0(%arg6: index, %k: index):
      "scf.forall.in_parallel"() ({
      ^bb0:
      }) : () -> ()
    }) : (index) -> ()
  return
}

// -----

// The result of an operation is not visible in its own regions.
func.func @own_region(%c: i1, %x: i32) -> i32 {
  // expected-note @+1 {{operand defined here (op in a parent region)}}
  %r = scf.if %c -> i32 {
    // expected-error @+1 {{operand #0 does not dominate this use}}
    scf.yield %r : i32
  } else {
    scf.yield %x : i32
  }
  return %r : i32
}
