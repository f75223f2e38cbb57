// What the verifier rejects, in upstream's words.
// RUN: nn-opt --split-input-file --verify-diagnostics %s

func.func @f(%i: index) {
  // expected-error @+1 {{'tensor.empty' op incorrect number of dynamic sizes, has 1, expected 0}}
  %0 = tensor.empty(%i) : tensor<4xf32>
  return
}

// -----

func.func @f(%t: tensor<4x4xf32>, %i: index) {
  // expected-error @+1 {{'tensor.extract' op incorrect number of indices for extract_element}}
  %0 = tensor.extract %t[%i] : tensor<4x4xf32>
  return
}

// -----

func.func @f(%t: tensor<4x4xf32>, %i: index, %v: f32) {
  // expected-error @+1 {{'tensor.insert' op incorrect number of indices}}
  %0 = tensor.insert %v into %t[%i] : tensor<4x4xf32>
  return
}

// -----

func.func @f(%t: tensor<8x8xf32>) {
  // expected-error @+1 {{expected 2 offset values, got 1}}
  %0 = tensor.extract_slice %t[0] [4] [1] : tensor<8x8xf32> to tensor<4x8xf32>
  return
}

// -----

func.func @f(%t: tensor<8x8xf32>) {
  // expected-error @+1 {{expected type to be 'tensor<4x4xf32>' or a rank-reduced version. (size mismatch)}}
  %0 = tensor.extract_slice %t[0, 0] [4, 4] [1, 1] : tensor<8x8xf32> to tensor<4x5xf32>
  return
}

// -----

func.func @f(%t: tensor<8x8xf32>) {
  // expected-error @+1 {{slice along dimension 0 runs out-of-bounds: 9 >= 8}}
  %0 = tensor.extract_slice %t[6, 0] [4, 4] [1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
  return
}

// -----

func.func @f(%t: tensor<8x8xf32>, %s: tensor<4x5xf32>) {
  // expected-error @+1 {{expected type to be 'tensor<4x4xf32>' or a rank-reduced version. (size mismatch)}}
  %0 = tensor.insert_slice %s into %t[0, 0] [4, 4] [1, 1] : tensor<4x5xf32> into tensor<8x8xf32>
  return
}

// -----

func.func @f(%t: tensor<8x8xf32>) {
  // expected-error @+1 {{'tensor.cast' op operand type 'tensor<8x8xf32>' and result type 'tensor<8x9xf32>' are cast incompatible}}
  %0 = tensor.cast %t : tensor<8x8xf32> to tensor<8x9xf32>
  return
}

// -----

func.func @f(%t: tensor<8x8xf32>, %s: tensor<3xindex>) {
  // expected-error @+1 {{'tensor.reshape' op length of shape operand differs from the result's tensor rank}}
  %0 = tensor.reshape %t(%s) : (tensor<8x8xf32>, tensor<3xindex>) -> tensor<8x8xf32>
  return
}

// -----

func.func @f(%t: tensor<8x8xf32>) {
  // expected-error @+1 {{'tensor.expand_shape' op expected dimension 0 of collapsed type to be static value of 6}}
  %0 = tensor.expand_shape %t [[0, 1], [2]] output_shape [2, 3, 8] : tensor<8x8xf32> into tensor<2x3x8xf32>
  return
}

// -----

func.func @f(%t: tensor<8x8xf32>) {
  // expected-error @+1 {{'tensor.collapse_shape' op expected dimension 0 of collapsed type to be static value of 64}}
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<8x8xf32> into tensor<63xf32>
  return
}

// -----

func.func @f(%t: tensor<8x8xf32>) {
  // expected-error @+1 {{'tensor.collapse_shape' op expected collapsed rank (1) to equal the number of reassociation maps (2).}}
  %0 = tensor.collapse_shape %t [[0], [1]] : tensor<8x8xf32> into tensor<64xf32>
  return
}

// -----

func.func @f(%v: f32) {
  // expected-error @+1 {{'tensor.splat' op incorrect number of dynamic sizes, has 0, expected 1}}
  %0 = tensor.splat %v : tensor<4x?xf32>
  return
}

// -----

func.func @f(%t: tensor<8x8xf32>) {
  // expected-error @+1 {{'tensor.bitcast' op operand type 'tensor<8x8xf32>' and result type 'tensor<8x8xi16>' are cast incompatible}}
  %0 = tensor.bitcast %t : tensor<8x8xf32> to tensor<8x8xi16>
  return
}

// -----

func.func @f(%t: tensor<8x8xf32>) {
  // expected-error @+1 {{'tensor.concat' op concatenation dim must be less than the tensor rank}}
  %0 = tensor.concat dim(2) %t, %t : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  return
}
