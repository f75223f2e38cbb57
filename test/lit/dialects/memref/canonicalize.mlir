// Folds and patterns of memref; each with a case where it does not apply.
// RUN: nn-opt --canonicalize %s | filecheck %s

// CHECK-LABEL: func.func @dim(
// CHECK-SAME: %[[M:.*]]: memref<4x?xf32>, %[[N:.*]]: index)
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[DIM:.*]] = memref.dim %[[M]]
// CHECK: return %[[FOUR]], %[[DIM]], %[[N]]
func.func @dim(%m: memref<4x?xf32>, %n: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = memref.dim %m, %c0 : memref<4x?xf32>
  %1 = memref.dim %m, %c1 : memref<4x?xf32>
  %a = memref.alloca(%n) : memref<4x?xf32>
  %2 = memref.dim %a, %c1 : memref<4x?xf32>
  return %0, %1, %2 : index, index, index
}

// CHECK-LABEL: func.func @unused(
// CHECK-NEXT: return
func.func @unused() {
  %0 = memref.alloc() : memref<4xf32>
  memref.dealloc %0 : memref<4xf32>
  return
}

// CHECK-LABEL: func.func @used(
// CHECK: memref.alloc
// CHECK: memref.store
// CHECK: memref.dealloc
func.func @used(%x: f32, %i: index) {
  %0 = memref.alloc() : memref<4xf32>
  memref.store %x, %0[%i] : memref<4xf32>
  memref.dealloc %0 : memref<4xf32>
  return
}

// CHECK-LABEL: func.func @forgetting_cast(
// CHECK-SAME: %[[M:.*]]: memref<4xf32>
// CHECK-NEXT: memref.load %[[M]]
func.func @forgetting_cast(%m: memref<4xf32>, %i: index) -> f32 {
  %0 = memref.cast %m : memref<4xf32> to memref<?xf32>
  %1 = memref.load %0[%i] : memref<?xf32>
  return %1 : f32
}

// CHECK-LABEL: func.func @learning_cast(
// CHECK: memref.cast
func.func @learning_cast(%m: memref<?xf32>, %i: index) -> f32 {
  %0 = memref.cast %m : memref<?xf32> to memref<4xf32>
  %1 = memref.load %0[%i] : memref<4xf32>
  return %1 : f32
}

// CHECK-LABEL: func.func @subview(
// CHECK: memref.subview %{{.*}}[0, %{{.*}}] [4, 2] [1, 1] {{.*}} to memref<4x2xf32, strided<[8, 1], offset: ?>>
// CHECK: memref.subview %{{.*}}[2, 0] [4, 8] [1, 1] {{.*}} to memref<4x8xf32, strided<[8, 1], offset: 16>>
func.func @subview(%m: memref<8x8xf32>, %i: index) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %0 = memref.subview %m[%c0, %i] [4, %c2] [1, 1]
    : memref<8x8xf32> to memref<4x?xf32, strided<[8, 1], offset: ?>>
  %1 = memref.subview %m[%c2, 0] [4, 8] [1, 1]
    : memref<8x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
  %2 = memref.load %0[%c0, %c0] : memref<4x?xf32, strided<[8, 1], offset: ?>>
  %3 = memref.load %1[%c0, %c0] : memref<4x8xf32, strided<[8, 1], offset: ?>>
  return %2, %3 : f32, f32
}

// CHECK-LABEL: func.func @whole(
// CHECK-SAME: %[[M:.*]]: memref<8xf32>
// CHECK-NEXT: return %[[M]]
func.func @whole(%m: memref<8xf32>) -> memref<8xf32> {
  %0 = memref.subview %m[0] [8] [1] : memref<8xf32> to memref<8xf32>
  %1 = memref.expand_shape %0 [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  %2 = memref.collapse_shape %1 [[0, 1]] : memref<2x4xf32> into memref<8xf32>
  return %2 : memref<8xf32>
}

// CHECK-LABEL: func.func @known_size(
// CHECK: memref.alloc(%{{.*}}) : memref<4x?xf32>
func.func @known_size(%n: index, %x: f32) -> f32 {
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : index
  %0 = memref.alloc(%c4, %n) : memref<?x?xf32>
  memref.store %x, %0[%c0, %c0] : memref<?x?xf32>
  %1 = memref.load %0[%c0, %c0] : memref<?x?xf32>
  memref.dealloc %0 : memref<?x?xf32>
  return %1 : f32
}
