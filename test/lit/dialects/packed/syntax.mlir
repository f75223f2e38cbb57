// Products of words: integers and halves, scalars and vectors, and the generic form.
// RUN: nn-opt %s | filecheck %s
// RUN: nn-opt --mlir-print-op-generic %s | nn-opt | filecheck %s

// CHECK:         func.func @dot(%arg0: i32, %arg1: vector<16xi32>) -> (i32, vector<16xi32>) {
// CHECK-NEXT:      %0 = packed.dot "s16" %arg0, %arg0 : i32
// CHECK-NEXT:      %1 = packed.dot "u8s8" %arg1, %arg1 : vector<16xi32>
// CHECK-NEXT:      return %0, %1 : i32, vector<16xi32>
// CHECK-NEXT:    }
// CHECK:         func.func @dotf(%arg0: i32, %arg1: vector<16xi32>) -> (f32, vector<16xf32>) {
// CHECK-NEXT:      %0 = packed.dotf %arg0, %arg0 : i32
// CHECK-NEXT:      %1 = packed.dotf %arg1, %arg1 : vector<16xi32>
// CHECK-NEXT:      return %0, %1 : f32, vector<16xf32>
// CHECK-NEXT:    }

func.func @dot(%a: i32, %b: vector<16xi32>) -> (i32, vector<16xi32>) {
  %0 = packed.dot "s16" %a, %a : i32
  %1 = packed.dot "u8s8" %b, %b : vector<16xi32>
  return %0, %1 : i32, vector<16xi32>
}

func.func @dotf(%a: i32, %b: vector<16xi32>) -> (f32, vector<16xf32>) {
  %0 = packed.dotf %a, %a : i32
  %1 = packed.dotf %b, %b : vector<16xi32>
  return %0, %1 : f32, vector<16xf32>
}
