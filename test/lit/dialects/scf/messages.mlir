// What no other test provokes of the messages of the dialect scf.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

func.func @f(%n: index, %x: f32, %c: i1) {
// expected-error@+1 {{'scf.if' op region #0 ('thenRegion') failed to verify constraint: region with 1 blocks}}
  "scf.if"(%c) ({
  }, {}) : (i1) -> ()
    "t.u"() : () -> ()
}

// -----

%0 = "t.s"() : () -> f32
%2 = "t.s"() : () -> index
// expected-error@+1 {{'scf.index_switch' op default region needs a block}}
%3 = "scf.index_switch"(%2) <{cases = array<i64: 2, -5>}> ({
}, {
}, {
}) : (index) -> f32

// -----

%0 = "t.s"() : () -> tensor<1xf32>
%1 = "t.s"() : () -> tensor<4xf32>
// expected-error@+1 {{'scf.forall' op expects as many upper bounds and steps as lower bounds}}
%2 = "scf.forall"(%1) <{operandSegmentSizes = array<i32: 0, 0, 0, 1>, staticLowerBound = array<i64: -1, 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: 4>}> ({
^bb0(%arg0: index, %arg1: tensor<4xf32>):
  "scf.forall.in_parallel"() ({
  }) : () -> ()
}) : (tensor<4xf32>) -> tensor<4xf32>

// -----

%0 = "t.s"() : () -> tensor<1xf32>
%1 = "t.s"() : () -> tensor<4xf32>
// expected-error@+1 {{'scf.forall' op type mismatch between 0-th output and corresponding block arg}}
%2 = "scf.forall"(%1) <{operandSegmentSizes = array<i32: 0, 0, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: 4>}> ({
^bb0(%arg0: index, %arg1: tensor<4xf32>):
  "scf.forall.in_parallel"() ({
  }) : () -> ()
}) : (tensor<4xf32>) -> tensor<64xf32>

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
// expected-error@+1 {{'scf.parallel' op region #0 ('region') failed to verify constraint: region with 1 blocks}}
  "scf.parallel"(%n, %n, %n) ({
   }) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (index, index, index) -> ()
  return
}

// -----

%0 = "t.s"() : () -> f32
%1 = "t.s"() : () -> f32
%2 = "t.s"() : () -> index
%3 = "t.s"() : () -> index
%4 = "t.s"() : () -> index
%5 = scf.parallel (%arg0) = (%3) to (%2) step (%4) init (%0) -> f32 {
// expected-error@+1 {{'scf.reduce' op 0-th reduction has an invalid number of blocks}}
  scf.reduce(%1 : f32) {
  }
}

// -----

func.func @f(%n: index, %x: f32, %c: i1, %i: i32) {
  %r = "scf.parallel"(%n, %n, %n, %x) ({
   ^bb0(%a: index):
// expected-error@+1 {{'scf.reduce' op reduction bodies must be terminated with an 'scf.reduce.return' op}}
     scf.reduce(%x : f32) {
     ^bb0(%p: f32, %q: f32):
     }
   }) {operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (index, index, index, f32) -> (f32)
  return
}

// -----

%x = "t.s"() : () -> tensor<4xf32>
// expected-error@+1 {{'scf.forall' op produces 0 results, but has only 1 outputs}}
"scf.forall"(%x) <{operandSegmentSizes = array<i32: 0, 0, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: 4>}> ({
^bb0(%i: index, %t: tensor<4xf32>):
  "scf.forall.in_parallel"() ({
  }) : () -> ()
}) : (tensor<4xf32>) -> ()

// -----

// expected-error@+1 {{'scf.forall' op mapping attribute size must match op rank}}
scf.forall (%i) in (4) {
} {mapping = [#gpu.thread<x>, #gpu.thread<y>]}

// -----

%i = "t.s"() : () -> index
// expected-error@+1 {{'scf.parallel' op needs as many upper bounds and steps as lower bounds}}
"scf.parallel"(%i, %i, %i, %i) <{operandSegmentSizes = array<i32: 1, 2, 1, 0>}> ({
^bb0(%a: index):
  scf.reduce
}) : (index, index, index, index) -> ()

// -----

%i = "t.s"() : () -> index
%x = "t.s"() : () -> f32
"scf.parallel"(%i, %i, %i) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
^bb0(%a: index):
// expected-error@+1 {{'scf.reduce' op expects number of reduction regions: 0 to be the same as number of reduction operands: 1}}
  "scf.reduce"(%x) : (f32) -> ()
}) : (index, index, index) -> ()
