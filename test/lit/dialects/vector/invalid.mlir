// What the verifier rejects, in upstream's words.
// RUN: nn-opt --split-input-file --verify-diagnostics %s

func.func @f(%m: memref<8x8xf32>, %i: index, %v: f32, %x: vector<4xf32>) {
  // expected-error @+1 {{'vector.transfer_read' op requires 2 indices}}
  %0 = vector.transfer_read %m[%i], %v {in_bounds = [true]} : memref<8x8xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<8x8xf32>, %i: index, %v: f32, %x: vector<4xf32>) {
  // expected-error @+1 {{'vector.transfer_read' op expects the in_bounds attr of same rank as permutation_map results: affine_map<(d0, d1) -> (d1)> vs inBounds of size: 2}}
  %0 = vector.transfer_read %m[%i, %i], %v {in_bounds = [true, true]} : memref<8x8xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<8x8xf32>, %i: index, %v: f32, %x: vector<4xf32>) {
  // expected-error @+1 {{'vector.transfer_read' op requires a permutation_map with input dims of the same rank as the source type}}
  %0 = vector.transfer_read %m[%i, %i], %v {in_bounds = [true], permutation_map = affine_map<(d0) -> (d0)>} : memref<8x8xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<8x8xf32>, %i: index, %v: f32, %x: vector<4xf32>) {
  // expected-error @+1 {{'vector.transfer_read' op requires a permutation_map with result dims of the same rank as the vector type}}
  %0 = vector.transfer_read %m[%i, %i], %v {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0, d1)>} : memref<8x8xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<8x8xf32>, %i: index, %v: f32, %x: vector<4xf32>) {
  // expected-error @+1 {{'vector.transfer_read' op requires a projected permutation_map (at most one dim or the zero constant can appear in each result)}}
  %0 = vector.transfer_read %m[%i, %i], %v {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0 + d1)>} : memref<8x8xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<8x8xf32>, %i: index, %v: f32, %x: vector<4xf32>) {
  // expected-error @+1 {{'vector.transfer_read' op requires a permutation_map that is a permutation (found one dim used more than once)}}
  %0 = vector.transfer_read %m[%i, %i], %v {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d0, d0)>} : memref<8x8xf32>, vector<4x4xf32>
  return
}

// -----

func.func @f(%m: memref<8x8xf32>, %i: index, %v: f32, %x: vector<4xf32>) {
  // expected-error @+1 {{'vector.transfer_write' op requires 2 indices}}
  vector.transfer_write %x, %m[%i] {in_bounds = [true]} : vector<4xf32>, memref<8x8xf32>
  return
}

// -----

func.func @f(%m: memref<8x8xf32>, %i: index, %v: f32, %x: vector<4xf32>) {
  // expected-error @+1 {{'vector.transfer_write' op should not have broadcast dimensions}}
  vector.transfer_write %x, %m[%i, %i] {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (0)>} : vector<4xf32>, memref<8x8xf32>
  return
}

// -----

func.func @f(%m: memref<8x8xf32>, %i: index, %v: f32, %x: vector<4xf32>) {
  // expected-error @+1 {{'vector.load' op requires 2 indices}}
  %0 = vector.load %m[%i] : memref<8x8xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<8x8xf32, strided<[1, 8]>>, %i: index, %v: f32, %x: vector<4xf32>) {
  // expected-error @+1 {{'vector.load' op most minor memref dim must have unit stride}}
  %0 = vector.load %m[%i, %i] : memref<8x8xf32, strided<[1, 8]>>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<8x8xi32>, %i: index, %v: f32, %x: vector<4xf32>) {
  // expected-error @+1 {{'vector.load' op base and result element types should match}}
  %0 = vector.load %m[%i, %i] : memref<8x8xi32>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<8x8xf32>, %i: index, %v: f32, %x: vector<4xf32>) {
  // expected-error @+1 {{'vector.store' op requires 2 indices}}
  vector.store %x, %m[%i] : memref<8x8xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<8xf32>, %i: index, %k: vector<5xi1>, %x: vector<4xf32>) {
  // expected-error @+1 {{'vector.maskedload' op expected result shape to match mask shape}}
  %0 = vector.maskedload %m[%i], %k, %x : memref<8xf32>, vector<5xi1>, vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<8xf32>, %i: index, %k: vector<4xi1>, %x: vector<4xf32>, %j: vector<5xi32>) {
  // expected-error @+1 {{'vector.gather' op expected result dim to match indices dim}}
  %0 = vector.gather %m[%i] [%j], %k, %x : memref<8xf32>, vector<5xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<8xf32>, %i: index, %k: vector<5xi1>, %x: vector<4xf32>, %j: vector<4xi32>) {
  // expected-error @+1 {{'vector.gather' op expected result dim to match mask dim}}
  %0 = vector.gather %m[%i] [%j], %k, %x : memref<8xf32>, vector<4xi32>, vector<5xi1>, vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<8xf32>, %i: index, %k: vector<4xi1>, %x: vector<4xf32>, %j: vector<5xi32>) {
  // expected-error @+1 {{'vector.scatter' op expected valueToStore dim to match indices dim}}
  vector.scatter %m[%i] [%j], %k, %x : memref<8xf32>, vector<5xi32>, vector<4xi1>, vector<4xf32>
  return
}

