// What no other test provokes of the messages of the dialect linalg.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

%0 = "t.s"() : () -> tensor<8x8x?xi16777215>
%1 = "t.s"() : () -> tensor<8x8x?xi16777215>
// expected-error@+1 {{'linalg.softmax' op expected 1 results of the output's type}}
linalg.softmax dimension(1) ins(%0 : tensor<8x8x?xi16777215>) outs(%1 : tensor<8x8x?xi16777215>)

// -----

%0 = "t.s"() : () -> memref<3xi64>
%1 = "t.s"() : () -> memref<3xi64>
// expected-error@+1 {{'linalg.softmax' op incorrect dimension specified}}
linalg.softmax dimension(1) ins(%0 : memref<3xi64>) outs(%1 : memref<3xi64>)

// -----

%0 = "t.s"() : () -> tensor<2x2x3x5xf32>
%1 = "t.s"() : () -> tensor<6x6x5x2xf32>
// expected-error@+1 {{'linalg.winograd_filter_transform' op expect filter height either equals to r or 1}}
%2 = linalg.winograd_filter_transform fmr(F_4_3) ins(%0 : tensor<2x2x3x5xf32>) outs(%1 : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>

// -----

func.func @f(%a: memref<4x8xf32>) {
// expected-error@+1 {{'linalg.generic' op expected indexing_maps to hold affine maps, found 0 : i64}}
  linalg.generic {indexing_maps = [0, 2], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x8xf32>) outs(%a : memref<4x8xf32>) { ^bb0(%p: f32, %q: f32): linalg.yield %p : f32 }
  return
}

// -----

#map = affine_map<(d0) -> (d0)>
%0 = "t.s"() : () -> memref<4xindex>
// expected-error@+1 {{'linalg.generic' op expected iterator_types to hold iterator types, found 127 : i8}}
linalg.generic {indexing_maps = [#map], iterator_types = [127 : i8, affine_map<() -> ()>]} outs(%0 : memref<4xindex>) {
}

// -----

%0 = "t.s"() : () -> memref<4xf32>
%1 = "t.s"() : () -> tensor<f16>
// expected-error@+1 {{'linalg.broadcast' op dimension 0 is out of range. expected range: [0, -1], got: 1}}
linalg.broadcast ins(%0 : memref<4xf32>) outs(%1 : tensor<f16>) dimensions = [1] 

// -----

%0 = "t.s"() : () -> memref<4x8xf32>
%1 = "t.s"() : () -> memref<4x8xf32>
// expected-error@+1 {{'linalg.broadcast' op input rank plus added dimensions does not match init rank. input rank: 2, dimensions size: 1, init rank: 2}}
linalg.broadcast ins(%0 : memref<4x8xf32>) outs(%1 : memref<4x8xf32>) dimensions = [1] 

// -----

"func.func"() <{function_type = () -> (), sym_name = "f"}> ({
%s0 = "t.s"() : () -> tensor<index>
// expected-error@+1 {{'linalg.reduce' op expects equal numbers of inputs and outputs}}
%r11:1 = "linalg.reduce"(%s0) <{dimensions = array<i64: -1, 0>}> ({
}) : (tensor<index>) -> (tensor<index>)
"func.return"() : () -> ()
}) : () -> ()

// -----

%0 = "t.s"() : () -> tensor<3xf16>
%1 = "t.s"() : () -> tensor<?x4x8x?xf32>
%2 = "t.s"() : () -> f32
%3 = "t.s"() : () -> index
// expected-error@+1 {{'linalg.pack' op expected padding_value has 'f16' but got: 'f32'}}
%pack = linalg.pack %0 padding_value(%2 : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, %3] into %1 : tensor<3xf16> -> tensor<?x4x8x?xf32>

// -----

%0 = "t.s"() : () -> tensor<4x3x8xf32>
%1 = "t.s"() : () -> tensor<30x16xf32>
// expected-error@+1 {{expected 'tensor<4x16x8xf32>' for the packed domain value, got 'tensor<4x3x8xf32>'}}
%unpack = linalg.unpack %0 inner_dims_pos = [0] inner_tiles = [8] into %1 : tensor<4x3x8xf32> -> tensor<30x16xf32>

// -----

%0 = "t.s"() : () -> tensor<4x16x8xf32>
%1 = "t.s"() : () -> tensor<30x16xf32>
// expected-error@+1 {{mismatch in inner tile sizes specified and shaped of tiled dimension in the packed type}}
%unpack = linalg.unpack %0 inner_dims_pos = [0] inner_tiles = [1] into %1 : tensor<4x16x8xf32> -> tensor<30x16xf32>

// -----

%0 = "t.s"() : () -> tensor<4x16x8xf32>
%1 = "t.s"() : () -> tensor<30x16xf32>
// expected-error@+1 {{invalid inner_dims_pos vector}}
%unpack = linalg.unpack %0 inner_dims_pos = [3] inner_tiles = [8] into %1 : tensor<4x16x8xf32> -> tensor<30x16xf32>

// -----

%0 = "t.s"() : () -> tensor<4x16x8xf32>
%1 = "t.s"() : () -> tensor<30x16xf32>
// expected-error@+1 {{invalid zero tile factor}}
%unpack = linalg.unpack %0 inner_dims_pos = [0] inner_tiles = [0] into %1 : tensor<4x16x8xf32> -> tensor<30x16xf32>

// -----

%0 = "t.s"() : () -> tensor<30x16xf32>
%1 = "t.s"() : () -> tensor<30x16xf32>
// expected-error@+1 {{packed rank != (unpacked rank + num tiling factors), got 2 != 3}}
%unpack = linalg.unpack %0 inner_dims_pos = [0] inner_tiles = [8] into %1 : tensor<30x16xf32> -> tensor<30x16xf32>

// -----

%0 = "t.s"() : () -> tensor<30x?xf32>
%1 = "t.s"() : () -> tensor<?x4x8x?xf32>
%2 = "t.s"() : () -> f32
// expected-error@+1 {{tiling factors must equal the number of dimensions to tile}}
%pack = linalg.pack %0 padding_value(%2 : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [] into %1 : tensor<30x?xf32> -> tensor<?x4x8x?xf32>

// -----

// expected-error@+1 {{unsupported non numeric type}}
linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%x, %y : none, none) outs(%z : none)

// -----

// expected-error@+1 {{Cannot build binary Linalg operation: expects allComplex, allFloatingPoint, or allInteger, got 'f32' and 'i64'}}
linalg.matmul ins(%a, %b : memref<4x8xf32>, i64) outs(%c : !llvm.void)

// -----

#map = affine_map<(d0) -> (d0)>
%0 = "t.s"() : () -> memref<2xindex>
// expected-error@+1 {{'linalg.generic' op expects to have 1 region with 1 block}}
linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%0 : memref<2xindex>) {
}

// -----

%0 = "t.s"() : () -> tensor<1x0x5xmemref<*xf32>>
%1 = "t.s"() : () -> tensor<1x0x5xmemref<*xf32>>
// expected-error@+1 {{'linalg.copy' op expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
linalg.copy ins(%0 : tensor<1x0x5xmemref<*xf32>>) outs(%1 : tensor<1x0x5xmemref<*xf32>>)

// -----

%s0 = "t.s"() : () -> ui8
// expected-error@+1 {{'linalg.fill' op expected at least one output operand}}
%r1:2 = "linalg.fill"(%s0) <{operandSegmentSizes = array<i32: 1, 0>}> ({
}) : (ui8) -> (ui8, ui8)

// -----

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
func.func @f(%a: memref<4x8xf32>) {
// expected-error@+1 {{'linalg.generic' op expected indexing_map #0 to have 2 dim(s) to match the number of loops}}
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x8xf32>) outs(%a : memref<4x8xf32>) { ^bb0(%p: f32): linalg.yield %p : f32 }
  return
}

