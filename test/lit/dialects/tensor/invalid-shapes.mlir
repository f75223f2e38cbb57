// What the verifiers of gather, scatter, concat, pad and generate reject, in upstream's words.
// RUN: nn-opt --split-input-file --verify-diagnostics %s

func.func @f(%s: tensor<4x5x6xf32>, %i: tensor<1x2x3xindex>) {
  // expected-error @+1 {{'tensor.gather' op gather_dims must be non-empty}}
  %0 = tensor.gather %s[%i] gather_dims([]) : (tensor<4x5x6xf32>, tensor<1x2x3xindex>) -> tensor<1x2xf32>
  return
}

// -----

func.func @f(%s: tensor<4x5x6xf32>, %i: tensor<1x2x4xindex>) {
  // expected-error @+1 {{'tensor.gather' op gather_dims overflow source rank}}
  %0 = tensor.gather %s[%i] gather_dims([0, 1, 2, 3]) : (tensor<4x5x6xf32>, tensor<1x2x4xindex>) -> tensor<1x2xf32>
  return
}

// -----

func.func @f(%s: tensor<4x5x6xf32>, %i: tensor<1x2x3xindex>) {
  // expected-error @+1 {{'tensor.gather' op gather_dims length must match the size of last dimension of indices}}
  %0 = tensor.gather %s[%i] gather_dims([0, 1]) : (tensor<4x5x6xf32>, tensor<1x2x3xindex>) -> tensor<1x2x6xf32>
  return
}

// -----

func.func @f(%s: tensor<4x5x6xf32>, %i: tensor<1x2x1xindex>) {
  // expected-error @+1 {{'tensor.gather' op gather_dims value must be non-negative}}
  %0 = tensor.gather %s[%i] gather_dims([-1]) : (tensor<4x5x6xf32>, tensor<1x2x1xindex>) -> tensor<1x2x6xf32>
  return
}

// -----

func.func @f(%s: tensor<4x5x6xf32>, %i: tensor<1x2x1xindex>) {
  // expected-error @+1 {{'tensor.gather' op gather_dims value must be smaller than source rank}}
  %0 = tensor.gather %s[%i] gather_dims([3]) : (tensor<4x5x6xf32>, tensor<1x2x1xindex>) -> tensor<1x2x6xf32>
  return
}

// -----

func.func @f(%s: tensor<4x5x6xf32>, %i: tensor<1x2x2xindex>) {
  // expected-error @+1 {{'tensor.gather' op gather_dims values must be strictly increasing}}
  %0 = tensor.gather %s[%i] gather_dims([1, 0]) : (tensor<4x5x6xf32>, tensor<1x2x2xindex>) -> tensor<1x2x6xf32>
  return
}

// -----

func.func @f(%s: tensor<4x5x6xf32>, %i: tensor<1x2x1xindex>) {
  // expected-error @+1 {{'tensor.gather' op result type mismatch: expected 'tensor<1x2x4x5x1xf32>' or its rank-reduced variant 'tensor<1x2x4x5xf32>' (got: 'tensor<1x2x5x4xf32>')}}
  %0 = tensor.gather %s[%i] gather_dims([2]) : (tensor<4x5x6xf32>, tensor<1x2x1xindex>) -> tensor<1x2x5x4xf32>
  return
}

// -----

func.func @f(%s: tensor<4x5x6xf32>, %i: tensor<1x2x1xf32>) {
  // expected-error @+1 {{'tensor.gather' op operand #1 must be ranked tensor of signless integer or index values, but got 'tensor<1x2x1xf32>'}}
  %0 = tensor.gather %s[%i] gather_dims([2]) : (tensor<4x5x6xf32>, tensor<1x2x1xf32>) -> tensor<1x2x4x5xf32>
  return
}

// -----

func.func @f(%d: tensor<4x5x6xf32>, %s: tensor<1x2x4x5xf32>, %i: tensor<1x2x1xindex>) {
  // expected-error @+1 {{'tensor.scatter' op requires 'unique' attribute to be set}}
  %0 = tensor.scatter %s into %d[%i] scatter_dims([2]) : (tensor<1x2x4x5xf32>, tensor<4x5x6xf32>, tensor<1x2x1xindex>) -> tensor<4x5x6xf32>
  return
}

