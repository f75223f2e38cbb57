// What no other test provokes of the messages of the dialect memref.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

%0 = "t.s"() : () -> memref<4x?xf32>
%1 = "t.s"() : () -> memref<i7, [1, 2]>
// expected-error@+1 {{'memref.copy' op requires the same element type for all operands}}
memref.copy %0, %1 : memref<4x?xf32> to memref<i7, [1, 2]>

// -----

%0 = "t.s"() : () -> index
%1 = "t.s"() : () -> index
%2 = "t.s"() : () -> memref<4x8xf32>
// expected-error@+1 {{'memref.prefetch' op attribute 'localityHint' failed to satisfy constraint: 32-bit signless integer attribute whose minimum value is 0 whose maximum value is 3}}
memref.prefetch %2[%0, %1], read, locality<4>, data : memref<4x8xf32>

// -----

// expected-error@+1 {{'memref.global' op initial value expected to be of type 'tensor<4xf32>', but was of type 'tensor<2xi32>'}}
"memref.global"() <{constant, initial_value = dense<1> : tensor<2xi32>, sym_name = "ones", sym_visibility = "private", type = memref<4xf32>}> : () -> ()

// -----

// expected-error@+1 {{'memref.global' op initial value should be a unit or elements attribute, but got false}}
"memref.global"() <{constant, initial_value = false, sym_name = "ones", sym_visibility = "private", type = memref<5xf32>}> : () -> ()

// -----

// expected-error@+1 {{'memref.global' op type should be static shaped memref, but got 'vector<f32>'}}
memref.global "private" constant @ones : vector<f32> = dense<1.000000e+00>

// -----

%0 = "t.s"() : () -> index
%1 = "t.s"() : () -> memref<3xf32>
// expected-error@+1 {{'memref.realloc' op unnecessary dimension operand for result type memref<5xf32>}}
%2 = memref.realloc %1(%0) : memref<3xf32> to memref<5xf32>

// -----

%0 = "t.s"() : () -> index
%1 = "t.s"() : () -> memref<0xi7>
// expected-error@+1 {{'memref.realloc' op source memref and result memref should have same element type}}
%2 = "memref.realloc"(%1, %0) : (memref<0xi7>, index) -> memref<?xf32>

// -----

%0 = "t.s"() : () -> memref<?x5xf32>
// expected-error@+1 {{'memref.memory_space_cast' op operand type 'memref<?x5xf32>' and result type 'memref<8x8xf32, 1>' are cast incompatible}}
%memspacecast = memref.memory_space_cast %0 : memref<?x5xf32> to memref<8x8xf32, 1>

// -----

"func.func"() <{function_type = () -> (), sym_name = "f"}> ({
%s0 = "t.s"() : () -> memref<5xmemref<?xi1>>
// expected-error@+1 {{'memref.transpose' op expected a permutation map}}
%r1:1 = "memref.transpose"(%s0) <{permutation = affine_map<(d0) -> (d0 mod -1)>}> : (memref<5xmemref<?xi1>>) -> (memref<5xmemref<?xi1>>)
%s2 = "t.s"() : () -> memref<5xmemref<?xi1>>
}) : () -> ()

// -----

%0 = "t.s"() : () -> memref<8xmemref<16x8xbf16>>
// expected-error@+1 {{'memref.transpose' op expected a permutation map of same rank as the input}}
%transpose = memref.transpose %0 (d0, d1) -> (d1, d0) : memref<8xmemref<16x8xbf16>> to memref<8x4xf32, strided<[1, 8]>>

// -----

%0 = "t.s"() : () -> memref<3x8xf32>
// expected-error@+1 {{'memref.transpose' op result type 'memref<127x4xf32, strided<[1, 8]>>' is not equivalent to the canonical transposed input type 'memref<8x3xf32, strided<[1, 8]>>'}}
%transpose = memref.transpose %0 (d0, d1) -> (d1, d0) : memref<3x8xf32> to memref<127x4xf32, strided<[1, 8]>>

// -----

%0 = "t.s"() : () -> memref<?x4xf32>
%1 = "t.s"() : () -> index
// expected-error@+1 {{'memref.expand_shape' op invalid output shape provided at pos 2}}
%expand_shape = memref.expand_shape %0 [[0], [1, 2]] output_shape [%1, 2, 0] : memref<?x4xf32> into memref<?x2x2xf32>

// -----

%0 = "t.s"() : () -> memref<8x8xf32>
%1 = "t.s"() : () -> memref<?xindex>
// expected-error@+1 {{'memref.reshape' op cannot use shape operand with dynamic length to reshape to statically-ranked memref type}}
%reshape = memref.reshape %0(%1) : (memref<8x8xf32>, memref<?xindex>) -> memref<?x?xf32>

// -----

%0 = "t.s"() : () -> memref<8x8xf32>
%1 = "t.s"() : () -> memref<2xindex>
// expected-error@+1 {{'memref.reshape' op element types of source and destination memref types should be the same}}
%reshape = memref.reshape %0(%1) : (memref<8x8xf32>, memref<2xindex>) -> memref<16xi0>

// -----

%0 = "t.s"() : () -> memref<?xf32>
// expected-error@+1 {{'memref.collapse_shape' op expected reassociation indices to be contiguous}}
%1 = "memref.collapse_shape"(%0) <{reassociation = [[0, 1]]}> : (memref<?xf32>) -> memref<?xf32>

// -----

func.func @a(%m: memref<8xi1000>, %i: index) {
// expected-error@+1 {{'memref.reinterpret_cast' op different element types specified for source and result}}
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [10], strides: [1] : memref<8xi1000> to memref<11xf32>
  return
}

