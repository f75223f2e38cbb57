// How lanes are read: next to each other, masked where five are left, two apart from whole vectors,
// far apart as rows that are transposed, and gathered where nothing better is known.
// RUN: nn-opt --split-input-file --check-numerics --lower-tiles='target=avx2' %s | filecheck %s

// CHECK-LABEL: func.func @remainder
// CHECK:         vector.load %arg0[%c0{{.*}}] : memref<13xf32>, vector<8xf32>
// CHECK:         %[[REST:.*]] = vector.maskedload %arg0[%c8], %[[MASK:.*]], %{{.*}} : memref<13xf32>, vector<8xi1>
// CHECK:         vector.maskedstore %arg1[%c8], %[[MASK]]
func.func @remainder(%x: memref<13xf32>, %y: memref<13xf32>) {
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %a = vector.transfer_read %x[%c0], %pad {in_bounds = [true]} : memref<13xf32>, vector<13xf32>
  %b = arith.negf %a : vector<13xf32>
  vector.transfer_write %b, %y[%c0] {in_bounds = [true]} : vector<13xf32>, memref<13xf32>
  return
}

// -----

// Both taps of a window come from the same two vectors.
// CHECK-LABEL: func.func @two_apart
// CHECK-COUNT-2: vector.load {{.*}} vector<8xf32>
// CHECK-NOT:     vector.load
// CHECK:         vector.shuffle {{.*}} [0, 2, 4, 6, 8, 10, 12, 14]
// CHECK:         vector.shuffle {{.*}} [1, 3, 5, 7, 9, 11, 13, 15]
func.func @two_apart(%x: memref<16xf32>, %y: memref<8xf32>) attributes {nn.kernel} {
  %pad = ub.poison : f32
  %none = arith.constant dense<0.0> : vector<8xf32>
  %c0 = arith.constant 0 : index
  %v = memref.reinterpret_cast %x to offset: [0], sizes: [2, 8], strides: [1, 2] : memref<16xf32> to memref<2x8xf32, strided<[1, 2]>>
  %a = vector.transfer_read %v[%c0, %c0], %pad {in_bounds = [true, true]} : memref<2x8xf32, strided<[1, 2]>>, vector<2x8xf32>
  %s = vector.multi_reduction <add>, %a, %none [0] : vector<2x8xf32> to vector<8xf32>
  vector.transfer_write %s, %y[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @rows_transposed
// CHECK-COUNT-8:  vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-24: vector.shuffle
// CHECK-NOT:      vector.gather
// CHECK-COUNT-8:  vector.store
func.func @rows_transposed(%x: memref<8x32xf32>, %y: memref<8x8xf32>) {
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %a = vector.transfer_read %x[%c0, %c0], %pad {in_bounds = [true, true], permutation_map = affine_map<(i, j) -> (j, i)>} : memref<8x32xf32>, vector<8x8xf32>
  vector.transfer_write %a, %y[%c0, %c0] {in_bounds = [true, true]} : vector<8x8xf32>, memref<8x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @gathered
// CHECK:         vector.gather {{.*}} vector<8xf32>
// CHECK:         vector.store
func.func @gathered(%x: memref<8x32xf32>, %y: memref<8xf32>) {
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %a = vector.transfer_read %x[%c0, %c0], %pad {in_bounds = [true], permutation_map = affine_map<(i, j) -> (i)>} : memref<8x32xf32>, vector<8xf32>
  vector.transfer_write %a, %y[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
  return
}

// -----

// Rows of a table at indices: each is a plain load from where its index says.
// CHECK-LABEL: func.func @rows_of_a_table
// CHECK:         %[[ID:.*]] = memref.load %arg0[%c0]
// CHECK:         %[[ROW:.*]] = arith.muli %[[ID]], %c8
// CHECK:         vector.load %arg1[%[[ROW]]]
// CHECK-NOT:     vector.gather
func.func @rows_of_a_table(%ids: memref<2xindex>, %table: memref<80xf32>, %y: memref<2x8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<2x8xf32>
  %mask = arith.constant dense<true> : vector<2x8xi1>
  %id = vector.transfer_read %ids[%c0], %c0 {in_bounds = [true, true], permutation_map = affine_map<(i) -> (i, 0)>} : memref<2xindex>, vector<2x1xindex>
  %size = arith.constant dense<8> : vector<2x1xindex>
  %start = arith.muli %id, %size : vector<2x1xindex>
  %starts = vector.broadcast %start : vector<2x1xindex> to vector<2x8xindex>
  %step = vector.step : vector<8xindex>
  %steps = vector.broadcast %step : vector<8xindex> to vector<2x8xindex>
  %at = arith.addi %starts, %steps : vector<2x8xindex>
  %v = vector.gather %table[%c0] [%at], %mask, %zero : memref<80xf32>, vector<2x8xindex>, vector<2x8xi1>, vector<2x8xf32> into vector<2x8xf32>
  vector.transfer_write %v, %y[%c0, %c0] {in_bounds = [true, true]} : vector<2x8xf32>, memref<2x8xf32>
  return
}
