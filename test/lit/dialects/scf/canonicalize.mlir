// Each canonicalization pattern of scf fires, and declines where it must.
// RUN: nn-opt --allow-unregistered-dialect --canonicalize %s | filecheck %s

// CHECK-LABEL: func.func @known_condition
// CHECK-NEXT:    "test.yes"() : () -> ()
// CHECK-NEXT:    return %arg1 : f32
func.func @known_condition(%x: f32, %y: f32) -> f32 {
  %true = arith.constant true
  %false = arith.constant false
  scf.if %true {
    "test.yes"() : () -> ()
  } else {
    "test.no"() : () -> ()
  }
  scf.if %false {
    "test.no"() : () -> ()
  }
  %0 = scf.if %false -> (f32) {
    scf.yield %x : f32
  } else {
    scf.yield %y : f32
  }
  return %0 : f32
}

// CHECK-LABEL: func.func @select_for_if
// CHECK-NEXT:    %[[S:.*]] = arith.select %arg0, %arg1, %arg2 : f32
// CHECK-NEXT:    return %[[S]], %arg1 : f32, f32
func.func @select_for_if(%c: i1, %x: f32, %y: f32) -> (f32, f32) {
  %0:2 = scf.if %c -> (f32, f32) {
    scf.yield %x, %x : f32, f32
  } else {
    scf.yield %y, %x : f32, f32
  }
  return %0#0, %0#1 : f32, f32
}

// CHECK-LABEL: func.func @empty_parts
// CHECK-NEXT:    scf.if %arg0 {
// CHECK-NEXT:      "test.effect"() : () -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @empty_parts(%c: i1, %x: i32) {
  scf.if %c {
    "test.effect"() : () -> ()
  } else {
  }
  scf.if %c {
    %0 = arith.addi %x, %x : i32
  }
  return
}

// CHECK-LABEL: func.func @known_case
// CHECK-NEXT:    return %arg1 : f32
func.func @known_case(%x: f32, %y: f32) -> f32 {
  %c = arith.constant 2 : index
  %0 = scf.index_switch %c -> f32
  case 1 {
    scf.yield %x : f32
  }
  case 2 {
    scf.yield %y : f32
  }
  default {
    scf.yield %x : f32
  }
  return %0 : f32
}

// CHECK-LABEL: func.func @execute_region
// CHECK-NEXT:    %[[M:.*]] = arith.mulf %arg0, %arg0 : f32
// CHECK-NEXT:    return %[[M]] : f32
func.func @execute_region(%x: f32) -> f32 {
  %0 = scf.execute_region -> f32 {
    %1 = arith.mulf %x, %x : f32
    scf.yield %1 : f32
  }
  return %0 : f32
}

// CHECK-LABEL: func.func @trip_counts
// CHECK-NEXT:    %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT:    "test.once"(%[[C2]]) : (index) -> ()
// CHECK-NEXT:    return %arg0 : f32
func.func @trip_counts(%x: f32) -> f32 {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c2 to %c4 step %c2 {
    "test.once"(%i) : (index) -> ()
  }
  %0 = scf.for %i = %c4 to %c2 step %c2 iter_args(%a = %x) -> (f32) {
    %1 = arith.addf %a, %a : f32
    scf.yield %1 : f32
  }
  return %0 : f32
}

// CHECK-LABEL: func.func @unchanged_values
// CHECK-NEXT:    %[[L:.*]] = scf.for %[[I:.*]] = %arg0 to %arg1 step %arg2 iter_args(%[[S:.*]] = %arg3) -> (f32) {
// CHECK-NEXT:      %[[A:.*]] = arith.addf %[[S]], %arg4 : f32
// CHECK-NEXT:      scf.yield %[[A]] : f32
// CHECK-NEXT:    } {tag}
// CHECK-NEXT:    return %arg4, %[[L]] : f32, f32
func.func @unchanged_values(%l: index, %u: index, %s: index, %x: f32, %y: f32) -> (f32, f32) {
  %0:2 = scf.for %i = %l to %u step %s iter_args(%a = %y, %b = %x) -> (f32, f32) {
    %1 = arith.addf %b, %a : f32
    scf.yield %a, %1 : f32, f32
  } {tag}
  return %0#0, %0#1 : f32, f32
}

// CHECK-LABEL: func.func @loops_without_effects
// CHECK-NEXT:    return
func.func @loops_without_effects(%n: index) {
  scf.for %i = %n to %n step %n {
    scf.for %j = %n to %n step %n {
      %0 = arith.addi %i, %j : index
    }
  }
  return
}

// CHECK-LABEL: func.func @single_dimensions
// CHECK:         scf.parallel (%[[I:.*]]) = (%arg0) to (%arg0) step (%arg0) {
// CHECK-NEXT:      "test.use"(%[[I]], %[[C:.*]]) : (index, index) -> ()
// CHECK:         "test.use"(%[[C]], %[[C]]) : (index, index) -> ()
func.func @single_dimensions(%n: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.parallel (%i, %j) = (%n, %c1) to (%n, %c2) step (%n, %c1) {
    "test.use"(%i, %j) : (index, index) -> ()
  }
  scf.parallel (%i, %j) = (%c1, %c1) to (%c2, %c2) step (%c1, %c2) {
    "test.use"(%i, %j) : (index, index) -> ()
  }
  scf.parallel (%i) = (%c2) to (%c1) step (%c1) {
    "test.never"(%i) : (index) -> ()
  }
  return
}
