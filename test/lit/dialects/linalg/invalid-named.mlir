// What the verifiers of named structured ops reject, in upstream's words.
// RUN: nn-opt --split-input-file --verify-diagnostics %s

func.func @f(%a: tensor<4xi1>) {
  // expected-error @+1 {{unsupported operation: sub with bools}}
  %0 = linalg.sub ins(%a, %a : tensor<4xi1>, tensor<4xi1>) outs(%a: tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%a: tensor<4xi32>) {
  // expected-error @+1 {{unsupported non numeric type}}
  %0 = linalg.exp ins(%a : tensor<4xi32>) outs(%a: tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{unsupported operation: unsigned div not on uint}}
  %0 = linalg.div_unsigned ins(%a, %a : tensor<4xf32>, tensor<4xf32>) outs(%a: tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xi32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{Cannot build binary Linalg operation: expects allComplex, allFloatingPoint, or allInteger, got 'i32' and 'f32'}}
  %0 = linalg.add ins(%a, %b : tensor<4xi32>, tensor<4xf32>) outs(%b: tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'linalg.exp' op inferred input/output operand #1 has shape's dimension #0 to be 4, but found 3}}
  %0 = linalg.exp ins(%a : tensor<4xf32>) outs(%b: tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%a: memref<?x?x?xf32>) {
  // expected-error @+1 {{'linalg.conv_1d_nwc_wcf' op attribute 'strides' failed to satisfy constraint: 64-bit signless int elements attribute of shape [1]}}
  linalg.conv_1d_nwc_wcf {strides = dense<1> : tensor<2xi64>} ins(%a, %a : memref<?x?x?xf32>, memref<?x?x?xf32>) outs(%a : memref<?x?x?xf32>)
  return
}

// -----

func.func @f(%a: memref<?x?x?xf32>) {
  // expected-error @+1 {{'linalg.conv_1d_nwc_wcf' op attribute 'dilations' failed to satisfy constraint: 64-bit signless int elements attribute of shape [1]}}
  linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi32>} ins(%a, %a : memref<?x?x?xf32>, memref<?x?x?xf32>) outs(%a : memref<?x?x?xf32>)
  return
}

// -----

func.func @f(%a: memref<?x?x?xf32>) {
  // expected-error @+1 {{unexpected loop dimension for convolution op}}
  linalg.conv_1d_nwc_wcf {dilations = dense<0> : tensor<1xi64>} ins(%a, %a : memref<?x?x?xf32>, memref<?x?x?xf32>) outs(%a : memref<?x?x?xf32>)
  return
}

// -----

func.func @f(%a: memref<?x?xf32>, %v: memref<?xf32>) {
  // expected-error @+1 {{'linalg.dot' op expected operand #0 rank (2) to match the result rank of indexing_map (1)}}
  linalg.dot ins(%a, %v : memref<?x?xf32>, memref<?xf32>) outs(%v : memref<?xf32>)
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>, %c: tensor<2x5xf32>) {
  // expected-error @+1 {{'linalg.matmul' op inferred input/output operand #1 has shape's dimension #0 to be 3, but found 4}}
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<4x5xf32>) outs(%c: tensor<2x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>, %c: tensor<2x5xf32>) {
  // expected-error @+1 {{'linalg.matmul' op expected the number of indexing_map (2) to be equal to the number of input/output operands (3)}}
  %0 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>] ins(%a, %b : tensor<2x3xf32>, tensor<3x5xf32>) outs(%c: tensor<2x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>, %c: tensor<2x5xf32>) {
  // expected-error @+1 {{'linalg.matmul' op inferred input/output operand #2 has shape's dimension #0 to be 5, but found 2}}
  %0 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d1, d0)>] ins(%a, %b : tensor<2x3xf32>, tensor<3x5xf32>) outs(%c: tensor<2x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>, %c: tensor<2x5xf32>) {
  // expected-error @+1 {{'linalg.matmul' op Unexpected dim expression in map result.}}
  %0 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%a, %b : tensor<2x3xf32>, tensor<3x5xf32>) outs(%c: tensor<2x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>, %c: tensor<2x5xf32>) {
  // expected-error @+1 {{'linalg.matmul' op Unexpected dim expression in map result.}}
  %0 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%a, %b : tensor<2x3xf32>, tensor<3x5xf32>) outs(%c: tensor<2x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%a: memref<2x3xf32>, %b: memref<3x5xf32>, %c: memref<2x5xf32>) {
  // expected-error @+1 {{ranks of shaped operand and results of corresponding affine_map differ}}
  linalg.contract indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%a, %b : memref<2x3xf32>, memref<3x5xf32>) outs(%c: memref<2x5xf32>)
  return
}

