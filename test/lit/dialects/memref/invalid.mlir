// What the verifier rejects, in upstream's words.
// RUN: nn-opt --split-input-file --verify-diagnostics %s

func.func @a(%m: memref<4xf32>, %i: index, %v: f32) {
  // expected-error @+1 {{'memref.load' op incorrect number of indices for load, expected 1 but got 2}}
  %0 = memref.load %m[%i, %i] : memref<4xf32>
  return
}

// -----

func.func @a(%m: memref<4xf32>, %i: index, %v: f32) {
  // expected-error @+1 {{'memref.store' op store index operand count not equal to memref rank}}
  memref.store %v, %m[%i, %i] : memref<4xf32>
  return
}

// -----

func.func @a(%m: memref<4xf32>, %i: index, %v: i32) {
  // expected-error @+1 {{'memref.alloc' op incorrect number of dynamic sizes, has 0, expected 1}}
  %0 = memref.alloc() : memref<?xf32>
  return
}

// -----

func.func @a(%m: memref<4xf32>, %i: index, %v: i32) {
  // expected-error @+1 {{'memref.alloc' op incorrect number of dynamic sizes, has 1, expected 0}}
  %0 = memref.alloc(%i) : memref<4xf32>
  return
}

// -----

func.func @a(%m: memref<4xf32>, %i: index, %v: i32) {
  // expected-error @+1 {{'memref.alloc' op attribute 'alignment' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive and whose value is a power of two > 0}}
  %0 = memref.alloc() {alignment = -1 : i64} : memref<4xf32>
  return
}

// -----

func.func @a(%m: memref<4xf32>, %i: index, %v: i32) {
  // expected-error @+1 {{'memref.get_global' op 'x' does not reference a valid global memref}}
  %0 = memref.get_global @x : memref<4xf32>
  return
}

// -----

memref.global @x : memref<4xf32>
func.func @a(%m: memref<4xf32>, %i: index, %v: i32) {
  // expected-error @+1 {{'memref.get_global' op result type 'memref<5xf32>' does not match type 'memref<4xf32>' of the global memref @x}}
  %0 = memref.get_global @x : memref<5xf32>
  return
}

// -----

func.func @a(%m: memref<128xi8>, %i: index, %v: i32) {
  // expected-error @+1 {{'memref.view' op incorrect number of dynamic sizes, has 0, expected 1}}
  %0 = memref.view %m[%i][] : memref<128xi8> to memref<?xf32>
  return
}

// -----

func.func @a(%m: memref<128xi16>, %i: index, %v: i32) {
  // expected-error @+1 {{'memref.view' op operand #0 must be 1D memref of 8-bit signless integer values, but got 'memref<128xi16>'}}
  %0 = memref.view %m[%i][] : memref<128xi16> to memref<4xf32>
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{expected result type to be 'memref<4x4xf32, strided<[8, 1]>>' or a rank-reduced version. (mismatch of result layout), but got 'memref<4x4xf32>'}}
  %0 = memref.subview %m[0, 0][4, 4][1, 1] : memref<8x8xf32> to memref<4x4xf32>
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{expected result type to be 'memref<4x4xf32, strided<[8, 1]>>' or a rank-reduced version. (mismatch of result sizes), but got 'memref<4x5xf32, strided<[8, 1]>>'}}
  %0 = memref.subview %m[0, 0][4, 4][1, 1] : memref<8x8xf32> to memref<4x5xf32, strided<[8, 1]>>
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{expected 2 offset values, got 1}}
  %0 = memref.subview %m[0][4][1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1]>>
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{slice along dimension 1 runs out-of-bounds: 9 >= 8}}
  %0 = memref.subview %m[0, 6][4, 4][1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 6>>
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{expected result type with size = 10 instead of 11 in dim = 0}}
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [10], strides: [1] : memref<8x8xf32> to memref<11xf32>
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{expected result type with stride = 2 instead of 1 in dim = 0}}
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [10], strides: [2] : memref<8x8xf32> to memref<10xf32>
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{expected result type with offset = 1 instead of 0}}
  %0 = memref.reinterpret_cast %m to offset: [1], sizes: [10], strides: [1] : memref<8x8xf32> to memref<10xf32>
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{'memref.expand_shape' op collapsed dim size (8) must equal reassociation group size (12)}}
  %0 = memref.expand_shape %m [[0, 1], [2]] output_shape [4, 3, 8] : memref<8x8xf32> into memref<4x3x8xf32>
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{'memref.expand_shape' op invalid number of reassociation groups: found 1, expected 2}}
  %0 = memref.expand_shape %m [[0, 1]] output_shape [4, 3, 8] : memref<8x8xf32> into memref<4x3x8xf32>
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{'memref.collapse_shape' op collapsed dim size (63) must equal reassociation group size (64)}}
  %0 = memref.collapse_shape %m [[0, 1]] : memref<8x8xf32> into memref<63xf32>
  return
}

