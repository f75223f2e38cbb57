// Where there are no vectors of an element type or of so many lanes, whatever a schedule asks for: lanes
// are scalars, or vectors shorter.
// RUN: nn-opt --split-input-file --check-numerics --lower-tiles='target=webgpu' --forward-stores --canonicalize --cse %s | filecheck %s

// CHECK-LABEL: func.func @rows_by_number
// CHECK-NOT:     vector<{{[0-9]+}}xi64>
// CHECK-COUNT-2: memref.load %arg1{{.*}} : memref<2xi64>
// CHECK-NOT:     vector<{{[0-9]+}}xi64>
// CHECK:         return
func.func @rows_by_number(%x: memref<32xf32>, %i: memref<2xi64>, %y: memref<2xf32>) attributes {nn.kernel} {
  %pad = ub.poison : i64
  %c0 = arith.constant 0 : index
  %none = arith.constant dense<0.0> : vector<2xf32>
  %all = arith.constant dense<true> : vector<2xi1>
  %a = vector.transfer_read %i[%c0], %pad {in_bounds = [true]} : memref<2xi64>, vector<2xi64>
  %b = arith.index_cast %a : vector<2xi64> to vector<2xindex>
  %c = vector.gather %x[%c0] [%b], %all, %none {schedule.lanes = 8 : i64} : memref<32xf32>, vector<2xindex>, vector<2xi1>, vector<2xf32> into vector<2xf32>
  vector.transfer_write %c, %y[%c0] {in_bounds = [true]} : vector<2xf32>, memref<2xf32>
  return
}

// -----

// A vector has as many lanes as the language has forms for, at most: here four.
// CHECK-LABEL: func.func @wider_than_vectors_are
// CHECK-NOT:     vector<8x
// CHECK-COUNT-4: arith.negf %{{.*}} : vector<4xf32>
// CHECK-NOT:     vector<8x
// CHECK:         return
func.func @wider_than_vectors_are(%x: memref<16xf32>, %y: memref<16xf32>) attributes {nn.kernel} {
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %a = vector.transfer_read %x[%c0], %pad {in_bounds = [true], schedule.lanes = 8 : i64} : memref<16xf32>, vector<16xf32>
  %b = arith.negf %a : vector<16xf32>
  vector.transfer_write %b, %y[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
  return
}
