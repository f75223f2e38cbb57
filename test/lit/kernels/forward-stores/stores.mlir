// Stores move down to the end of their block or to where their elements may be read; one that a later one
// replaces goes.
// RUN: nn-opt --split-input-file --check-numerics=samples=2 --forward-stores %s | filecheck %s

// CHECK-LABEL: func.func @replaced
// CHECK:         %[[A:.*]] = arith.negf %arg1
// CHECK:         %[[B:.*]] = math.exp %[[A]]
// CHECK-NEXT:    vector.store %[[B]], %arg0
// CHECK-NEXT:    return
func.func @replaced(%x: memref<8xf32>, %v: vector<8xf32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %a = arith.negf %v : vector<8xf32>
  vector.store %a, %x[%c0] : memref<8xf32>, vector<8xf32>
  %r = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
  %b = math.exp %r : vector<8xf32>
  vector.store %b, %x[%c0] : memref<8xf32>, vector<8xf32>
  return
}

// -----

// Elements that overlap in part go through memory, in order.
// CHECK-LABEL: func.func @overlap
// CHECK:         vector.store %arg1, %arg0[%c0]
// CHECK-NEXT:    %[[A:.*]] = vector.load %arg0[%c4]
// CHECK-NEXT:    vector.store %[[A]], %arg0[%c0]
func.func @overlap(%x: memref<16xf32>, %v: vector<8xf32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  vector.store %v, %x[%c0] : memref<16xf32>, vector<8xf32>
  %a = vector.load %x[%c4] : memref<16xf32>, vector<8xf32>
  vector.store %a, %x[%c0] : memref<16xf32>, vector<8xf32>
  return
}

// -----

// The arguments of a function that is no kernel may be one buffer.
// CHECK-LABEL: func.func @may_overlap
// CHECK:         memref.store %arg2, %arg0[%c0]
// CHECK-NEXT:    %[[A:.*]] = memref.load %arg1[%c0]
// CHECK-NEXT:    memref.store %[[A]], %arg0[%c1]
func.func @may_overlap(%x: memref<4xf32>, %y: memref<4xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  memref.store %v, %x[%c0] : memref<4xf32>
  %a = memref.load %y[%c0] : memref<4xf32>
  memref.store %a, %x[%c1] : memref<4xf32>
  return
}

// -----

// Rows of a contiguous array are apart however long they are; so both are still known.
// CHECK-LABEL: func.func @rows
// CHECK-NOT:     vector.load
// CHECK:         arith.addf %arg1, %arg2
// CHECK:         vector.store %arg1
// CHECK:         vector.store %arg2
func.func @rows(%x: memref<?x?xf32>, %v: vector<8xf32>, %w: vector<8xf32>, %i: index) -> vector<8xf32> attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %j = arith.addi %i, %c1 : index
  vector.store %v, %x[%i, %c0] : memref<?x?xf32>, vector<8xf32>
  vector.store %w, %x[%j, %c0] : memref<?x?xf32>, vector<8xf32>
  %a = vector.load %x[%i, %c0] : memref<?x?xf32>, vector<8xf32>
  %b = vector.load %x[%j, %c0] : memref<?x?xf32>, vector<8xf32>
  %s = arith.addf %a, %b : vector<8xf32>
  return %s : vector<8xf32>
}

// -----

// Rows of a view with strides of its own may be the same elements.
// CHECK-LABEL: func.func @strided_rows
// CHECK:         vector.store %arg1
// CHECK:         vector.store %arg2
// CHECK:         vector.load
func.func @strided_rows(%x: memref<?x8xf32, strided<[?, 1]>>, %v: vector<8xf32>, %w: vector<8xf32>) -> vector<8xf32> attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  vector.store %v, %x[%c0, %c0] : memref<?x8xf32, strided<[?, 1]>>, vector<8xf32>
  vector.store %w, %x[%c1, %c0] : memref<?x8xf32, strided<[?, 1]>>, vector<8xf32>
  %a = vector.load %x[%c0, %c0] : memref<?x8xf32, strided<[?, 1]>>, vector<8xf32>
  return %a : vector<8xf32>
}

// -----

// Lanes two apart leave each other's gaps alone; where a vector of subscripts says where, nothing is known.
// CHECK-LABEL: func.func @scattered
// CHECK:         vector.scatter %arg0[%c0] [%arg3]
// CHECK-NEXT:    vector.gather %arg0[%c0] [%arg3]
// CHECK-NEXT:    vector.scatter %arg0[%c0] [%[[TWOS:.*]]], %{{.*}}, %arg1
// CHECK-NEXT:    vector.scatter %arg0[%c1] [%[[TWOS]]], %{{.*}}, %arg2
// CHECK-NEXT:    return
func.func @scattered(%x: memref<16xf32>, %v: vector<8xf32>, %w: vector<8xf32>, %at: vector<8xindex>) -> vector<8xf32> attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %all = arith.constant dense<true> : vector<8xi1>
  %any = ub.poison : vector<8xf32>
  %twos = arith.constant dense<[0, 2, 4, 6, 8, 10, 12, 14]> : vector<8xindex>
  vector.scatter %x[%c0] [%at], %all, %v : memref<16xf32>, vector<8xindex>, vector<8xi1>, vector<8xf32>
  %a = vector.gather %x[%c0] [%at], %all, %any : memref<16xf32>, vector<8xindex>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.scatter %x[%c0] [%twos], %all, %v : memref<16xf32>, vector<8xindex>, vector<8xi1>, vector<8xf32>
  vector.scatter %x[%c1] [%twos], %all, %w : memref<16xf32>, vector<8xindex>, vector<8xi1>, vector<8xf32>
  return %a : vector<8xf32>
}