// -----

func.func @a(%m: memref<8x8xf32, strided<[9, 1]>>, %i: index) {
  // expected-error @+1 {{'memref.collapse_shape' op invalid source layout map or collapsing non-contiguous dims}}
  %0 = memref.collapse_shape %m [[0, 1]] : memref<8x8xf32, strided<[9, 1]>> into memref<64xf32, strided<[1]>>
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{'memref.cast' op operand type 'memref<8x8xf32>' and result type 'memref<8x9xf32>' are cast incompatible}}
  %0 = memref.cast %m : memref<8x8xf32> to memref<8x9xf32>
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: memref<8xf32>) {
  // expected-error @+1 {{'memref.copy' op requires the same shape for all operands}}
  memref.copy %m, %i : memref<8x8xf32> to memref<8xf32>
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{'memref.extract_strided_metadata' op inferred type(s) 'memref<f32>', 'index', 'index', 'index', 'index', 'index' are incompatible with return type(s) of operation 'memref<f32>', 'index', 'index'}}
  %b, %o, %s = memref.extract_strided_metadata %m : memref<8x8xf32> -> memref<f32>, index, index
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{'memref.assume_alignment' op alignment must be power of 2}}
  %b= memref.assume_alignment %m, 3: memref<8x8xf32>
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{'memref.prefetch' op too few indices}}
  memref.prefetch %m[%i], read, locality<3>, data: memref<8x8xf32>
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{'memref.load' op attribute 'alignment' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive and whose value is a power of two > 0}}
  %0 = memref.load %m[%i, %i] {alignment = 3 : i64} : memref<8x8xf32>
  return
}

// -----

func.func @a(%m: memref<8x8xf32>, %i: memref<1xindex>) {
  // expected-error @+1 {{'memref.reshape' op length of shape operand differs from the result's memref rank}}
  %0 = memref.reshape %m(%i) : (memref<8x8xf32>, memref<1xindex>) -> memref<?x?xf32>
  return
}

// -----

func.func @a() {
  // expected-error @+1 {{'memref.alloca_scope' op region #0 ('bodyRegion') failed to verify constraint: region with 1 blocks}}
  "memref.alloca_scope"() ({}) : () -> ()
  return
}

// -----

func.func @a() {
  // expected-error @+1 {{'memref.alloca_scope' op region should have no arguments}}
  "memref.alloca_scope"() ({
  ^bb0(%a: i32):
    "memref.alloca_scope.return"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @a() -> i32 {
  // expected-error @+1 {{'memref.alloca_scope' op along control flow edge from Operation memref.alloca_scope.return to parent: region branch point has 0 operands, but region successor needs 1 inputs}}
  %0 = "memref.alloca_scope"() ({
    "memref.alloca_scope.return"() : () -> ()
  }) : () -> (i32)
  return %0 : i32
}

// -----

func.func @a(%m: memref<?xf32>) {
  // expected-error @+1 {{attribute 'reassociation' failed to satisfy constraint: Array of 64-bit integer array attributes}}
  %0 = "memref.collapse_shape"(%m) <{reassociation = [1]}> : (memref<?xf32>) -> memref<?xf32>
  return
}