// -----

%x = "t.s"() : () -> tensor<8xf32>
// expected-error@+1 {{[parseNamedStructuredOpRegion] ods-gen generated region expects 3 args, got 2}}
%0 = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>

// -----

%x = "t.s"() : () -> tensor<8x8xf32>
// expected-error@+1 {{[parseNamedStructuredOpRegion] ods-gen generated region expects 3 args, got 2}}
%0 = linalg.matmul ins(%x : tensor<8x8xf32>) outs(%x : tensor<8x8xf32>) -> tensor<8x8xf32>

// -----

%x = "t.s"() : () -> tensor<8x8xf32>
// expected-error@+1 {{'linalg.matmul' op attribute 'indexing_maps' failed to satisfy constraint: AffineMap array attribute}}
%0 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, 1, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%x : tensor<8x8xf32>) -> tensor<8x8xf32>

// -----

%x = "t.s"() : () -> tensor<8x8xf32>
// expected-error@+1 {{'linalg.contract' op requires attribute 'indexing_maps'}}
%0 = "linalg.contract"(%x, %x, %x) <{indexing_maps = [], operandSegmentSizes = array<i32: 2, 1>}> ({
^bb0(%a: f32, %b: f32, %c: f32):
  linalg.yield %a : f32
}) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>

// -----

%x = "t.s"() : () -> tensor<8xf32>
// expected-error@+1 {{'linalg.generic' op expected type of operand #1 ('tensor<8xf32>') to match type of corresponding result ('tensor<4xf32>')}}
%0 = "linalg.generic"(%x, %x) <{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
^bb0(%a: f32, %b: f32):
  linalg.yield %a : f32
}) : (tensor<8xf32>, tensor<8xf32>) -> tensor<4xf32>
