// A mask whose bound is known only at run time is made for each piece; one that is known chooses loads,
// and drops pieces that are outside of it.
// RUN: nn-opt --split-input-file --lower-tiles='target=avx2' --canonicalize --cse %s | filecheck %s

// CHECK-LABEL: func.func @run_time
// CHECK:         %[[ALL:.*]] = vector.create_mask %arg2 : vector<8xi1>
// CHECK:         vector.maskedload %arg0[%c0], %[[ALL]]
// CHECK:         %[[LEFT:.*]] = arith.addi %arg2, %c-8
// CHECK:         %[[MORE:.*]] = vector.create_mask %[[LEFT]] : vector<8xi1>
// CHECK:         vector.maskedload %arg0[%c8], %[[MORE]]
// CHECK:         vector.maskedstore %arg1[%c0], %[[ALL]]
// CHECK:         vector.maskedstore %arg1[%c8], %[[MORE]]
func.func @run_time(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) attributes {nn.kernel} {
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %mask = vector.create_mask %n : vector<16xi1>
  %a = vector.transfer_read %x[%c0], %pad, %mask {in_bounds = [true]} : memref<?xf32>, vector<16xf32>
  %b = arith.negf %a : vector<16xf32>
  vector.transfer_write %b, %y[%c0], %mask {in_bounds = [true]} : vector<16xf32>, memref<?xf32>
  return
}

// -----

// Of 24 lanes 11 count: a whole load, a masked one, and none for the third vector.
// CHECK-LABEL: func.func @known
// CHECK:         %[[MASK:.*]] = arith.constant dense<[true, true, true, false, false, false, false, false]>
// CHECK:         vector.load %arg0[%c0] : memref<11xf32>, vector<8xf32>
// CHECK:         vector.maskedload %arg0[%c8], %[[MASK]]
// CHECK-NOT:     vector.maskedload
func.func @known(%x: memref<11xf32>, %acc: vector<24xf32>) -> vector<24xf32> attributes {nn.kernel} {
  %pad = ub.poison : f32
  %c0 = arith.constant 0 : index
  %mask = vector.constant_mask [11] : vector<24xi1>
  %a = vector.transfer_read %x[%c0], %pad, %mask {in_bounds = [false]} : memref<11xf32>, vector<24xf32>
  %s = arith.addf %a, %acc : vector<24xf32>
  %r = arith.select %mask, %s, %acc : vector<24xi1>, vector<24xf32>
  return %r : vector<24xf32>
}