// -----

func.func @f(%v: f32, %x: vector<4xf32>) {
  // expected-error @+1 {{'vector.broadcast' op dimension mismatch (4 vs. 8)}}
  %0 = vector.broadcast %x : vector<4xf32> to vector<8x8xf32>
  return
}

// -----

func.func @f(%v: f32, %x: vector<2x4xf32>) {
  // expected-error @+1 {{'vector.broadcast' op source rank higher than destination rank}}
  %0 = vector.broadcast %x : vector<2x4xf32> to vector<4xf32>
  return
}

// -----

func.func @f(%v: f32, %x: vector<4xf32>) {
  // expected-error @+1 {{'vector.broadcast' op failed to verify that source operand and result have same element type}}
  %0 = vector.broadcast %v : f32 to vector<4xi32>
  return
}

// -----

func.func @f(%x: vector<4x4xf32>) {
  // expected-error @+1 {{'vector.reduction' op unsupported reduction rank: 2}}
  %0 = vector.reduction <add>, %x : vector<4x4xf32> into f32
  return
}

// -----

func.func @f(%x: vector<4xf32>) {
  // expected-error @+1 {{'vector.reduction' op unsupported reduction type ''f32'' for kind 'xor'}}
  %0 = vector.reduction <xor>, %x : vector<4xf32> into f32
  return
}

// -----

func.func @f(%x: vector<4xi32>) {
  // expected-error @+1 {{'vector.reduction' op unsupported reduction type ''i32'' for kind 'maxnumf'}}
  %0 = vector.reduction <maxnumf>, %x : vector<4xi32> into i32
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %a: vector<8xf32>) {
  // expected-error @+1 {{'vector.multi_reduction' op destination type 'vector<8xf32>' is incompatible with source type 'vector<4x8xf32>'}}
  %0 = vector.multi_reduction <add>, %x, %a [1] : vector<4x8xf32> to vector<8xf32>
  return
}

// -----

