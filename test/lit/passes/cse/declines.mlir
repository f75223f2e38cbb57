// cse keeps what may differ: operands in another order, other attributes, sibling regions,
// reads of memory, results in other blocks that do not dominate.
// RUN: nn-opt --cse %s | filecheck %s

// CHECK-LABEL: func.func @order
// CHECK-COUNT-2: arith.subi
func.func @order(%a: i32, %b: i32) -> i32 {
  %0 = arith.subi %a, %b : i32
  %1 = arith.subi %b, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}

// CHECK-LABEL: func.func @attributes
// CHECK-COUNT-2: arith.cmpi
func.func @attributes(%a: i32, %b: i32) -> i1 {
  %0 = arith.cmpi slt, %a, %b : i32
  %1 = arith.cmpi ult, %a, %b : i32
  %2 = arith.andi %0, %1 : i1
  return %2 : i1
}

// CHECK-LABEL: func.func @memory
// CHECK-COUNT-2: memref.load
func.func @memory(%m: memref<4xf32>, %i: index, %x: f32) -> f32 {
  %0 = memref.load %m[%i] : memref<4xf32>
  memref.store %x, %m[%i] : memref<4xf32>
  %1 = memref.load %m[%i] : memref<4xf32>
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @siblings
// CHECK-COUNT-2: arith.mulf
func.func @siblings(%c: i1, %a: f32) -> f32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = arith.mulf %a, %a : f32
  return %0 : f32
^bb2:
  %1 = arith.mulf %a, %a : f32
  return %1 : f32
}
