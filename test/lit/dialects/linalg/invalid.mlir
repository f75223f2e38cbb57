// What the verifier rejects, in upstream's words.
// RUN: nn-opt --split-input-file --verify-diagnostics %s

#map = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0) -> (d0)>
func.func @f(%a: memref<4x8xf32>) {
  // expected-error @+1 {{'linalg.generic' op expected the number of indexing_map (1) to be equal to the number of input/output operands (2)}}
  linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x8xf32>) outs(%a : memref<4x8xf32>) { ^bb0(%p: f32, %q: f32): linalg.yield %p : f32 }
  return
}

// -----

#m1 = affine_map<(d0) -> (d0)>
func.func @f(%a: memref<4x8xf32>) {
  // expected-error @+1 {{'linalg.generic' op expected operand #0 rank (2) to match the result rank of indexing_map (1)}}
  linalg.generic {indexing_maps = [#m1, #m1], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x8xf32>) outs(%a : memref<4x8xf32>) { ^bb0(%p: f32, %q: f32): linalg.yield %p : f32 }
  return
}

// -----

#m1 = affine_map<(d0, d1) -> (d0)>
func.func @f(%a: memref<4x8xf32>) {
  // expected-error @+1 {{'linalg.generic' op expected operand #0 rank (2) to match the result rank of indexing_map (1)}}
  linalg.generic {indexing_maps = [#m1, #m1], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x8xf32>) outs(%a : memref<4x8xf32>) { ^bb0(%p: f32, %q: f32): linalg.yield %p : f32 }
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%a: memref<4x8xf32>, %b: memref<4x9xf32>) {
  // expected-error @+1 {{'linalg.generic' op inferred input/output operand #1 has shape's dimension #1 to be 8, but found 9}}
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x8xf32>) outs(%b : memref<4x9xf32>) { ^bb0(%p: f32, %q: f32): linalg.yield %p : f32 }
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#m2 = affine_map<(d0, d1) -> (d0+1, d1)>
func.func @f(%a: memref<4x8xf32>, %b: memref<4x8xf32>) {
  // expected-error @+1 {{'linalg.generic' op inferred input/output operand #0 has shape's dimension #0 to be greater than or equal to 5, but found 4}}
  linalg.generic {indexing_maps = [#m2, #map], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x8xf32>) outs(%b : memref<4x8xf32>) { ^bb0(%p: f32, %q: f32): linalg.yield %p : f32 }
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#m2 = affine_map<(d0, d1) -> (d0, -d1)>
func.func @f(%a: memref<4x8xf32>, %b: memref<4x8xf32>) {
  // expected-error @+1 {{'linalg.generic' op unexpected result less than 0 at expression #1 in (d0, d1) -> (d0, -d1)}}
  linalg.generic {indexing_maps = [#m2, #map], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x8xf32>) outs(%b : memref<4x8xf32>) { ^bb0(%p: f32, %q: f32): linalg.yield %p : f32 }
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%a: memref<4x8xf32>) {
  // expected-error @+1 {{'linalg.generic' op expected as many non-induction variable region arguments as the number of input/output operands}}
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x8xf32>) outs(%a : memref<4x8xf32>) { ^bb0(%p: f32): linalg.yield %p : f32 }
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%a: memref<4x8xf32>) {
  // expected-error @+1 {{'linalg.generic' op expected type of bb argument #0 ('i32') to match element or self type of the corresponding operand ('f32')}}
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x8xf32>) outs(%a : memref<4x8xf32>) { ^bb0(%p: i32, %q: f32): linalg.yield %q : f32 }
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%a: memref<4x8xf32>) {
  // expected-error @+1 {{'linalg.yield' op expected number of yield values (2) to match the number of inits / outs operands of the enclosing LinalgOp (1)}}
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x8xf32>) outs(%a : memref<4x8xf32>) { ^bb0(%p: f32, %q: f32): linalg.yield %q, %q : f32, f32 }
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%a: memref<4x8xf32>) {
  // expected-error @+1 {{'linalg.yield' op type of yield operand 1 ('i32') doesn't match the element type of the enclosing linalg.generic op ('f32')}}
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x8xf32>) outs(%a : memref<4x8xf32>) { ^bb0(%p: f32, %q: f32): %i = arith.constant 1 : i32 linalg.yield %i : i32 }
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%a: memref<4x8xf32>) {
  // expected-error @+1 {{'linalg.index' op expected dim (2) to be lower than the number of loops (2) of the enclosing LinalgOp}}
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x8xf32>) outs(%a : memref<4x8xf32>) { ^bb0(%p: f32, %q: f32): %i = linalg.index 2 : index linalg.yield %q : f32 }
  return
}

// -----

func.func @f(%a: memref<4x8xf32>) {
  // expected-error @+1 {{'linalg.index' op expected parent op with LinalgOp interface}}
  %i = linalg.index 2 : index
  return
}

// -----

#map = affine_map<(d0, d1)[s0] -> (d0, d1 + s0)>
func.func @f(%a: memref<4x8xf32>) {
  // expected-error @+1 {{'linalg.generic' op unexpected symbols in indexing_map #0}}
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x8xf32>) outs(%a : memref<4x8xf32>) { ^bb0(%p: f32, %q: f32): linalg.yield %q : f32 }
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0)>
func.func @f(%a: memref<4xf32>) {
  // expected-error @+1 {{'linalg.generic' op invalid indexing maps are non-invertible: ((d0, d1) -> (d0, d0))}}
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4xf32>) outs(%a : memref<4xf32>) { ^bb0(%p: f32, %q: f32): linalg.yield %q : f32 }
  return
}

// -----

func.func @f(%a: memref<4x8xf32>, %b: memref<8x5xf32>, %c: memref<4x4xf32>) {
  // expected-error @+1 {{'linalg.matmul' op inferred input/output operand #2 has shape's dimension #1 to be 5, but found 4}}
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x5xf32>) outs(%c : memref<4x4xf32>)
  return
}

// -----

func.func @f(%a: memref<4x8xf32>, %b: memref<8x5xf32>, %c: f32) {
  // expected-error @+1 {{'linalg.fill' op operand #1 must be variadic of shaped of any type values, but got 'f32'}}
  linalg.fill ins(%c : f32) outs(%c : f32)
  return
}

// -----

func.func @f(%a: memref<4x8xf32>, %b: memref<8x5xf32>, %c: f32) {
  // expected-error @+1 {{'linalg.transpose' op dim(result, 1) = 5 doesn't match dim(input, permutation[1]) = 4}}
  linalg.transpose ins(%a : memref<4x8xf32>) outs(%b : memref<8x5xf32>) permutation = [1, 0]
  return
}

// -----

func.func @f(%a: memref<4x8xf32>, %b: memref<8x5xf32>, %c: f32) {
  // expected-error @+1 {{'linalg.transpose' op permutation is not valid}}
  linalg.transpose ins(%a : memref<4x8xf32>) outs(%b : memref<8x5xf32>) permutation = [1, 1]
  return
}

// -----

func.func @f(%a: memref<4x8xf32>, %b: memref<8xf32>, %c: f32) {
  // expected-error @+1 {{'linalg.broadcast' op input dim 0 should match init dim 0. input: 8, init: 4}}
  linalg.broadcast ins(%b : memref<8xf32>) outs(%a : memref<4x8xf32>) dimensions = [1]
  return
}

// -----

func.func @f(%a: memref<4x8xf32>, %b: memref<8xf32>, %c: f32) {
  // expected-error @+1 {{'linalg.reduce' op init dimensions [8] doesn't match input dimensions after reduction [4]}}
  linalg.reduce { arith.addf } ins(%a : memref<4x8xf32>) outs(%b : memref<8xf32>) dimensions = [1]
  return
}

// -----

func.func @f(%a: memref<4x8xf32>, %b: memref<8xf32>, %c: f32) {
  // expected-error @+1 {{'linalg.reduce' op dimensions for reduction should be in the range [0, 1].}}
  linalg.reduce { arith.addf } ins(%a : memref<4x8xf32>) outs(%b : memref<8xf32>) dimensions = [2]
  return
}

// -----

func.func @winograd_result(%a: tensor<6x6x2x2x3x5xf32>, %b: tensor<3x8x8x5xf32>) {
  // expected-error @+1 {{'linalg.winograd_output_transform' op expected type of operand #1 ('tensor<3x8x8x5xf32>') to match type of corresponding result ('tensor<3x5x8x5xf32>')}}
  %0 = linalg.winograd_output_transform fmr(F_4_3) ins(%a : tensor<6x6x2x2x3x5xf32>) outs(%b : tensor<3x8x8x5xf32>) -> tensor<3x5x8x5xf32>
  return
}