// -----

func.func @f(%a: memref<2x3xf32>, %b: memref<3x5xf32>, %c: memref<2x5xf32>) {
  // expected-error @+1 {{iteration spaces of provided affine_maps differ}}
  linalg.contract indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%a, %b : memref<2x3xf32>, memref<3x5xf32>) outs(%c: memref<2x5xf32>)
  return
}

// -----

func.func @f(%a: memref<2x3xf32>, %b: memref<3x5xf32>, %c: memref<2x5xf32>) {
  // expected-error @+1 {{provided affine_map is not a projected permutation}}
  linalg.contract indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%a, %b : memref<2x3xf32>, memref<3x5xf32>) outs(%c: memref<2x5xf32>)
  return
}

// -----

func.func @f(%a: memref<2x3xf32>, %b: memref<3x5xf32>, %c: memref<2x5xf32>) {
  // expected-error @+1 {{iteration space dim at index 3 not used to access any operand}}
  linalg.contract indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2)>, affine_map<(d0, d1, d2, d3) -> (d2, d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>] ins(%a, %b : memref<2x3xf32>, memref<3x5xf32>) outs(%c: memref<2x5xf32>)
  return
}

// -----

func.func @f(%a: memref<2x3xf32>, %b: memref<3x5xf32>, %c: memref<2x5xf32>) {
  // expected-error @+1 {{iteration space dim at index 2 is neither a contracting dim nor of parallel iteration type}}
  linalg.contract indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2)>, affine_map<(d0, d1, d2, d3) -> (d3, d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>] ins(%a, %b : memref<2x3xf32>, memref<3x5xf32>) outs(%c: memref<2x5xf32>)
  return
}

// -----

func.func @f(%a: memref<2x3xf32>, %b: memref<2x3xf32>, %c: memref<2x3xf32>) {
  // expected-error @+1 {{'indexing_maps' do not specify a contracting dimension}}
  linalg.contract indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>] ins(%a, %b : memref<2x3xf32>, memref<2x3xf32>) outs(%c: memref<2x3xf32>)
  return
}

// -----

func.func @f(%a: memref<4xf32>, %b: memref<3xf32>) {
  // expected-error @+1 {{'linalg.elementwise' op inferred input/output operand #1 has shape's dimension #0 to be 4, but found 3}}
  linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%a : memref<4xf32>) outs(%b : memref<3xf32>)
  return
}

// -----

func.func @f(%a: memref<4x4xf32>, %b: memref<4x4xf32>) {
  // expected-error @+1 {{'linalg.softmax' op incorrect dimension specified}}
  linalg.softmax dimension(2) ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  return
}

// -----

func.func @f(%a: memref<4x4xf32>, %b: memref<4x5xf32>) {
  // expected-error @+1 {{'linalg.softmax' op incompatible output shape}}
  linalg.softmax dimension(1) ins(%a : memref<4x4xf32>) outs(%b : memref<4x5xf32>)
  return
}

// -----

func.func @f(%a: memref<4x4xf32>, %b: memref<4x4xf16>) {
  // expected-error @+1 {{'linalg.softmax' op failed to verify that input and output have same element type}}
  linalg.softmax dimension(1) ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf16>)
  return
}

// -----

func.func @f(%a: tensor<256x128xf32>, %b: tensor<8x8x32x16xf32>) {
  // expected-error @+1 {{invalid zero tile factor}}
  %0 = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [0, 2] into %b : tensor<256x128xf32> -> tensor<8x8x32x16xf32>
  return
}

// -----

func.func @f(%a: tensor<256x128xf32>, %b: tensor<8x8x32x16xf32>) {
  // expected-error @+1 {{invalid inner_dims_pos vector}}
  %0 = linalg.pack %a inner_dims_pos = [2, 1] inner_tiles = [2, 2] into %b : tensor<256x128xf32> -> tensor<8x8x32x16xf32>
  return
}

// -----