func.func @f(%x: vector<4xf32>) {
  // expected-error @+1 {{'vector.shuffle' op mask index #2 out of range}}
  %0 = vector.shuffle %x, %x [0, 8] : vector<4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%x: vector<4xf32>, %y: vector<2x4xf32>) {
  // expected-error @+1 {{'vector.shuffle' op rank mismatch}}
  %0 = vector.shuffle %x, %y [0, 1] : vector<4xf32>, vector<2x4xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>) {
  // expected-error @+1 {{'vector.extract' op expected position attribute #1 to be a non-negative integer smaller than the corresponding vector dimension or poison (-1)}}
  %0 = vector.extract %x[4] : vector<8xf32> from vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>) {
  // expected-error @+1 {{'vector.extract' op expected position attribute of rank no greater than vector rank}}
  %0 = vector.extract %x[0, 0, 0] : f32 from vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>) {
  // expected-error @+1 {{'vector.extract' op inferred type(s) 'vector<8xf32>' are incompatible with return type(s) of operation 'vector<4xf32>'}}
  %0 = vector.extract %x[0] : vector<4xf32> from vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %v: f32) {
  // expected-error @+1 {{'vector.insert' op expected position attribute #1 to be a non-negative integer smaller than the corresponding dest vector dimension}}
  %0 = vector.insert %v, %x [4, 0] : f32 into vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %v: f32) {
  // expected-error @+1 {{'vector.insert' op expected position attribute rank to match the dest vector rank}}
  %0 = vector.insert %v, %x [0] : f32 into vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>) {
  // expected-error @+1 {{'vector.extract_strided_slice' op expected sum(offsets, sizes) dimension 0 to be confined to [1, 5)}}
  %0 = vector.extract_strided_slice %x {offsets = [2], sizes = [4], strides = [1]} : vector<4x8xf32> to vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>) {
  // expected-error @+1 {{'vector.extract_strided_slice' op expected strides to be confined to [1, 2)}}
  %0 = vector.extract_strided_slice %x {offsets = [0], sizes = [2], strides = [2]} : vector<4x8xf32> to vector<2x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>) {
  // expected-error @+1 {{'vector.extract_strided_slice' op expected offsets, sizes and strides attributes of same size}}
  %0 = vector.extract_strided_slice %x {offsets = [0], sizes = [2, 2], strides = [1]} : vector<4x8xf32> to vector<2x2xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>) {
  // expected-error @+1 {{'vector.extract_strided_slice' op expected result type to be 'vector<2x8xf32>'}}
  %0 = vector.extract_strided_slice %x {offsets = [0], sizes = [2], strides = [1]} : vector<4x8xf32> to vector<2x4xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %s: vector<4xf32>) {
  // expected-error @+1 {{'vector.insert_strided_slice' op expected offsets of same size as destination vector rank}}
  %0 = vector.insert_strided_slice %s, %x {offsets = [0], strides = [1]} : vector<4xf32> into vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %s: vector<4xf32>) {
  // expected-error @+1 {{'vector.insert_strided_slice' op expected sum(offsets, source vector shape) dimension 1 to be confined to [1, 9)}}
  %0 = vector.insert_strided_slice %s, %x {offsets = [0, 6], strides = [1]} : vector<4xf32> into vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>, %s: vector<4xf32>) {
  // expected-error @+1 {{'vector.insert_strided_slice' op expected strides of same size as source vector rank}}
  %0 = vector.insert_strided_slice %s, %x {offsets = [0, 0], strides = [1, 1]} : vector<4xf32> into vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>) {
  // expected-error @+1 {{'vector.shape_cast' op has different number of elements at source (32) and result (31)}}
  %0 = vector.shape_cast %x : vector<4x8xf32> to vector<31xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>) {
  // expected-error @+1 {{'vector.transpose' op duplicate position index: 1}}
  %0 = vector.transpose %x, [1, 1] : vector<4x8xf32> to vector<8x4xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>) {
  // expected-error @+1 {{'vector.transpose' op dimension size mismatch at: 1}}
  %0 = vector.transpose %x, [1, 0] : vector<4x8xf32> to vector<4x8xf32>
  return
}

// -----

func.func @f(%x: vector<4x8xf32>) {
  // expected-error @+1 {{'vector.bitcast' op source/result bitwidth of the minor 1-D vectors must be equal}}
  %0 = vector.bitcast %x : vector<4x8xf32> to vector<4x8xi16>
  return
}

// -----

func.func @f(%i: index) {
  // expected-error @+1 {{'vector.create_mask' op must specify an operand for each result vector dimension}}
  %0 = vector.create_mask %i : vector<4x8xi1>
  return
}

// -----

func.func @f(%i: index) {
  // expected-error @+1 {{'vector.constant_mask' op array attr of size out of bounds of vector result dimension size}}
  %0 = vector.constant_mask [5] : vector<4xi1>
  return
}

// -----

func.func @f(%i: index) {
  // expected-error @+1 {{'vector.constant_mask' op must specify array attr of size equal vector result rank}}
  %0 = vector.constant_mask [5, 4] : vector<4xi1>
  return
}

// -----

func.func @f(%x: vector<4xf32>, %y: vector<5xf32>, %a: vector<4x4xf32>) {
  // expected-error @+1 {{use of value '%a' expects different type than prior uses: 'vector<4x5xf32>' vs 'vector<4x4xf32>'}}
  %0 = vector.outerproduct %x, %y, %a : vector<4xf32>, vector<5xf32>
  return
}

// -----

