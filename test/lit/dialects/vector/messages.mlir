// What no other test provokes of the messages of the dialect vector.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

func.func @f(%a: vector<4x8xf32>, %b: vector<16x5xf32>, %c: i8) {
// expected-error@+1 {{'vector.contract' op expected indexing map 2 to have 0 number of outputs}}
  %0 = vector.contract {indexing_maps = [affine_map<(i,j,k)->(i,k)>, affine_map<(i,j,k)->(k,j)>, affine_map<(i,j,k)->(i,j)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c : vector<4x8xf32>, vector<16x5xf32> into i8
  return
}

// -----

%0 = "t.s"() : () -> i16777215
%1 = "t.s"() : () -> vector<4x8xf32>
// expected-error@+1 {{'vector.multi_reduction' op reduction dimension out of bounds}}
%2 = vector.multi_reduction <add>, %1, %0 [0x7FC00000] : vector<4x8xf32> to i16777215

// -----

%0 = "t.s"() : () -> vector<4x8xf32>
%1 = "t.s"() : () -> vector<8xf32>
%2 = "t.s"() : () -> vector<4x8xf32>
// expected-error@+1 {{'vector.outerproduct' op expected 1-d vector for operand #1}}
%3 = "vector.outerproduct"(%0, %1, %2) <{kind = #vector.kind<add>}> : (vector<4x8xf32>, vector<8xf32>, vector<4x8xf32>) -> vector<4x8xf32>

// -----

%0 = "t.s"() : () -> vector<4xf32>
%1 = "t.s"() : () -> vector<4x3xf32>
%2 = "t.s"() : () -> vector<4x3xf32>
// expected-error@+1 {{'vector.outerproduct' op expected 1-d vector for operand #2}}
%3 = "vector.outerproduct"(%0, %1, %2) <{kind = #vector.kind<add>}> : (vector<4xf32>, vector<4x3xf32>, vector<4x3xf32>) -> vector<4x3xf32>

// -----

%0 = "t.s"() : () -> vector<4xf32>
%1 = "t.s"() : () -> vector<8xf32>
%2 = "t.s"() : () -> vector<4xf32>
// expected-error@+1 {{'vector.outerproduct' op expected result of type vector<4x8xf32>, found vector<4xf32>}}
%3 = "vector.outerproduct"(%0, %1, %2) <{kind = #vector.kind<add>}> : (vector<4xf32>, vector<8xf32>, vector<4xf32>) -> vector<4xf32>

// -----

%0 = "t.s"() : () -> vector<4xf32>
%1 = "t.s"() : () -> vector<8x8xf32>
// expected-error@+1 {{'vector.scan' op incompatible input/initial value shapes}}
%dest, %accumulated_value = vector.scan <add>, %1, %0 {inclusive = true, reduction_dim = 1 : i64} : vector<8x8xf32>, vector<4xf32>

// -----

%0 = "t.s"() : () -> vector<4xf32>
%1 = "t.s"() : () -> vector<4x8xf32>
// expected-error@+1 {{'vector.scan' op reduction dimension 9 has to be less than 2}}
%dest, %accumulated_value = vector.scan <add>, %1, %0 {inclusive = true, reduction_dim = 9 : i64} : vector<4x8xf32>, vector<4xf32>

// -----

%s0 = "t.s"() : () -> vector<4xi8>
// expected-error@+1 {{'vector.from_elements' op number of operands (1) and number of elements in 'vector<4xi8>' do not match}}
%r1:1 = "vector.from_elements"(%s0) : (vector<4xi8>) -> (vector<4xi8>)

// -----

%0 = "t.s"() : () -> vector<4xi1>
// expected-error@+1 {{'vector.mask' op expects only one operation to mask}}
%2 = "vector.mask"(%0) ({
  %3 = "vector.reduction"(%1) <{fastmath = #arith.fastmath<none>, kind = #vector.kind<add>}> : (vector<4xf32>) -> f32
%1 = "t.s"() : () -> vector<4xf32>
  "vector.yield"(%3) : (f32) -> ()
}) : (vector<4xi1>) -> i1000

// -----

func.func @f(%m: memref<16x5xvector<i32>>, %i: index, %k: vector<5xi1>, %x: vector<4xf32>, %j: vector<4xi32>) {
// expected-error@+1 {{'vector.gather' op requires 2 indices}}
  %0 = vector.gather %m[%i] [%j], %k, %x : memref<16x5xvector<i32>>, vector<4xi32>, vector<5xi1>, vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<2x2xi16>, %i: index, %k: vector<4xi1>, %x: vector<4xf32>, %j: vector<5xi32>) {
// expected-error@+1 {{'vector.scatter' op requires 2 indices}}
  vector.scatter %m[%i] [%j], %k, %x : memref<2x2xi16>, vector<5xi32>, vector<4xi1>, vector<4xf32>
  return
}

// -----

%0 = "t.s"() : () -> vector<2x5x9999999999x3x1xf4E2M1FN>
// expected-error@+1 {{'vector.bitcast' op dimension size mismatch}}
%1 = vector.bitcast %0 : vector<2x5x9999999999x3x1xf4E2M1FN> to vector<4xi32>

// -----

func.func @f(%x: vector<index>) {
// expected-error@+1 {{'vector.extract_strided_slice' op expected offsets attribute of rank no greater than vector rank}}
  %0 = vector.extract_strided_slice %x {offsets = [0], sizes = [2], strides = [2]} : vector<index> to vector<2x8xf32>
  return
}

// -----

%0 = "t.s"() : () -> vector<4x8xf32>
%1 = "t.s"() : () -> vector<4xf32>
// expected-error@+1 {{'vector.insert_strided_slice' op expected strides to be confined to [1, 2)}}
%2 = vector.insert_strided_slice %1, %0 {offsets = [0, 2], strides = [9]} : vector<4xf32> into vector<4x8xf32>

// -----

%0 = "t.s"() : () -> vector<3x4x8xi8>
// expected-error@+1 {{'vector.shape_cast' op source/result vectors must have same element type}}
%1 = vector.shape_cast %0 : vector<3x4x8xi8> to vector<32xf32>

// -----

%0 = "t.s"() : () -> vector<4x8xf32>
// expected-error@+1 {{'vector.transpose' op position index out of range: 3}}
%1 = vector.transpose %0, [1, 3] : vector<4x8xf32> to vector<8x4xf32>

// -----

%0 = "t.s"() : () -> index
%1 = "t.s"() : () -> index
%2 = "t.s"() : () -> memref<?x8xi7>
%3 = "t.s"() : () -> vector<4xf32>
// expected-error@+1 {{'vector.transfer_write' op requires formal type of element to match the element type of the vector}}
vector.transfer_write %3, %2[%0, %1] {in_bounds = [true]} : vector<4xf32>, memref<?x8xi7>
