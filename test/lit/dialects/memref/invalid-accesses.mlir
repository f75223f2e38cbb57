// What the verifiers of atomic accesses, transfers and layouts reject, in upstream's words.
// RUN: nn-opt --split-input-file --verify-diagnostics %s

func.func @f(%m: memref<10x10xf32>, %n: index, %x: f32) {
  // expected-error @+1 {{'memref.atomic_rmw' op expects the number of subscripts to be equal to memref rank}}
  %0 = memref.atomic_rmw addf %x, %m[%n] : (f32, memref<10x10xf32>) -> f32
  return
}

// -----

func.func @f(%m: memref<10xi32>, %n: index, %x: i32) {
  // expected-error @+1 {{'memref.atomic_rmw' op with kind 'addf' expects a floating-point type}}
  %0 = memref.atomic_rmw addf %x, %m[%n] : (i32, memref<10xi32>) -> i32
  return
}

// -----

func.func @f(%m: memref<10xf32>, %n: index, %x: f32) {
  // expected-error @+1 {{'memref.atomic_rmw' op with kind 'addi' expects an integer type}}
  %0 = memref.atomic_rmw addi %x, %m[%n] : (f32, memref<10xf32>) -> f32
  return
}

// -----

func.func @f(%m: memref<10xf32>, %n: index, %x: f64) {
  // expected-error @+1 {{'memref.atomic_rmw' op failed to verify that value type matches element type of memref}}
  %0 = memref.atomic_rmw addf %x, %m[%n] : (f64, memref<10xf32>) -> f64
  return
}

// -----

func.func @f(%m: memref<10xf32>, %n: index, %x: f32) {
  // expected-error @+1 {{'memref.generic_atomic_rmw' op expected single number of entry block arguments}}
  %0 = memref.generic_atomic_rmw %m[%n] : memref<10xf32> {
  ^bb0(%a: f32, %b: f32):
    memref.atomic_yield %a : f32
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %n: index, %x: f32) {
  // expected-error @+1 {{'memref.generic_atomic_rmw' op expected block argument of the same type result type}}
  %0 = memref.generic_atomic_rmw %m[%n] : memref<10xf32> {
  ^bb0(%a: i32):
    memref.atomic_yield %x : f32
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %n: index, %x: f32) {
  %0 = memref.generic_atomic_rmw %m[%n] : memref<10xf32> {
  ^bb0(%a: f32):
    %c = arith.constant 1 : i32
    // expected-error @+1 {{'memref.atomic_yield' op types mismatch between yield op: 'i32' and its parent: 'f32'}}
    memref.atomic_yield %c : i32
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %n: index, %x: f32) {
  %0 = memref.generic_atomic_rmw %m[%n] : memref<10xf32> {
  ^bb0(%a: f32):
    // expected-error @+1 {{body of 'memref.generic_atomic_rmw' should contain only operations with no side effects}}
    %c = memref.alloc() : memref<10xf32>
    memref.atomic_yield %a : f32
  }
  return
}

// -----

func.func @f(%m: memref<10xf32>, %d: memref<10xf32, 1>, %t: memref<1xi32>, %n: index) {
  // expected-error @+1 {{'memref.dma_wait' op expected tagIndices to have the same number of elements as the tagMemRef rank, expected 1, but got 2}}
  memref.dma_wait %t[%n, %n], %n : memref<1xi32>
  return
}

// -----

func.func @f(%m: memref<10xf32>, %d: memref<10xf32, 1>, %t: memref<1xi32>, %n: index) {
  // expected-error @+1 {{'memref.dma_start' op incorrect number of operands}}
  "memref.dma_start"(%m, %n, %d, %n, %n, %t, %n, %n) : (memref<10xf32>, index, memref<10xf32, 1>, index, index, memref<1xi32>, index, index) -> ()
  return
}

// -----

func.func @f(%m: memref<10xf32>, %d: memref<10xf32, 1>, %t: memref<1xi32>, %n: index) {
  // expected-error @+1 {{'memref.dma_start' op expected at least 4 operands}}
  "memref.dma_start"(%m, %n, %n) : (memref<10xf32>, index, index) -> ()
  return
}

// -----

func.func @f(%m: memref<10xf32>, %d: memref<10xf32, 1>, %t: memref<1xi32>, %n: index) {
  // expected-error @+1 {{'memref.dma_start' op expected source to be of memref type}}
  "memref.dma_start"(%n, %n, %d, %n, %n, %t, %n) : (index, index, memref<10xf32, 1>, index, index, memref<1xi32>, index) -> ()
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'memref.distinct_objects' op expected at least one operand}}
  "memref.distinct_objects"() : () -> ()
  return
}

// -----

func.func @f(%m: memref<10xf32>) {
  // expected-error @+1 {{'memref.distinct_objects' op operand types and result types must match}}
  %0 = "memref.distinct_objects"(%m) : (memref<10xf32>) -> memref<11xf32>
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{'memref.alloc' op symbol operand count does not equal memref symbol count: expected 0, got 1}}
  %0 = memref.alloc()[%n] : memref<4xf32, strided<[1], offset: 3>>
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{'memref.alloc' op symbol operand count does not equal memref symbol count: expected 1, got 0}}
  %0 = memref.alloc() : memref<4xf32, strided<[1], offset: ?>>
  return
}

