// What is in registers: windows that overlap share their loads, a buffer that is written and read again
// at the same places goes, and a read that waits is carried out before its place is written.
// RUN: nn-opt --split-input-file --check-numerics=samples=2 --lower-tiles='target=avx2' --forward-stores --canonicalize --cse %s | filecheck %s

// Rows i and i + 1 for two rows of results: three rows are loaded, not four.
// CHECK-LABEL: func.func @windows
// CHECK-COUNT-3: vector.load
// CHECK-NOT:     vector.load
// CHECK-COUNT-2: vector.store
func.func @windows(%x: memref<3x8xf32>, %y: memref<2x8xf32>) attributes {nn.kernel} {
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = vector.transfer_read %x[%c0, %c0], %pad {in_bounds = [true, true]} : memref<3x8xf32>, vector<2x8xf32>
  %b = vector.transfer_read %x[%c1, %c0], %pad {in_bounds = [true, true]} : memref<3x8xf32>, vector<2x8xf32>
  %s = arith.maximumf %a, %b : vector<2x8xf32>
  vector.transfer_write %s, %y[%c0, %c0] {in_bounds = [true, true]} : vector<2x8xf32>, memref<2x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @temporary
// CHECK-NOT:     memref.alloc
// CHECK:         %[[X:.*]] = vector.load %arg0
// CHECK:         %[[E:.*]] = math.exp %[[X]]
// CHECK:         %[[N:.*]] = arith.negf %[[E]]
// CHECK:         vector.store %[[N]], %arg1
func.func @temporary(%x: memref<8xf32>, %y: memref<8xf32>) attributes {nn.kernel} {
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %t = memref.alloc() : memref<2x4xf32>
  %flat = memref.collapse_shape %t [[0, 1]] : memref<2x4xf32> into memref<8xf32>
  %a = vector.transfer_read %x[%c0], %pad {in_bounds = [true]} : memref<8xf32>, vector<8xf32>
  %b = math.exp %a : vector<8xf32>
  vector.transfer_write %b, %flat[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
  %c = vector.transfer_read %flat[%c0], %pad {in_bounds = [true]} : memref<8xf32>, vector<8xf32>
  %d = arith.negf %c : vector<8xf32>
  vector.transfer_write %d, %y[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
  memref.dealloc %t : memref<2x4xf32>
  return
}

// -----

// The old content goes to the second row although its store stands after the one that replaces it.
// CHECK-LABEL: func.func @old_content
// CHECK:         %[[OLD:.*]] = vector.load %arg0[%c0, %c0]
// CHECK-DAG:     vector.store %{{.*}}, %arg0[%c0, %c0]
// CHECK-DAG:     vector.store %[[OLD]], %arg0[%c1, %c0]
func.func @old_content(%x: memref<2x8xf32>, %v: f32) {
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %new = vector.broadcast %v : f32 to vector<8xf32>
  %a = vector.transfer_read %x[%c0, %c0], %pad {in_bounds = [true]} : memref<2x8xf32>, vector<8xf32>
  vector.transfer_write %new, %x[%c0, %c0] {in_bounds = [true]} : vector<8xf32>, memref<2x8xf32>
  vector.transfer_write %a, %x[%c1, %c0] {in_bounds = [true]} : vector<8xf32>, memref<2x8xf32>
  return
}

// -----

// Arguments of a function that is no kernel may be one buffer: what is read is read before the store.
// CHECK-LABEL: func.func @may_overlap
// CHECK:         %[[A:.*]] = vector.load %arg0[%c0]
// CHECK:         vector.store %{{.*}}, %arg1[%c0]
// CHECK:         vector.store %[[A]], %arg2[%c0]
func.func @may_overlap(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>, %v: f32) {
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %new = vector.broadcast %v : f32 to vector<8xf32>
  %a = vector.transfer_read %x[%c0], %pad {in_bounds = [true]} : memref<8xf32>, vector<8xf32>
  vector.transfer_write %new, %y[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
  vector.transfer_write %a, %z[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
  return
}
