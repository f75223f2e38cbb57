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

// -----

// A mask that a loop uses first, and its neighbours after it: its element is taken out before the loop.
// CHECK-LABEL: func.func @in_a_loop_and_after_it
// CHECK:         %[[MASK:.*]] = vector.create_mask %arg2 : vector<1xi1>
// CHECK:         %[[OUTER:.*]] = vector.extract %[[MASK]][0]
// CHECK:         scf.for
// CHECK:           arith.andi %[[OUTER]], %{{.*}} : i1
// CHECK:         }
// CHECK:         arith.andi %[[OUTER]], %{{.*}} : i1
func.func @in_a_loop_and_after_it(%x: memref<8xf32>, %y: memref<8xf32>, %n: index, %rows: memref<9xindex>)
    attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %outer = vector.create_mask %n : vector<1xi1>
  scf.for %i = %c0 to %c8 step %c1 {
    %m = memref.load %rows[%i] : memref<9xindex>
    %inner = vector.create_mask %m : vector<1xi1>
    %both = arith.andi %outer, %inner : vector<1xi1>
    %row = vector.transfer_read %x[%i], %zero, %both {in_bounds = [true]} : memref<8xf32>, vector<1xf32>
    vector.transfer_write %row, %y[%i] {in_bounds = [true]} : vector<1xf32>, memref<8xf32>
  }
  %last = memref.load %rows[%c8] : memref<9xindex>
  %again = vector.create_mask %last : vector<1xi1>
  %both = arith.andi %outer, %again : vector<1xi1>
  %one = arith.constant dense<1.0> : vector<1xf32>
  vector.transfer_write %one, %y[%c0], %both {in_bounds = [true]} : vector<1xf32>, memref<8xf32>
  return
}