// -----

%0 = "t.s"() : () -> memref<8x8xf32>
%1 = "t.s"() : () -> index
// expected-error@+1 {{'memref.reinterpret_cast' op expected 1 offset values, got 2}}
%2 = "memref.reinterpret_cast"(%0, %1) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>, static_offsets = array<i64: 2, -5>, static_sizes = array<i64: -9223372036854775808, 4>, static_strides = array<i64: 4, 1>}> : (memref<8x8xf32>, index) -> memref<?x4xf32>

// -----

func.func @a(%m: memref<8x8xf32>, %i: index) {
// expected-error@+1 {{expected 2 size values, got 1}}
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [10], strides: [1] : memref<8x8xf32> to memref<8x8xf32>
  return
}

// -----

func.func @a(%m: memref<8x0xf32>, %i: index) {
// expected-error@+1 {{offset 1 is out-of-bounds: 6 >= 0}}
  %0 = memref.subview %m[0, 6][4, 4][1, 1] : memref<8x0xf32> to memref<4x4xf32, strided<[8, 1], offset: 6>>
  return
}

// -----

%i = "t.s"() : () -> index
%x = "t.s"() : () -> f32
%m = "t.s"() : () -> memref<8xf32>
// expected-error@+1 {{'memref.atomic_rmw' op failed to verify that all of {value, result} have same type}}
%0 = "memref.atomic_rmw"(%x, %m, %i) <{kind = 0 : i64}> : (f32, memref<8xf32>, index) -> f64

// -----

func.func @g() { return }
// expected-error@+1 {{'memref.get_global' op 'g' does not reference a valid global memref}}
%0 = "memref.get_global"() <{name = @g}> : () -> memref<8xf32>

// -----

%m = "t.s"() : () -> memref<8x8xf32, affine_map<(d0, d1) -> (d0 mod 3, d1)>>
// expected-error@+1 {{'memref.transpose' op source type 'memref<8x8xf32, affine_map<(d0, d1) -> (d0 mod 3, d1)>>' has no strided layout}}
%0 = memref.transpose %m (d0, d1) -> (d1, d0) : memref<8x8xf32, affine_map<(d0, d1) -> (d0 mod 3, d1)>> to memref<8x8xf32>

// -----

%m = "t.s"() : () -> memref<8xf32>
// expected-error@+1 {{'memref.expand_shape' op expected number of static shape bounds to be equal to the output rank (2) but found 1 inputs instead}}
%0 = "memref.expand_shape"(%m) <{reassociation = [[0, 1]], static_output_shape = array<i64: 8>}> : (memref<8xf32>) -> memref<2x4xf32>

// -----

%m = "t.s"() : () -> memref<8xf32, affine_map<(d0) -> (d0 mod 3)>>
// expected-error@+1 {{'memref.expand_shape' op invalid source layout map}}
%0 = memref.expand_shape %m [[0, 1]] output_shape [2, 4] : memref<8xf32, affine_map<(d0) -> (d0 mod 3)>> into memref<2x4xf32>

// -----

%s = "t.s"() : () -> memref<1xindex>
%m = "t.s"() : () -> memref<8xf32, strided<[2]>>
// expected-error@+1 {{'memref.reshape' op source memref type should have identity affine map}}
%0 = memref.reshape %m(%s) : (memref<8xf32, strided<[2]>>, memref<1xindex>) -> memref<8xf32>

// -----

%s = "t.s"() : () -> memref<1xindex>
%m = "t.s"() : () -> memref<8xf32>
// expected-error@+1 {{'memref.reshape' op result memref type should have identity affine map}}
%0 = memref.reshape %m(%s) : (memref<8xf32>, memref<1xindex>) -> memref<8xf32, strided<[2]>>

// -----

%i = "t.s"() : () -> index
%x = "t.s"() : () -> f32
%m = "t.s"() : () -> memref<8xf32>
// expected-error@+1 {{'memref.dma_start' op expected indices and numbers of elements to be of index type}}
"memref.dma_start"(%m, %i, %m, %x, %i, %m, %i) : (memref<8xf32>, index, memref<8xf32>, f32, index, memref<8xf32>, index) -> ()

// -----

%m = "t.s"() : () -> memref<8xf32>
// expected-error@+1 {{'memref.reinterpret_cast' op expected result type to have strided layout but found memref<8xf32, affine_map<(d0) -> (d0 mod 3)>>}}
%0 = memref.reinterpret_cast %m to offset: [0], sizes: [8], strides: [1] : memref<8xf32> to memref<8xf32, affine_map<(d0) -> (d0 mod 3)>>

// -----

%m = "t.s"() : () -> memref<8xf32>
// expected-error@+1 {{expected result element type to be 'f32', but got 'memref<4xf64, strided<[1]>>'}}
%0 = memref.subview %m[0] [4] [1] : memref<8xf32> to memref<4xf64, strided<[1]>>

// -----

%i = "t.s"() : () -> index
%m = "t.s"() : () -> memref<64xi8>
// expected-error@+1 {{different memory spaces specified for base memref type 'memref<64xi8>' and view memref type 'memref<4xf32, 1>'}}
%0 = memref.view %m[%i][] : memref<64xi8> to memref<4xf32, 1>

// -----

%i = "t.s"() : () -> index
%m = "t.s"() : () -> memref<64xi8>
// expected-error@+1 {{unsupported map for result memref type 'memref<4xf32, strided<[2]>>'}}
%0 = memref.view %m[%i][] : memref<64xi8> to memref<4xf32, strided<[2]>>
