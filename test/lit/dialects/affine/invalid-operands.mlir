// What the verifiers reject of affine operands, loops and their bodies, in upstream's words.
// RUN: nn-opt --allow-unregistered-dialect --split-input-file --verify-diagnostics %s

func.func @f(%m: memref<10x10xf32>, %n: index) {
  // expected-error @+1 {{'affine.load' op affine map num results must equal memref rank}}
  %0 = affine.load %m[%n] : memref<10x10xf32>
  return
}

// -----

func.func @f(%m: memref<10x10xf32>, %n: index, %x: f32) {
  // expected-error @+1 {{'affine.store' op affine map num results must equal memref rank}}
  affine.store %x, %m[%n] : memref<10x10xf32>
  return
}

// -----

func.func @f(%m: memref<10x10xf32>, %n: index) {
  // expected-error @+1 {{'affine.vector_load' op requires memref and vector types of the same elemental type}}
  %0 = affine.vector_load %m[%n, %n] : memref<10x10xf32>, vector<4xf16>
  return
}

// -----

func.func @f(%m: memref<10x10xf32>, %n: index) {
  // expected-error @+1 {{'affine.vector_load' op affine map num results must equal memref rank}}
  %0 = affine.vector_load %m[%n] : memref<10x10xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<10x10xf32>, %n: index, %v: vector<4xf16>) {
  // expected-error @+1 {{'affine.vector_store' op requires memref and vector types of the same elemental type}}
  affine.vector_store %v, %m[%n, %n] : memref<10x10xf32>, vector<4xf16>
  return
}

// -----

func.func @f(%m: memref<10x10xf32>, %n: index) {
  // expected-error @+1 {{'affine.prefetch' op attribute 'localityHint' failed to satisfy constraint: 32-bit signless integer attribute whose minimum value is 0 whose maximum value is 3}}
  affine.prefetch %m[%n, %n], read, locality<4>, data : memref<10x10xf32>
  return
}

// -----

func.func @f(%m: memref<10x10xf32>, %n: index) {
  // expected-error @+1 {{'affine.prefetch' op affine.prefetch affine map num results must equal memref rank}}
  affine.prefetch %m[%n], read, locality<1>, data : memref<10x10xf32>
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{dimension or symbol index mismatch}}
  %0 = affine.apply affine_map<(d0) -> (d0)>(%n, %n)
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{'affine.max' op operand count and affine map dimension and symbol count must match}}
  %0 = "affine.max"(%n, %n) {map = affine_map<(d0) -> (d0)>} : (index, index) -> index
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{dim operand count and integer set dim count must match}}
  affine.if affine_set<(d0, d1) : (d0 - d1 >= 0)>(%n) { }
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{'affine.if' op operand count and condition integer set dimension and symbol count must match}}
  "affine.if"(%n) ({ affine.yield }, { }) {condition = affine_set<(d0, d1) : (d0 - d1 >= 0)>} : (index) -> ()
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{expected step to be representable as a positive signed integer}}
  affine.for %i = 0 to 10 step -1 { }
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{lower loop bound affine map with multiple results requires 'max' prefix}}
  affine.for %i = affine_map<(d0) -> (d0, 1)>(%n) to 10 { }
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{upper loop bound affine map with multiple results requires 'min' prefix}}
  affine.for %i = 0 to affine_map<(d0) -> (d0, 1)>(%n) { }
  return
}

// -----

func.func @f(%n: index, %x: f32) {
  // expected-error @+1 {{mismatch between the number of loop-carried values and results}}
  %0 = affine.for %i = 0 to 10 iter_args(%a = %x) -> (f32, f32) { affine.yield %a : f32 }
  return
}

// -----

func.func @f(%n: index, %x: f32) {
  // expected-error @+1 {{'affine.yield' op parent of yield must have same number of results as the yield operands}}
  %0 = affine.for %i = 0 to 10 iter_args(%a = %x) -> (f32) { affine.yield %a, %a : f32, f32 }
  return
}

// -----

func.func @f(%n: index, %x: f32) {
  // expected-error @+1 {{'affine.yield' op types mismatch between yield op and its parent}}
  %0 = affine.for %i = 0 to 10 iter_args(%a = %x) -> (f32) { affine.yield %n : index }
  return
}

// -----

func.func @f(%n: index, %x: f32) {
  // expected-error @+1 {{'affine.yield' op parent of yield must have same number of results as the yield operands}}
  %0 = affine.for %i = 0 to 10 iter_args(%a = %x) -> (f32) { }
  return
}

// -----

func.func @f(%n: index, %x: f32) {
  // expected-error @+1 {{'affine.if' op along control flow edge from parent to parent: region branch point has 0 operands, but region successor needs 1 inputs}}
  %0 = affine.if affine_set<(d0) : (d0 >= 0)>(%n) -> f32 { affine.yield %x : f32 }
  return
}

// -----

func.func @f(%n: index, %x: f32) {
  // expected-error @+1 {{'affine.yield' op must be the last operation in the parent block}}
  affine.yield
  return
}

// -----

