// Each canonicalization pattern of cf fires.
// RUN: nn-opt --allow-unregistered-dialect --canonicalize %s | filecheck %s

// CHECK-LABEL: func.func @known_target
// CHECK-NEXT:    return %arg0 : i32
func.func @known_target(%x: i32, %y: i32) -> i32 {
  %true = arith.constant true
  cf.cond_br %true, ^bb1(%x : i32), ^bb2
^bb1(%r: i32):
  return %r : i32
^bb2:
  return %y : i32
}

// CHECK-LABEL: func.func @known_case
// CHECK-NEXT:    return %arg1 : i32
func.func @known_case(%x: i32, %y: i32) -> i32 {
  %c = arith.constant 7 : i8
  cf.switch %c : i8, [
    default: ^bb1(%x : i32),
    7: ^bb1(%y : i32)
  ]
^bb1(%r: i32):
  return %r : i32
}

// CHECK-LABEL: func.func @same_target
// CHECK-NEXT:    %[[S:.*]] = arith.select %arg0, %arg1, %arg2 : i32
// CHECK-NEXT:    return %[[S]] : i32
func.func @same_target(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^bb1(%x : i32), ^bb1(%y : i32)
^bb1(%r: i32):
  return %r : i32
}

// CHECK-LABEL: func.func @diamond
// CHECK-NEXT:    %[[S:.*]] = arith.select %arg0, %arg1, %arg2 : i32
// CHECK-NEXT:    return %[[S]] : i32
func.func @diamond(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  cf.br ^bb3(%x : i32)
^bb2:
  cf.br ^bb3(%y : i32)
^bb3(%r: i32):
  return %r : i32
}

// A block that is used by an argument's user elsewhere is no mere jump.
// CHECK-LABEL: func.func @argument_used_later
// CHECK:         cf.cond_br %arg0, ^bb1
func.func @argument_used_later(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^bb1(%x : i32), ^bb3
^bb1(%a: i32):
  cf.br ^bb2
^bb2:
  return %a : i32
^bb3:
  "test.effect"() : () -> ()
  cf.br ^bb3
}

// Jumps in a circle stay a circle.
// CHECK-LABEL: func.func @circle
// CHECK-NEXT:    cf.br ^[[A:bb.*]]
// CHECK-NEXT:  ^[[A]]:
// CHECK:         cf.br
func.func @circle() {
  cf.br ^bb1
^bb1:
  cf.br ^bb2
^bb2:
  cf.br ^bb1
}

// CHECK-LABEL: func.func @dead_blocks
// CHECK-NEXT:    return %arg0 : i32
// CHECK-NEXT:  }
func.func @dead_blocks(%x: i32) -> i32 {
  return %x : i32
^bb1(%a: i32):
  %0 = arith.addi %a, %1 : i32
  cf.br ^bb2
^bb2:
  %1 = arith.muli %x, %x : i32
  cf.br ^bb1(%0 : i32)
}

// CHECK-LABEL: func.func @assertions
// CHECK-NEXT:    cf.assert %arg0, "unknown"
// CHECK-NEXT:    return
func.func @assertions(%c: i1) {
  %true = arith.constant true
  cf.assert %true, "known"
  cf.assert %c, "unknown"
  return
}