func.func @f(%a: vector<4x8xf32>, %b: vector<8x5xf32>, %c: vector<4x4xf32>) {
  // expected-error @+1 {{'vector.contract' op invalid accumulator/result vector shape, expected: 'vector<4x5xf32>'}}
  %0 = vector.contract {indexing_maps = [affine_map<(i,j,k)->(i,k)>, affine_map<(i,j,k)->(k,j)>, affine_map<(i,j,k)->(i,j)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c : vector<4x8xf32>, vector<8x5xf32> into vector<4x4xf32>
  return
}

// -----

func.func @f(%a: vector<4x7xf32>, %b: vector<8x4xf32>, %c: vector<4x4xf32>) {
  // expected-error @+1 {{'vector.contract' op invalid contracting dimension map}}
  %0 = vector.contract {indexing_maps = [affine_map<(i,j,k)->(i,k)>, affine_map<(i,j,k)->(k,j)>, affine_map<(i,j,k)->(i,j)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c : vector<4x7xf32>, vector<8x4xf32> into vector<4x4xf32>
  return
}

// -----

func.func @f(%a: vector<4x7xf32>, %b: vector<8x4xf32>, %c: vector<4x4xf32>) {
  // expected-error @+1 {{'vector.contract' op expected an indexing map for each vector operand}}
  %0 = vector.contract {indexing_maps = [affine_map<(i,j,k)->(i,k)>, affine_map<(i,j,k)->(i,j)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c : vector<4x7xf32>, vector<8x4xf32> into vector<4x4xf32>
  return
}

// -----

func.func @f(%v: vector<[4]x8xf32>) {
  // expected-error @+1 {{'vector.extract_strided_slice' op expected size at idx=0 to match the corresponding base size from the input vector (2 vs 4)}}
  %0 = vector.extract_strided_slice %v {offsets = [0], sizes = [2], strides = [1]} : vector<[4]x8xf32> to vector<[2]x8xf32>
  return
}

// -----

func.func @f(%v: vector<[4]xf32>) {
  // expected-error @+1 {{'vector.shape_cast' op has different number of scalable dims at source (1) and result (0)}}
  %0 = vector.shape_cast %v : vector<[4]xf32> to vector<4xf32>
  return
}

// -----

func.func @f(%i: index) {
  // expected-error @+1 {{'vector.create_mask' op must specify exactly one operand for 0-D create_mask}}
  %0 = vector.create_mask %i, %i : vector<i1>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'vector.constant_mask' op array attr must have length 1 for 0-D vectors}}
  %0 = vector.constant_mask [1, 1] : vector<i1>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'vector.constant_mask' op mask dim size must be either 0 or 1 for 0-D vectors}}
  %0 = vector.constant_mask [2] : vector<i1>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'vector.constant_mask' op expected all mask dim sizes to be zeros, as a result of conjunction with zero mask dim}}
  %0 = vector.constant_mask [0, 2] : vector<4x3xi1>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'vector.constant_mask' op only supports 'none set' or 'all set' scalable dimensions}}
  %0 = vector.constant_mask [3] : vector<[4]xi1>
  return
}

// -----

func.func @f(%x: f32) {
  // expected-error @+1 {{'vector.print' op failed to verify that `source` or `punctuation` are not set when printing strings}}
  vector.print %x : f32 str "x"
  return
}

// -----

func.func @f(%a: vector<4xf32>, %b: vector<[16]xf32>) {
  // expected-error @+1 {{'vector.scalable.insert' op failed to verify that position is a multiple of the source length.}}
  %0 = vector.scalable.insert %a, %b[5] : vector<4xf32> into vector<[16]xf32>
  return
}

// -----

func.func @f(%b: vector<[16]xf32>) {
  // expected-error @+1 {{'vector.scalable.extract' op failed to verify that position is a multiple of the result length.}}
  %0 = vector.scalable.extract %b[5] : vector<4xf32> from vector<[16]xf32>
  return
}

// -----

func.func @f(%b: vector<[16]xf32>) {
  // expected-error @+1 {{'vector.scalable.extract' op failed to verify that all of {source, result} have same element type}}
  %0 = vector.scalable.extract %b[4] : vector<4xi32> from vector<[16]xf32>
  return
}

// -----

func.func @f(%m: memref<4x8xf32>) {
  // expected-error @+1 {{'vector.type_cast' op expects concatenated result and operand shapes to be equal}}
  %0 = vector.type_cast %m : memref<4x8xf32> to memref<vector<4x4xf32>>
  return
}

// -----