func.func @f(%n: index, %x: f32) {
  // expected-error @+1 {{'affine.delinearize_index' op should return an index for each basis element and up to one extra index}}
  %0:2 = affine.delinearize_index %n into (2, 3, 4) : index, index
  return
}

// -----

func.func @f(%n: index, %x: f32) {
  // expected-error @+1 {{'affine.delinearize_index' op no basis element may be statically non-positive}}
  %0:2 = affine.delinearize_index %n into (2, -3) : index, index
  return
}

// -----

func.func @f(%n: index, %x: f32) {
  // expected-error @+1 {{'affine.delinearize_index' op no basis element may be statically non-positive}}
  %0:2 = affine.delinearize_index %n into (2, 0) : index, index
  return
}

// -----

func.func @f(%n: index, %x: f32) {
  // expected-error @+1 {{'affine.linearize_index' op should be passed a basis element for each index except possibly the first}}
  %0 = affine.linearize_index [%n, %n] by (2, 3, 4) : index
  return
}

// -----

func.func @f(%n: index, %x: f32) {
  // expected-error @+1 {{'affine.delinearize_index' op mismatch between dynamic and static basis (kDynamic marker but no corresponding dynamic basis entry) -- this can only happen due to an incorrect fold/rewrite}}
  %0:2 = "affine.delinearize_index"(%n) {static_basis = array<i64: -9223372036854775808, 3>} : (index) -> (index, index)
  return
}

// -----

func.func @f(%n: index, %x: f32) {
  // expected-error @+1 {{'affine.parallel' op the number of region arguments (2) and the number of map groups for lower (2) and upper bound (2), and the number of steps (1) must all match}}
  affine.parallel (%i, %j) = (0, 0) to (10, 10) step (1) { }
  return
}

// -----

func.func @f(%n: index, %x: f32) {
  // expected-error @+1 {{'affine.parallel' op the number of region arguments (2) and the number of map groups for lower (1) and upper bound (2), and the number of steps (2) must all match}}
  affine.parallel (%i, %j) = (0) to (10, 10) { }
  return
}

// -----

func.func @f(%n: index, %x: f32) {
  // expected-error @+1 {{'affine.parallel' op a reduction must be specified for each output}}
  %0 = affine.parallel (%i) = (0) to (10) reduce ("addf", "mulf") -> (f32) { affine.yield %x : f32 }
  return
}

// -----

func.func @f(%n: index, %x: f32) {
  // expected-error @+1 {{invalid reduction value: "foo"}}
  %0 = affine.parallel (%i) = (0) to (10) reduce ("foo") -> (f32) { affine.yield %x : f32 }
  return
}

// -----

func.func @f(%n: index, %x: f32) {
  // expected-error @+1 {{'affine.parallel' op result type cannot match reduction attribute}}
  %0 = affine.parallel (%i) = (0) to (10) reduce ("minimumf") -> (i32) { %c = arith.constant 1 : i32 affine.yield %c : i32 }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %x: f32) {
  %i = "test.op"() : () -> index
  scf.for %k = %i to %i step %i {
    // expected-error @+1 {{'affine.load' op operand cannot be used as a dimension id}}
    %0 = affine.load %m[%k] : memref<10xf32>
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %x: f32, %n: index) {
  scf.for %k = %n to %n step %n {
    // expected-error @+1 {{'affine.store' op operand cannot be used as a dimension id}}
    affine.store %x, %m[%k] : memref<10xf32>
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %x: f32, %n: index) {
  affine.for %i = 0 to 10 {
    // expected-error @+1 {{'affine.load' op operand cannot be used as a symbol}}
    %0 = affine.load %m[symbol(%i)] : memref<10xf32>
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %x: f32, %n: index) {
  affine.for %i = 0 to 10 {
    // expected-error @+1 {{'affine.for' op operand cannot be used as a symbol}}
    affine.for %j = 0 to %i { }
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %x: f32, %n: index) {
  scf.for %k = %n to %n step %n {
    // expected-error @+1 {{'affine.for' op operand cannot be used as a dimension id}}
    affine.for %j = 0 to affine_map<(d0) -> (d0)>(%k) { }
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %x: f32, %n: index) {
  affine.for %i = 0 to 10 {
    // expected-error @+1 {{'affine.if' op operand cannot be used as a symbol}}
    affine.if affine_set<()[s0] : (s0 >= 0)>()[%i] { }
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %x: f32, %n: index) {
  affine.for %i = 0 to 10 {
    // expected-error @+1 {{dimensional operand cannot be used as a symbol}}
    %0 = affine.apply affine_map<()[s0] -> (s0)>()[%i]
    affine.for %j = 0 to %0 { }
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %x: f32, %n: index) {
  affine.for %i = 0 to 10 {
    %0 = arith.addi %i, %i : index
    // expected-error @+1 {{'affine.load' op operand cannot be used as a dimension id}}
    %1 = affine.load %m[%0] : memref<10xf32>
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %x: f32, %n: index) {
  scf.for %k = %n to %n step %n {
    // expected-error @+1 {{'affine.parallel' op operand cannot be used as a dimension id}}
    affine.parallel (%i) = (0) to (%k) { }
  }
  return
}
