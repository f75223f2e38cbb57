// RUN: nn-opt --canonicalize %s | filecheck %s

// A part of which a constant would say that it reaches out of the buffer stays as it is, as in
// mlir-opt: the function is valid, and an error only where it runs.

// CHECK-LABEL: func.func @outside
// CHECK: memref.subview %arg0[%c32, 0] [4, 8] [1, 1]
func.func @outside(%a: memref<16x32xf32>) -> memref<4x8xf32, strided<[32, 1], offset: ?>> {
  %c32 = arith.constant 32 : index
  %s = memref.subview %a[%c32, 0] [4, 8] [1, 1]
    : memref<16x32xf32> to memref<4x8xf32, strided<[32, 1], offset: ?>>
  return %s : memref<4x8xf32, strided<[32, 1], offset: ?>>
}

// CHECK-LABEL: func.func @runs_outside
// CHECK: memref.subview %arg0[0, 0] [4, 8] [%c6, 1]
func.func @runs_outside(%a: memref<16x32xf32>) -> memref<4x8xf32, strided<[?, 1]>> {
  %c6 = arith.constant 6 : index
  %s = memref.subview %a[0, 0] [4, 8] [%c6, 1]
    : memref<16x32xf32> to memref<4x8xf32, strided<[?, 1]>>
  return %s : memref<4x8xf32, strided<[?, 1]>>
}

// CHECK-LABEL: func.func @last_row
// CHECK: memref.subview %arg0[15, 0] [1, 8] [1, 1]
func.func @last_row(%a: memref<16x32xf32>) -> memref<1x8xf32, strided<[32, 1], offset: ?>> {
  %c15 = arith.constant 15 : index
  %s = memref.subview %a[%c15, 0] [1, 8] [1, 1]
    : memref<16x32xf32> to memref<1x8xf32, strided<[32, 1], offset: ?>>
  return %s : memref<1x8xf32, strided<[32, 1], offset: ?>>
}