func.func @f(%a: tensor<256x128xf32>, %b: tensor<8x8x32x16xf32>) {
  // expected-error @+1 {{invalid outer_dims_perm vector}}
  %0 = linalg.pack %a outer_dims_perm = [2, 1] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %b : tensor<256x128xf32> -> tensor<8x8x32x16xf32>
  return
}

// -----

func.func @f(%a: tensor<256x128xf32>, %b: tensor<8x8x32x16xf32>) {
  // expected-error @+1 {{outer_dims_perm must be a permutation or empty}}
  %0 = linalg.pack %a outer_dims_perm = [0] inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %b : tensor<256x128xf32> -> tensor<8x8x32x16xf32>
  return
}

// -----

func.func @f(%a: tensor<256x128xf32>, %b: tensor<8x8x32x16xf32>) {
  // expected-error @+1 {{packed rank != (unpacked rank + num tiling factors), got 4 != 3}}
  %0 = linalg.pack %a inner_dims_pos = [0] inner_tiles = [8] into %b : tensor<256x128xf32> -> tensor<8x8x32x16xf32>
  return
}

// -----

func.func @f(%a: tensor<256x128xf32>, %b: tensor<8x8x32x16xf32>) {
  // expected-error @+1 {{tiling factors must equal the number of dimensions to tile}}
  %0 = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [2] into %b : tensor<256x128xf32> -> tensor<8x8x32x16xf32>
  return
}

// -----

func.func @f(%a: tensor<256x128xf32>, %b: tensor<8x8x32x16xf32>) {
  // expected-error @+1 {{invalid inner_dims_pos vector}}
  %0 = linalg.pack %a inner_dims_pos = [0, 1, 1] inner_tiles = [2, 2, 2] into %b : tensor<256x128xf32> -> tensor<8x8x32x16xf32>
  return
}

// -----

func.func @f(%a: tensor<256x128xf32>, %b: tensor<8x8x32x15xf32>) {
  // expected-error @+1 {{mismatch in inner tile sizes specified and shaped of tiled dimension in the packed type}}
  %0 = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %b : tensor<256x128xf32> -> tensor<8x8x32x15xf32>
  return
}

// -----

func.func @f(%a: tensor<256x128xf32>, %b: tensor<8x7x32x16xf32>) {
  // expected-error @+1 {{expected 'tensor<8x8x32x16xf32>' for the packed domain value, got 'tensor<8x7x32x16xf32>'}}
  %0 = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %b : tensor<256x128xf32> -> tensor<8x7x32x16xf32>
  return
}

// -----

func.func @f(%a: tensor<256x128xf32>, %b: tensor<8x8x32x16xf32>, %p: f16) {
  // expected-error @+1 {{'linalg.pack' op expected padding_value has 'f32' but got: 'f16'}}
  %0 = linalg.pack %a padding_value(%p : f16) inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %b : tensor<256x128xf32> -> tensor<8x8x32x16xf32>
  return
}

// -----

func.func @f(%a: tensor<255x128xf32>, %b: tensor<8x8x32x16xf32>) {
  // expected-error @+1 {{'linalg.pack' op invalid tile factor or output size provided. Only full tiles are supported when padding_value is not set}}
  %0 = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %b : tensor<255x128xf32> -> tensor<8x8x32x16xf32>
  return
}

// -----

func.func @f(%a: tensor<256x128xf32>, %b: tensor<8x8x32x?xf32>) {
  // expected-error @+1 {{mismatch in inner tile sizes specified and shaped of tiled dimension in the packed type}}
  %0 = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %b : tensor<256x128xf32> -> tensor<8x8x32x?xf32>
  return
}

// -----

func.func @f(%a: tensor<256x128xf32>, %b: tensor<8x8x32x16xf32>) {
  // expected-error @+1 {{invalid inner_dims_pos vector}}
  %0 = linalg.unpack %b inner_dims_pos = [0, 0] inner_tiles = [32, 16] into %a : tensor<8x8x32x16xf32> -> tensor<256x128xf32>
  return
}

// -----

func.func @f(%a: tensor<256x128xf32>, %b: tensor<8x8x4x32x16xf32>) {
  // expected-error @+1 {{packed rank != (unpacked rank + num tiling factors), got 5 != 4}}
  %0 = linalg.unpack %b inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %a : tensor<8x8x4x32x16xf32> -> tensor<256x128xf32>
  return
}

// -----