// -----

func.func @f(%d: tensor<4x5x6xf32>, %s: tensor<1x2x4x4xf32>, %i: tensor<1x2x1xindex>) {
  // expected-error @+1 {{'tensor.scatter' op source type mismatch: expected 'tensor<1x2x4x5x1xf32>' or its rank-reduced variant 'tensor<1x2x4x5xf32>' (got: 'tensor<1x2x4x4xf32>')}}
  %0 = tensor.scatter %s into %d[%i] scatter_dims([2]) unique : (tensor<1x2x4x4xf32>, tensor<4x5x6xf32>, tensor<1x2x1xindex>) -> tensor<4x5x6xf32>
  return
}

// -----

func.func @f(%d: tensor<4x5x6xf32>, %s: tensor<1x2x4x5xf32>, %i: tensor<1x2x1xindex>) {
  // expected-error @+1 {{'tensor.scatter' op scatter_dims must be non-empty}}
  %0 = tensor.scatter %s into %d[%i] scatter_dims([]) unique : (tensor<1x2x4x5xf32>, tensor<4x5x6xf32>, tensor<1x2x1xindex>) -> tensor<4x5x6xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error @+1 {{'tensor.concat' op static concatenation size mismatch along non-concatenated dimension 1}}
  %0 = tensor.concat dim(0) %a, %b : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'tensor.concat' op concatenation dim must be less than the tensor rank}}
  %0 = tensor.concat dim(2) %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{failed to infer expectedType from sourceType 'tensor<2x3xf32>', specified resultType is 'tensor<4x5xf32>'}}
  %0 = tensor.pad %a low[1] high[1] { ^bb0(%i: index, %j: index): %c = arith.constant 0.0 : f32 tensor.yield %c : f32 } : tensor<2x3xf32> to tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{expected the block to have 2 arguments}}
  %0 = tensor.pad %a low[1, 1] high[1, 1] { ^bb0(%i: index): %c = arith.constant 0.0 : f32 tensor.yield %c : f32 } : tensor<2x3xf32> to tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'tensor.pad' op expected yield type to match shape element type}}
  %0 = tensor.pad %a low[1, 1] high[1, 1] { ^bb0(%i: index, %j: index): %c = arith.constant 0 : i32 tensor.yield %c : i32 } : tensor<2x3xf32> to tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{specified type 'tensor<4x6xf32>' does not match the inferred type 'tensor<4x5xf32>'}}
  %0 = tensor.pad %a low[1, 1] high[1, 1] { ^bb0(%i: index, %j: index): %c = arith.constant 0.0 : f32 tensor.yield %c : f32 } : tensor<2x3xf32> to tensor<4x6xf32>
  return
}

// -----

func.func @f(%a: tensor<?xf32>) {
  // expected-error @+1 {{'tensor.expand_shape' op expected dimension 0 of collapsed type to be static value of 8}}
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [2, 3] : tensor<?xf32> into tensor<2x4xf32>
  return
}

// -----

func.func @f(%m: index) {
  // expected-error @+1 {{must have one body argument per input dimension}}
  %0 = tensor.generate %m { ^bb0(%i: index, %j: index): %c = arith.constant 0.0 : f32 tensor.yield %c : f32 } : tensor<?xf32>
  return
}

// -----

func.func @f(%m: index) {
  // expected-error @+1 {{'tensor.generate' op body must be terminated with a `yield` operation of the tensor element type}}
  %0 = tensor.generate %m { ^bb0(%i: index): %c = arith.constant 0 : i32 tensor.yield %c : i32 } : tensor<?xf32>
  return
}

// -----

func.func @f(%m: index) {
  // expected-error @+1 {{'tensor.empty' op incorrect number of dynamic sizes, has 0, expected 1}}
  %0 = tensor.empty() : tensor<?xf32>
  return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error @+1 {{slice along dimension 0 runs out-of-bounds: 9 >= 8}}
  %0 = tensor.extract_slice %a[6] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<8xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{slice along dimension 0 runs out-of-bounds: 9 >= 8}}
  %0 = tensor.insert_slice %b into %a[6] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return
}