// -----

func.func @f(%m: memref<8x16x4xf32>, %n: index) {
  // expected-error @+1 {{expected result type to be 'memref<1x16x4xf32, strided<[64, 4, 1], offset: ?>>' or a rank-reduced version. (mismatch of result layout), but got 'memref<16x4xf32, strided<[4, 1]>>'}}
  %0 = memref.subview %m[%n, 0, 0][1, 16, 4][1, 1, 1] : memref<8x16x4xf32> to memref<16x4xf32, strided<[4, 1]>>
  return
}

// -----

func.func @f(%m: memref<8x16x4xf32>, %n: index) {
  // expected-error @+1 {{expected result type to be 'memref<1x16x4xf32, strided<[64, 4, 1]>>' or a rank-reduced version. (mismatch of result layout), but got 'memref<16x4xf32, strided<[4, 2]>>'}}
  %0 = memref.subview %m[0, 0, 0][1, 16, 4][1, 1, 1] : memref<8x16x4xf32> to memref<16x4xf32, strided<[4, 2]>>
  return
}

// -----

func.func @f(%m: memref<8x16x4xf32>, %n: index) {
  // expected-error @+1 {{different memory spaces specified for base memref type 'memref<8x16x4xf32>' and subview memref type 'memref<16x4xf32, 1>'}}
  %0 = memref.subview %m[0, 0, 0][1, 16, 4][1, 1, 1] : memref<8x16x4xf32> to memref<16x4xf32, 1>
  return
}

// -----

func.func @f(%m: memref<8x16x4xf32, affine_map<(d0, d1, d2) -> (d0 mod 2, d1, d2)>>, %n: index) {
  // expected-error @+1 {{base type 'memref<8x16x4xf32, affine_map<(d0, d1, d2) -> (d0 mod 2, d1, d2)>>' is not strided}}
  %0 = memref.subview %m[0, 0, 0][1, 16, 4][1, 1, 1] : memref<8x16x4xf32, affine_map<(d0, d1, d2) -> (d0 mod 2, d1, d2)>> to memref<16x4xf32>
  return
}

// -----

func.func @f(%m: memref<4x?xf32, strided<[?, 1]>>) {
  // expected-error @+1 {{'memref.expand_shape' op expected expanded type to be 'memref<2x2x?xf32, strided<[?, ?, 1]>>' but found 'memref<2x2x?xf32, strided<[8, 4, 1]>>'}}
  %0 = memref.expand_shape %m [[0, 1], [2]] output_shape [2, 2, 4] : memref<4x?xf32, strided<[?, 1]>> into memref<2x2x?xf32, strided<[8, 4, 1]>>
  return
}

// -----

func.func @f(%m: memref<4x5xf32, strided<[8, 1]>>) {
  // expected-error @+1 {{'memref.collapse_shape' op invalid source layout map or collapsing non-contiguous dims}}
  %0 = memref.collapse_shape %m [[0, 1]] : memref<4x5xf32, strided<[8, 1]>> into memref<20xf32>
  return
}

// -----

func.func @f(%m: memref<4x?x?xf32, strided<[?, 4, 1]>>) {
  // expected-error @+1 {{'memref.collapse_shape' op expected collapsed type to be 'memref<4x?xf32, strided<[?, ?]>>' but found 'memref<4x?xf32, strided<[?, 1]>>'}}
  %0 = memref.collapse_shape %m [[0], [1, 2]] : memref<4x?x?xf32, strided<[?, 4, 1]>> into memref<4x?xf32, strided<[?, 1]>>
  return
}