func.func @f(%a: tensor<256x128xf32>, %b: tensor<9x8x32x16xf32>) {
  // expected-error @+1 {{expected 'tensor<8x8x32x16xf32>' for the packed domain value, got 'tensor<9x8x32x16xf32>'}}
  %0 = linalg.unpack %b inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %a : tensor<9x8x32x16xf32> -> tensor<256x128xf32>
  return
}

// -----

func.func @f(%a: tensor<256x128xf32>, %b: tensor<7x8x32x16xf32>) {
  // expected-error @+1 {{expected 'tensor<8x8x32x16xf32>' for the packed domain value, got 'tensor<7x8x32x16xf32>'}}
  %0 = linalg.unpack %b inner_dims_pos = [0, 1] inner_tiles = [32, 16] into %a : tensor<7x8x32x16xf32> -> tensor<256x128xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x3x5xf32>, %b: tensor<6x6x5x2xf32>) {
  // expected-error @+1 {{'linalg.winograd_filter_transform' op expect filter height either equals to r or 1}}
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%a : tensor<2x4x3x5xf32>) outs(%b : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3x3x5xf32>, %b: tensor<6x5x5x2xf32>) {
  // expected-error @+1 {{'linalg.winograd_filter_transform' op the output shape is not expected}}
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%a : tensor<2x3x3x5xf32>) outs(%b : tensor<6x5x5x2xf32>) -> tensor<6x5x5x2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3x3x5xf32>, %b: tensor<6x6x5x2xf16>) {
  // expected-error @+1 {{'linalg.winograd_filter_transform' op failed to verify that all of {filter, output} have same element type}}
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%a : tensor<2x3x3x5xf32>) outs(%b : tensor<6x6x5x2xf16>) -> tensor<6x6x5x2xf16>
  return
}

// -----

func.func @f(%a: tensor<2x10x10x5xf32>, %b: tensor<5x6x2x2x2x5xf32>) {
  // expected-error @+1 {{'linalg.winograd_input_transform' op the output shape is not expected}}
  %0 = linalg.winograd_input_transform fmr(F_4_3) ins(%a : tensor<2x10x10x5xf32>) outs(%b : tensor<5x6x2x2x2x5xf32>) -> tensor<5x6x2x2x2x5xf32>
  return
}

// -----

func.func @f(%a: tensor<6x5x2x2x3x5xf32>, %b: tensor<3x8x8x5xf32>) {
  // expected-error @+1 {{'linalg.winograd_output_transform' op expect input width equals to input tile size}}
  %0 = linalg.winograd_output_transform fmr(F_4_3) ins(%a : tensor<6x5x2x2x3x5xf32>) outs(%b : tensor<3x8x8x5xf32>) -> tensor<3x8x8x5xf32>
  return
}

// -----

func.func @f(%a: tensor<6x6x2x2x3x5xf32>, %b: tensor<3x8x9x5xf32>) {
  // expected-error @+1 {{'linalg.winograd_output_transform' op the output shape is not expected}}
  %0 = linalg.winograd_output_transform fmr(F_4_3) ins(%a : tensor<6x6x2x2x3x5xf32>) outs(%b : tensor<3x8x9x5xf32>) -> tensor<3x8x9x5xf32>
  return
}

// -----

func.func @f(%a: memref<4xf32>, %b: memref<4x2xf32>) {
  // expected-error @+1 {{'linalg.map' op expected shape of input (4, 2) to match shape of output (4)}}
  linalg.map { arith.addf } ins(%a, %b : memref<4xf32>, memref<4x2xf32>) outs(%a : memref<4xf32>)
  return
}

// -----

func.func @f(%a: memref<4xf32>, %b: memref<4xf32>) {
  // expected-error @+1 {{'linalg.map' op expects number of operands to match the arity of mapper, but got: 3 and 1}}
  linalg.map ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%a : memref<4xf32>) (%x: f32) { linalg.yield %x : f32 }
  return
}

// -----

func.func @f(%a: memref<4xf32>, %b: memref<4xf32>) {
  // expected-error @+1 {{'linalg.map' op expected element type of input 'f32' to match bbArg type 'f64'}}
  linalg.map ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%a : memref<4xf32>) (%x: f32, %y: f64, %z: f32) { linalg.yield %x : f32 }
  return
}

// -----

