// Each canonicalization pattern of arith fires, and declines where it must.
// RUN: nn-opt --canonicalize --cse %s | filecheck %s

// CHECK-LABEL: func.func @constant_to_right
// CHECK:         arith.addi %arg0, %c5_i32 : i32
// CHECK:         arith.cmpi sgt, %arg0, %c5_i32 : i32
// CHECK:         arith.subi %c5_i32, %arg0 : i32
func.func @constant_to_right(%x: i32) -> (i32, i1, i32) {
  %c = arith.constant 5 : i32
  %0 = arith.addi %c, %x : i32
  %1 = arith.cmpi slt, %c, %x : i32
  %2 = arith.subi %c, %x : i32
  return %0, %1, %2 : i32, i1, i32
}

// CHECK-LABEL: func.func @constants_meet
// CHECK-DAG:     %[[C12:.*]] = arith.constant 12 : index
// CHECK-DAG:     %[[C7:.*]] = arith.constant 7 : index
// CHECK-DAG:     arith.addi %arg0, %[[C7]] : index
// CHECK-DAG:     arith.muli %arg0, %[[C12]] : index
func.func @constants_meet(%x: index) -> (index, index) {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %0 = arith.addi %x, %c3 : index
  %1 = arith.addi %0, %c4 : index
  %2 = arith.muli %c4, %x : index
  %3 = arith.muli %2, %c3 : index
  return %1, %3 : index, index
}

// CHECK-LABEL: func.func @sums_and_differences
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : i32
// CHECK-DAG:     %[[CM1:.*]] = arith.constant -1 : i32
// CHECK-DAG:     %[[C7:.*]] = arith.constant 7 : i32
// CHECK-DAG:     %[[A:.*]] = arith.addi %arg0, %[[C1]] : i32
// CHECK-DAG:     %[[B:.*]] = arith.subi %[[C7]], %arg0 : i32
// CHECK-DAG:     %[[C:.*]] = arith.addi %arg0, %[[CM1]] : i32
// CHECK-DAG:     %[[D:.*]] = arith.subi %[[C1]], %arg0 : i32
// CHECK-DAG:     %[[E:.*]] = arith.subi %arg0, %[[C7]] : i32
func.func @sums_and_differences(%x: i32) -> (i32, i32, i32, i32, i32) {
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %0 = arith.subi %x, %c3 : i32
  %1 = arith.addi %0, %c4 : i32
  %2 = arith.subi %c3, %x : i32
  %3 = arith.addi %2, %c4 : i32
  %4 = arith.addi %x, %c3 : i32
  %5 = arith.subi %4, %c4 : i32
  %6 = arith.subi %c4, %4 : i32
  %7 = arith.subi %0, %c4 : i32
  return %1, %3, %5, %6, %7 : i32, i32, i32, i32, i32
}

// CHECK-LABEL: func.func @casts
// CHECK-NEXT:    arith.extsi %arg0 : i8 to i64
// CHECK-NEXT:    arith.extui %arg0 : i8 to i64
// CHECK-NEXT:    arith.trunci %arg1 : i64 to i8
// CHECK-NEXT:    arith.extui %arg0 : i8 to i16
func.func @casts(%x: i8, %y: i64, %z: f32) -> (i64, i64, i8, i16, f32, i8) {
  %0 = arith.extsi %x : i8 to i32
  %1 = arith.extsi %0 : i32 to i64
  %2 = arith.extui %x : i8 to i32
  %3 = arith.extsi %2 : i32 to i64
  %4 = arith.trunci %y : i64 to i32
  %5 = arith.trunci %4 : i32 to i8
  %6 = arith.trunci %2 : i32 to i16
  %7 = arith.bitcast %z : f32 to i32
  %8 = arith.bitcast %7 : i32 to f32
  %9 = arith.trunci %0 : i32 to i8
  return %1, %3, %5, %6, %8, %9 : i64, i64, i8, i16, f32, i8
}

// The sign of the inner extension is not that of the outer one.
// CHECK-LABEL: func.func @extensions_that_differ
// CHECK:         arith.extsi %arg0 : i8 to i32
// CHECK:         arith.extui {{.*}} : i32 to i64
func.func @extensions_that_differ(%x: i8) -> i64 {
  %0 = arith.extsi %x : i8 to i32
  %1 = arith.extui %0 : i32 to i64
  return %1 : i64
}

// CHECK-LABEL: func.func @negations
// CHECK-NEXT:    arith.cmpi sge, %arg0, %arg1 : i32
// CHECK-NEXT:    arith.select %arg2, %arg1, %arg0 : i32
// CHECK-NEXT:    return
func.func @negations(%x: i32, %y: i32, %c: i1) -> (i1, i32) {
  %true = arith.constant true
  %0 = arith.cmpi slt, %x, %y : i32
  %1 = arith.xori %0, %true : i1
  %2 = arith.xori %c, %true : i1
  %3 = arith.select %2, %x, %y : i32
  return %1, %3 : i1, i32
}

// CHECK-LABEL: func.func @selects
// CHECK-NEXT:    arith.select %arg0, %arg1, %arg3 : f32
// CHECK-NEXT:    return
func.func @selects(%c: i1, %x: f32, %y: f32, %z: f32) -> f32 {
  %0 = arith.select %c, %x, %y : f32
  %1 = arith.select %c, %y, %z : f32
  %2 = arith.select %c, %0, %1 : f32
  return %2 : f32
}

// CHECK-LABEL: func.func @float_signs
// CHECK-NEXT:    arith.addf %arg0, %arg1 : f32
// CHECK-NEXT:    arith.mulf %arg0, %arg1 fastmath<contract> : f32
// CHECK-NEXT:    return
func.func @float_signs(%x: f32, %y: f32) -> (f32, f32) {
  %0 = arith.negf %x : f32
  %1 = arith.negf %y : f32
  %2 = arith.subf %x, %1 : f32
  %3 = arith.mulf %0, %1 fastmath<contract> : f32
  return %2, %3 : f32, f32
}
