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

func.func @f(%x: vector<8xindex>) {
// expected-error@+1 {{'vector.extract_strided_slice' op expected offsets attribute of rank no greater than vector rank}}
  %0 = vector.extract_strided_slice %x {offsets = [0, 0], sizes = [2, 8], strides = [1, 1]} : vector<8xindex> to vector<2x8xf32>
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

// -----

%m = "t.s"() : () -> memref<4xf32>
// expected-error@+1 {{'vector.type_cast' op expects result to be a memref with identity layout}}
%0 = vector.type_cast %m : memref<4xf32> to memref<vector<4xf32>, affine_map<() -> (3)>>

// -----

%x = "t.s"() : () -> vector<4x8xf32>
%c = "t.s"() : () -> vector<4xf32>
// expected-error@+1 {{'vector.contract' op expected indexing map 0 to be a projected permutation of its inputs}}
%0 = vector.contract {indexing_maps = [affine_map<(i, j) -> (i, i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} %x, %x, %c : vector<4x8xf32>, vector<4x8xf32> into vector<4xf32>

// -----

%x = "t.s"() : () -> vector<4x8xf32>
%c = "t.s"() : () -> vector<4xf32>
// expected-error@+1 {{'vector.contract' op expected indexing map 0 to have 2 number of inputs}}
%0 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} %x, %x, %c : vector<4x8xf32>, vector<4x8xf32> into vector<4xf32>

// -----

%x = "t.s"() : () -> vector<4x8xf32>
%c = "t.s"() : () -> vector<4xf32>
// expected-error@+1 {{'vector.contract' op expected indexing map 0 to have no symbols}}
%0 = vector.contract {indexing_maps = [affine_map<(i, j)[s] -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} %x, %x, %c : vector<4x8xf32>, vector<4x8xf32> into vector<4xf32>

// -----

%x = "t.s"() : () -> vector<4x8xf32>
%c = "t.s"() : () -> vector<4xf32>
// expected-error@+1 {{'vector.multi_reduction' op unsupported reduction type ''f32'' for kind 'xor'}}
%0 = vector.multi_reduction <xor>, %x, %c [1] : vector<4x8xf32> to vector<4xf32>

// -----

%x = "t.s"() : () -> vector<4xf32>
%c = "t.s"() : () -> vector<4x8xf32>
// expected-error@+1 {{'vector.outerproduct' op expected operand #3 of same type as result type}}
%0 = "vector.outerproduct"(%x, %x, %c) <{kind = #vector.kind<add>}> : (vector<4xf32>, vector<4xf32>, vector<4x8xf32>) -> vector<4x4xf32>

// -----

%x = "t.s"() : () -> vector<4xf32>
// expected-error@+1 {{'vector.outerproduct' op unsupported outerproduct type}}
%0 = "vector.outerproduct"(%x, %x) <{kind = #vector.kind<xor>}> : (vector<4xf32>, vector<4xf32>) -> vector<4x4xf32>

// -----

%x = "t.s"() : () -> vector<4xf32>
%y = "t.s"() : () -> vector<4x8xf32>
// expected-error@+1 {{'vector.insert' op expected a value of type 'vector<8xf32>', found 'vector<4xf32>'}}
%0 = vector.insert %x, %y[0] : vector<4xf32> into vector<4x8xf32>

// -----

%m = "t.s"() : () -> vector<4xi1>
%x = "t.s"() : () -> vector<4xf32>
// expected-error@+1 {{'vector.mask' op expects a terminator within the mask region}}
"vector.mask"(%m) ({
  %0 = "t.s"() : () -> vector<4xf32>
}) : (vector<4xi1>) -> ()

// -----

%m = "t.s"() : () -> vector<4xi1>
%x = "t.s"() : () -> vector<4xf32>
// expected-error@+1 {{'vector.mask' op expects number of results to match mask region yielded values}}
%1 = "vector.mask"(%m) ({
  vector.yield
}) : (vector<4xi1>) -> vector<4xf32>

// -----

%m = "t.s"() : () -> vector<4xi1>
%x = "t.s"() : () -> vector<4xf32>
// expected-error@+1 {{'vector.mask' op expects result type to match maskable operation result type}}
%1 = "vector.mask"(%m) ({
  %0 = vector.reduction <add>, %x : vector<4xf32> into f32
  vector.yield %0 : f32
}) : (vector<4xi1>) -> vector<4xf32>

// -----

%x = "t.s"() : () -> vector<2x4xf32>
%y = "t.s"() : () -> vector<2x8xf32>
// expected-error@+1 {{'vector.shuffle' op dimension mismatch}}
%0 = "vector.shuffle"(%x, %y) <{mask = array<i64: 0>}> : (vector<2x4xf32>, vector<2x8xf32>) -> vector<1x4xf32>

// -----

%x = "t.s"() : () -> vector<2xf32>
// expected-error@+1 {{'vector.shuffle' op invalid mask length}}
%0 = "vector.shuffle"(%x, %x) <{mask = array<i64>}> : (vector<2xf32>, vector<2xf32>) -> vector<1xf32>

// -----

%x = "t.s"() : () -> vector<2x4xf32>
// expected-error@+1 {{'vector.transpose' op transposition length mismatch: 3}}
%0 = "vector.transpose"(%x) <{permutation = array<i64: 1, 0, 2>}> : (vector<2x4xf32>) -> vector<4x2xf32>

// -----

%i = "t.s"() : () -> index
%x = "t.s"() : () -> f32
%m = "t.s"() : () -> memref<8xf32>
%k = "t.s"() : () -> vector<8xi1>
"t.r"() ({
// expected-error@+1 {{'vector.transfer_read' op inferred mask type ('vector<4xi1>') and mask operand type ('vector<8xi1>') don't match}}
  %0 = "vector.transfer_read"(%m, %i, %x, %k) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 1, 1>, permutation_map = affine_map<(d0) -> (d0)>}> : (memref<8xf32>, index, f32, vector<8xi1>) -> vector<4xf32>
}) : () -> ()

// -----

%x = "t.s"() : () -> vector<4x8xf32>
%c = "t.s"() : () -> vector<4xf32>
// expected-error@+1 {{'vector.contract' op 'indexing_maps' must be an array of affine maps}}
%0 = vector.contract {indexing_maps = [1, 2], iterator_types = ["parallel", "reduction"]} %x, %x, %c : vector<4x8xf32>, vector<4x8xf32> into vector<4xf32>
