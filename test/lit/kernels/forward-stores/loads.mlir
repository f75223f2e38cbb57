// Loads of what is in a register go; the others move down to their first use, each with its prefetch.
// RUN: nn-opt --split-input-file --check-numerics=samples=2 --forward-stores %s | filecheck %s

// CHECK-LABEL: func.func @once
// CHECK:         %[[A:.*]] = vector.load %arg0[%{{.*}}]
// CHECK:         arith.addf %[[A]], %[[A]]
// CHECK-NOT:     vector.load
// CHECK:         return
func.func @once(%x: memref<16xf32>, %y: memref<16xf32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %a = vector.load %x[%c0] : memref<16xf32>, vector<8xf32>
  %b = vector.load %x[%c0] : memref<16xf32>, vector<8xf32>
  %s = arith.addf %a, %b : vector<8xf32>
  vector.store %s, %y[%c0] : memref<16xf32>, vector<8xf32>
  return
}

// -----

// Two subscripts that are one element are one load, through whatever view.
// CHECK-LABEL: func.func @views
// CHECK-COUNT-1: memref.load
// CHECK-NOT:     memref.load
// CHECK:         return
func.func @views(%x: memref<4x4xf32>, %i: index) -> f32 attributes {nn.kernel} {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %flat = memref.collapse_shape %x [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  %row = arith.muli %i, %c4 : index
  %at = arith.addi %row, %c1 : index
  %a = memref.load %x[%i, %c1] : memref<4x4xf32>
  %b = memref.load %flat[%at] : memref<16xf32>
  %s = arith.addf %a, %b : f32
  return %s : f32
}

// -----

// What is loaded before a loop is not loaded in it, unless the loop writes it.
// CHECK-LABEL: func.func @loop
// CHECK:         %[[A:.*]] = memref.load %arg0
// CHECK:         scf.for
// CHECK:           %[[B:.*]] = memref.load %arg1
// CHECK:           arith.addf %[[A]], %[[B]]
// CHECK:         }
func.func @loop(%x: memref<4xf32>, %y: memref<4xf32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = memref.load %x[%c0] : memref<4xf32>
  %b = memref.load %y[%c0] : memref<4xf32>
  %s = arith.addf %a, %b : f32
  memref.store %s, %y[%c0] : memref<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %c = memref.load %x[%c0] : memref<4xf32>
    %d = memref.load %y[%c0] : memref<4xf32>
    %t = arith.addf %c, %d : f32
    memref.store %t, %y[%c0] : memref<4xf32>
  }
  return
}

// -----

// Three loads before their uses: each stands before its own; its prefetch goes with it, and that of a load
// that goes, too.
// CHECK-LABEL: func.func @order
// CHECK:         vector.load %arg0[%c0]
// CHECK-NEXT:    memref.prefetch %arg0[%c16]
// CHECK-NEXT:    math.exp
// CHECK:         vector.load %arg0[%c8]
// CHECK-NEXT:    math.exp
// CHECK-NOT:     memref.prefetch
// CHECK:         return
func.func @order(%x: memref<64xf32>, %y: memref<64xf32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %a = vector.load %x[%c0] : memref<64xf32>, vector<8xf32>
  memref.prefetch %x[%c16], read, locality<2>, data : memref<64xf32>
  %b = vector.load %x[%c8] : memref<64xf32>, vector<8xf32>
  %c = vector.load %x[%c0] : memref<64xf32>, vector<8xf32>
  memref.prefetch %x[%c16], read, locality<2>, data : memref<64xf32>
  %d = math.exp %a : vector<8xf32>
  %e = math.exp %b : vector<8xf32>
  %f = arith.addf %c, %d : vector<8xf32>
  vector.store %f, %y[%c0] : memref<64xf32>, vector<8xf32>
  vector.store %e, %y[%c8] : memref<64xf32>, vector<8xf32>
  return
}

// -----

// A load waits no longer than until its elements may change; one that nobody uses goes.
// CHECK-LABEL: func.func @before_store
// CHECK-NEXT:    %c0
// CHECK-NEXT:    %c8
// CHECK-NEXT:    %[[A:.*]] = vector.load %arg0[%c0]
// CHECK-NEXT:    %[[B:.*]] = vector.load %arg0[%c8]
// CHECK-NEXT:    arith.addf %[[A]], %[[B]]
// CHECK-NEXT:    vector.store %arg1, %arg0[%c0]
// CHECK-NEXT:    vector.store
func.func @before_store(%x: memref<24xf32>, %v: vector<8xf32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %a = vector.load %x[%c0] : memref<24xf32>, vector<8xf32>
  %b = vector.load %x[%c8] : memref<24xf32>, vector<8xf32>
  %unused = vector.load %x[%c8] : memref<24xf32>, vector<4xf32>
  vector.store %v, %x[%c0] : memref<24xf32>, vector<8xf32>
  %s = arith.addf %a, %b : vector<8xf32>
  vector.store %s, %x[%c8] : memref<24xf32>, vector<8xf32>
  return
}

// -----

// Lanes that a load leaves out are its own: what was stored there is not read.
// CHECK-LABEL: func.func @other_lanes
// CHECK:         %[[S:.*]] = arith.select %arg2, %arg1, %[[ONES:.*]] :
// CHECK-NOT:     vector.maskedload
// CHECK:         arith.addf %[[S]], %arg1
// CHECK:         return
func.func @other_lanes(%x: memref<8xf32>, %v: vector<8xf32>, %m: vector<8xi1>) -> vector<8xf32> attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %ones = arith.constant dense<1.0> : vector<8xf32>
  %any = ub.poison : vector<8xf32>
  vector.maskedstore %x[%c0], %m, %v : memref<8xf32>, vector<8xi1>, vector<8xf32>
  %a = vector.maskedload %x[%c0], %m, %ones : memref<8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  %b = vector.maskedload %x[%c0], %m, %any : memref<8xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  %s = arith.addf %a, %b : vector<8xf32>
  return %s : vector<8xf32>
}
