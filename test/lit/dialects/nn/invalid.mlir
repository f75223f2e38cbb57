// What the verifier says of nn ops that do not fit their operands.
// RUN: nn-opt --split-input-file --verify-diagnostics %s

func.func @broadcast(%a: tensor<3x4xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{'nn.add' op dimension 'i1': lhs has 4 but rhs has 5 ('tensor<3x5xf32>')}}
  %0 = nn.add %a, %b : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @elements(%a: tensor<3xf32>, %b: tensor<3xi32>) {
  // expected-error @+1 {{'nn.mul' op operands have different element types: 'f32' and 'i32'}}
  %0 = nn.mul %a, %b : (tensor<3xf32>, tensor<3xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @result(%a: tensor<3xf32>) {
  // expected-error @+1 {{'nn.relu' op infers result type 'tensor<3xf32>', but got 'tensor<4xf32>'}}
  %0 = nn.relu %a : (tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @channels(%x: tensor<1x3x8x8xf32>, %w: tensor<4x5x3x3xf32>) {
  // expected-error @+1 {{'nn.conv' op x has 3 channels but weight expects 5}}
  %0 = nn.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x5x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @groups(%x: tensor<1x6x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{'nn.conv' op x has 6 channels but weight expects 9 (3 groups of 3)}}
  %0 = nn.conv %x, %w {groups = 3 : i64} : (tensor<1x6x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @window(%x: tensor<1x3x4x4xf32>) {
  // expected-error @+1 {{'nn.max_pool' op the window does not fit into the padded input}}
  %0 = nn.max_pool %x {kernel = array<i64: 6, 6>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x1x1xf32>
  return
}

// -----

func.func @axis(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{'nn.softmax' op axis 2 is out of range for a tensor of rank 2}}
  %0 = nn.softmax %x {axis = 2 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @softmax_of_integers(%x: tensor<3x4xi32>) {
  // expected-error @+1 {{'nn.softmax' op needs floats, but got 'tensor<3x4xi32>'}}
  %0 = nn.softmax %x {axis = 1 : i64} : (tensor<3x4xi32>) -> tensor<3x4xi32>
  return
}

// -----

func.func @exponential_of_integers(%x: tensor<3x4xi32>) {
  // expected-error @+1 {{'nn.exp' op needs floats, but got 'i32' (for 'exp')}}
  %0 = nn.exp %x : (tensor<3x4xi32>) -> tensor<3x4xi32>
  return
}

// -----

func.func @norm_of_integers(%x: tensor<3x4xi32>) {
  // expected-error @+1 {{'nn.reduce_l2' op needs floats, but got 'tensor<3x4xi32>'}}
  %0 = nn.reduce_l2 %x {axes = array<i64: 1>} : (tensor<3x4xi32>) -> tensor<3xi32>
  return
}

// -----

func.func @reshape(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{'nn.reshape' op 12 elements do not fit 'tensor<5xf32>'}}
  %0 = nn.reshape %x : (tensor<3x4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @permutation(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{'nn.transpose' op permutation [0, 0] is not one of 0..1}}
  %0 = nn.transpose %x {permutation = array<i64: 0, 0>} : (tensor<3x4xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @concat(%a: tensor<3x4xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{'nn.concat' op operands differ in dimension 1: 'tensor<3x4xf32>' and 'tensor<3x5xf32>'}}
  %0 = nn.concat %a, %b {axis = 0 : i64} : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @word(%x: tensor<3xf32>) {
  // expected-error @+1 {{'nn.gelu' op attribute 'approximate' failed to satisfy constraint: string attribute, one of "none", "tanh"}}
  %0 = nn.gelu %x {approximate = "sigmoid"} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @indices(%x: tensor<3xf32>, %i: tensor<2xf32>) {
  // expected-error @+1 {{'nn.gather' op indices must be i32 or i64, but got 'tensor<2xf32>'}}
  %0 = nn.gather %x, %i : (tensor<3xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @kernel(%x: tensor<3xf32>) {
  // expected-error @+1 {{'nn.kernel' op must end in 'nn.yield' of the results' types}}
  %0 = nn.kernel (%a = %x) : (tensor<3xf32>) -> tensor<4xf32> {
    nn.yield %a : tensor<3xf32>
  }
  return
}

// -----

// An empty array is not the same as none.
func.func @strides(%x: tensor<1x3x4x4xf32>) {
  // expected-error @+1 {{'nn.max_pool' op strides has 0 elements, expected 2}}
  %0 = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x3x3xf32>
  return
}

// -----

func.func @steps(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{'nn.slice' op steps has 0 elements, expected 2}}
  %0 = nn.slice %x {starts = array<i64: 0, 0>, steps = array<i64>} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @output_padding(%x: tensor<1x8x4x4xf32>, %w: tensor<8x3x2x2xf32>) {
  // expected-error @+1 {{'nn.conv_transpose' op output_padding has 0 elements, expected 2}}
  %0 = nn.conv_transpose %x, %w {output_padding = array<i64>} : (tensor<1x8x4x4xf32>, tensor<8x3x2x2xf32>) -> tensor<1x3x5x5xf32>
  return
}

// -----

func.func @bits(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.bitcast' op 'f32' and 'i16' differ in size}}
  %0 = nn.bitcast %x : (tensor<4xf32>) -> tensor<4xi16>
  return
}

// -----

func.func @shape_of_bits(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nn.bitcast' op cannot change the shape}}
  %0 = nn.bitcast %x : (tensor<4xf32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @rounding(%x: tensor<4xf32>) {
  // expected-error @+1 {{one of "up", "down", "nearest"}}
  %0 = nn.cast %x {round_mode = "odd"} : (tensor<4xf32>) -> tensor<4xf8E8M0FNU>
  return
}
