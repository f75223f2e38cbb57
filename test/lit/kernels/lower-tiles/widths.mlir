// How wide pieces are: as the largest element type among what is combined allows, or as the schedule
// says; values that do not vary along the lanes are scalars.
// RUN: nn-opt --split-input-file --check-numerics --lower-tiles='target=avx512' --forward-stores --canonicalize --cse %s | filecheck %s

// CHECK-LABEL: func.func @bytes_as_floats
// CHECK-COUNT-2: vector.load {{.*}} vector<16xi8>
// CHECK:         arith.sitofp {{.*}} : vector<16xi8> to vector<16xf32>
func.func @bytes_as_floats(%x: memref<32xi8>, %y: memref<32xf32>) attributes {nn.kernel} {
  %pad = ub.poison : i8
  %c0 = arith.constant 0 : index
  %a = vector.transfer_read %x[%c0], %pad {in_bounds = [true]} : memref<32xi8>, vector<32xi8>
  %b = arith.sitofp %a : vector<32xi8> to vector<32xf32>
  vector.transfer_write %b, %y[%c0] {in_bounds = [true]} : vector<32xf32>, memref<32xf32>
  return
}

// -----

// CHECK-LABEL: func.func @as_the_schedule_says
// CHECK-COUNT-2: vector.load {{.*}} vector<8xf32>
func.func @as_the_schedule_says(%x: memref<16xf32>, %y: memref<16xf32>) attributes {nn.kernel} {
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %a = vector.transfer_read %x[%c0], %pad {in_bounds = [true], schedule.lanes = 8 : i64} : memref<16xf32>, vector<16xf32>
  %b = arith.negf %a : vector<16xf32>
  vector.transfer_write %b, %y[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
  return
}

// -----

// One division for each row, on scalars; the row's sum is one number.
// CHECK-LABEL: func.func @rows
// CHECK:         %[[A:.*]] = vector.load
// CHECK:         %[[S:.*]] = vector.reduction <add>, %[[A]] fastmath<reassoc> : vector<16xf32> into f32
// CHECK:         %[[B:.*]] = vector.load
// CHECK:         %[[T:.*]] = vector.reduction <add>, %[[B]] fastmath<reassoc> : vector<16xf32> into f32
// CHECK:         %[[R:.*]] = arith.divf %{{.*}}, %[[S]] : f32
// CHECK:         %[[V:.*]] = vector.broadcast %[[R]] : f32 to vector<16xf32>
// CHECK:         arith.mulf %[[A]], %[[V]] : vector<16xf32>
// CHECK:         arith.divf %{{.*}}, %[[T]] : f32
func.func @rows(%x: memref<2x16xf32>, %y: memref<2x16xf32>) attributes {nn.kernel} {
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %none = arith.constant dense<0.0> : vector<2xf32>
  %one = arith.constant dense<1.0> : vector<2x1xf32>
  %a = vector.transfer_read %x[%c0, %c0], %pad {in_bounds = [true, true]} : memref<2x16xf32>, vector<2x16xf32>
  %s = vector.multi_reduction <add>, %a, %none [1] : vector<2x16xf32> to vector<2xf32>
  %c = vector.shape_cast %s : vector<2xf32> to vector<2x1xf32>
  %r = arith.divf %one, %c : vector<2x1xf32>
  %w = vector.broadcast %r : vector<2x1xf32> to vector<2x16xf32>
  %q = arith.mulf %a, %w : vector<2x16xf32>
  vector.transfer_write %q, %y[%c0, %c0] {in_bounds = [true, true]} : vector<2x16xf32>, memref<2x16xf32>
  return
}

// -----

// What is asked for ahead may lie beyond the buffer.
// CHECK-LABEL: func.func @ahead
// CHECK:         vector.load %arg0[%c0]
// CHECK:         memref.prefetch %arg0[%c1024], read, locality<2>, data
// CHECK:         vector.load %arg0[%c16]
// CHECK:         memref.prefetch %arg0[%c1040], read, locality<2>, data
func.func @ahead(%x: memref<32xf32>, %y: memref<32xf32>) attributes {nn.kernel} {
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %a = vector.transfer_read %x[%c0], %pad {in_bounds = [true], schedule.prefetch = 1024 : i64} : memref<32xf32>, vector<32xf32>
  vector.transfer_write %a, %y[%c0] {in_bounds = [true]} : vector<32xf32>, memref<32xf32>
  return
}