func.func @f(%a: memref<4x8xf32>, %b: memref<4xf32>) {
  // expected-error @+1 {{'linalg.reduce' op dimensions for reduction should be in the range [0, 1].}}
  linalg.reduce { arith.addf } ins(%a : memref<4x8xf32>) outs(%b : memref<4xf32>) dimensions = [2]
  return
}

// -----

func.func @f(%a: memref<4x8xf32>, %b: memref<4xf32>) {
  // expected-error @+1 {{'linalg.reduce' op init dimensions [4] doesn't match input dimensions after reduction [8]}}
  linalg.reduce { arith.addf } ins(%a : memref<4x8xf32>) outs(%b : memref<4xf32>) dimensions = [0]
  return
}

// -----

func.func @f(%a: memref<4x8xf32>, %b: memref<f32>) {
  // expected-error @+1 {{'linalg.reduce' op attribute 'dimensions' failed to satisfy constraint: i64 dense array attribute should be in increasing order}}
  linalg.reduce { arith.addf } ins(%a : memref<4x8xf32>) outs(%b : memref<f32>) dimensions = [1, 0]
  return
}

// -----

func.func @f(%a: memref<4x8xf32>, %b: memref<f32>) {
  // expected-error @+1 {{'linalg.reduce' op number of dimensions after reduction 1 doesn't match the init rank 0}}
  linalg.reduce { arith.addf } ins(%a : memref<4x8xf32>) outs(%b : memref<f32>) dimensions = [1]
  return
}

// -----

func.func @f(%a: memref<4x8xf32>, %b: memref<8x4xf32>) {
  // expected-error @+1 {{'linalg.transpose' op permutation is not valid}}
  linalg.transpose ins(%a : memref<4x8xf32>) outs(%b : memref<8x4xf32>) permutation = [1, 1]
  return
}

// -----

func.func @f(%a: memref<4x8xf32>, %b: memref<8x4xf32>) {
  // expected-error @+1 {{'linalg.transpose' op size of permutation 3 does not match the argument rank 2}}
  linalg.transpose ins(%a : memref<4x8xf32>) outs(%b : memref<8x4xf32>) permutation = [1, 0, 2]
  return
}

// -----

func.func @f(%a: memref<4x8xf32>, %b: memref<8x5xf32>) {
  // expected-error @+1 {{'linalg.transpose' op dim(result, 1) = 5 doesn't match dim(input, permutation[1]) = 4}}
  linalg.transpose ins(%a : memref<4x8xf32>) outs(%b : memref<8x5xf32>) permutation = [1, 0]
  return
}

// -----

func.func @f(%a: memref<4xf32>, %b: memref<8x4xf32>) {
  // expected-error @+1 {{'linalg.transpose' op input rank 1 does not match init rank 2}}
  linalg.transpose ins(%a : memref<4xf32>) outs(%b : memref<8x4xf32>) permutation = [1, 0]
  return
}

// -----

func.func @f(%a: memref<4xf32>, %b: memref<8x4xf32>) {
  // expected-error @+1 {{'linalg.broadcast' op input rank plus added dimensions does not match init rank. input rank: 1, dimensions size: 2, init rank: 2}}
  linalg.broadcast ins(%a : memref<4xf32>) outs(%b : memref<8x4xf32>) dimensions = [0, 1]
  return
}

// -----

func.func @f(%a: memref<4xf32>, %b: memref<8x4xf32>) {
  // expected-error @+1 {{'linalg.broadcast' op dimension 0 is out of range. expected range: [0, 1], got: 2}}
  linalg.broadcast ins(%a : memref<4xf32>) outs(%b : memref<8x4xf32>) dimensions = [2]
  return
}

// -----

func.func @f(%a: memref<4xf32>, %b: memref<8x4xf32>) {
  // expected-error @+1 {{'linalg.broadcast' op input dim 0 should match init dim 0. input: 4, init: 8}}
  linalg.broadcast ins(%a : memref<4xf32>) outs(%b : memref<8x4xf32>) dimensions = [1]
  return
}

// -----

func.func @f(%a: memref<4xf32>, %b: memref<4x4xf32>) {
  // expected-error @+1 {{'linalg.broadcast' op dimension 0 is out of range. expected range: [0, 1], got: -1}}
  linalg.broadcast ins(%a : memref<4xf32>) outs(%b : memref<4x4xf32>) dimensions = [-1]
  return
}