func.func @f(%m: memref<4x8xf32>) {
  // expected-error @+1 {{'vector.type_cast' op expects result in same memory space}}
  %0 = vector.type_cast %m : memref<4x8xf32> to memref<vector<4x8xf32>, 1>
  return
}

// -----

func.func @f(%m: memref<4x8xf32, strided<[16, 1]>>) {
  // expected-error @+1 {{'vector.type_cast' op expects operand to be a memref with identity layout}}
  %0 = vector.type_cast %m : memref<4x8xf32, strided<[16, 1]>> to memref<vector<4x8xf32>>
  return
}

// -----

func.func @f(%x: vector<4xf32>, %s: f32) {
  // expected-error @+1 {{expected at least two types of vectors}}
  %0 = vector.contract {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} %x, %x, %s : vector<4xf32> into f32
  return
}

// -----

func.func @f(%m: memref<4xf32>, %i: index, %k: vector<4x4xi1>, %v: vector<4x4xf32>) {
  // expected-error @+1 {{'vector.load' op destination memref has lower rank than the result vector}}
  %0 = vector.load %m[%i] : memref<4xf32>, vector<4x4xf32>
  return
}

// -----

func.func @f(%m: memref<4xf32>, %i: index, %k: vector<4x4xi1>, %v: vector<4x4xf32>) {
  // expected-error @+1 {{'vector.store' op source memref has lower rank than the vector to store}}
  vector.store %v, %m[%i] : memref<4xf32>, vector<4x4xf32>
  return
}

// -----

func.func @f(%m: memref<4xf32, strided<[2]>>, %i: index, %k: vector<4xi1>, %v: vector<4xf32>) {
  // expected-error @+1 {{'vector.store' op most minor memref dim must have unit stride}}
  vector.store %v, %m[%i] : memref<4xf32, strided<[2]>>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<4xi32>, %i: index, %k: vector<4xi1>, %v: vector<4xf32>) {
  // expected-error @+1 {{'vector.maskedstore' op base and valueToStore element type should match}}
  vector.maskedstore %m[%i], %k, %v : memref<4xi32>, vector<4xi1>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<4xi32>, %i: index, %k: vector<4xi1>, %v: vector<4xf32>) {
  // expected-error @+1 {{'vector.maskedload' op base and result element type should match}}
  %0 = vector.maskedload %m[%i], %k, %v : memref<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<4xf32>, %i: index, %k: vector<4xi1>, %v: vector<4xf32>) {
  // expected-error @+1 {{'vector.maskedstore' op requires 1 indices}}
  vector.maskedstore %m[%i, %i], %k, %v : memref<4xf32>, vector<4xi1>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<4xi32>, %i: index, %k: vector<4xi1>, %v: vector<4xf32>) {
  // expected-error @+1 {{'vector.expandload' op base and result element type should match}}
  %0 = vector.expandload %m[%i], %k, %v : memref<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<4xf32>, %i: index, %k: vector<5xi1>, %v: vector<4xf32>) {
  // expected-error @+1 {{'vector.expandload' op expected result dim to match mask dim}}
  %0 = vector.expandload %m[%i], %k, %v : memref<4xf32>, vector<5xi1>, vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @to_elements(%a: vector<2x2xi32>) {
  // expected-error @+1 {{'vector.to_elements' op failed to verify that shaped type 'source' matches 'elements' element count and types}}
  %0:3 = "vector.to_elements"(%a) : (vector<2x2xi32>) -> (i32, i32, i32)
  return
}

// -----

func.func @from_elements(%a: i32) {
  // expected-error @+1 {{'vector.from_elements' op failed to verify that shaped type 'dest' matches 'elements' element count and types}}
  %0 = "vector.from_elements"(%a) : (i32) -> vector<1x1xf32>
  return
}

// -----

func.func @insert_strided_slice(%a: vector<f16>) {
  // expected-error @+1 {{'vector.insert_strided_slice' op operand #0 must be vector of any type values, but got 'vector<f16>'}}
  %0 = "vector.insert_strided_slice"(%a, %a) <{offsets = [], strides = []}> : (vector<f16>, vector<f16>) -> vector<f16>
  return
}

// -----

func.func @mask(%a: vector<4xi1>) {
  // expected-error @+1 {{'vector.mask' op region #0 ('maskRegion') failed to verify constraint: region with 1 blocks}}
  "vector.mask"(%a) ({}) : (vector<4xi1>) -> ()
  return
}
