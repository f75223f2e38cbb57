// Blocks, successors with arguments, forward references, graph regions, nested regions.
"t.cfg"() ({
  %c = "t.c"() : () -> i1
  "t.br"(%c)[^a, ^b_2, ^a] : (i1) -> ()
^a:
  %v = "t.v"() : () -> i32
  "t.br"(%v)[^b_2] : (i32) -> ()
^b_2:
  "t.end"() : () -> ()
^never(%x: i32, %y: f32):
  "t.use"(%x) : (i32) -> ()
  "t.br"()[^never] : () -> ()
^0:
  "t.end"() : () -> ()
^with.dots-and$dollar:
  "t.end"() : () -> ()
}) : () -> ()

// -----

// A graph: values used before they are defined, in cycles, and across nested regions.
%0 = "t.a"(%1, %0) : (i32, i32) -> i32
%1 = "t.a"(%0, %2#1) : (i32, i32) -> i32
"t.nest"() ({
  "t.use"(%3, %4) : (i32, f32) -> ()
  %4 = "t.b"(%4) : (f32) -> f32
  "t.inner"() ({
    "t.use"(%4, %3) : (f32, i32) -> ()
  }) : () -> ()
}) : () -> ()
%2:2 = "t.two"() : () -> (i32, i32)
%3 = "t.c"() : () -> i32

// -----

// Empty regions, empty blocks, several regions.
"t.a"() ({}) : () -> ()
"t.b"() ({}, {}) : () -> ()
"t.c"() ({
^bb0:
}) : () -> ()
"t.d"() ({
^bb0(%a: i32):
}, {
  "t.x"() : () -> ()
}, {}) : () -> ()
"t.e"() ({
^bb0:
  "t.x"()[^bb1] : () -> ()
^bb1:
  "t.x"() : () -> ()
}) : () -> ()

// -----

// Names of results and groups.
%x = "t.a"() : () -> i32
%y:2 = "t.b"() : () -> (i32, f32)
%p, %q = "t.c"() : () -> (i32, i32)
%a:2, %b, %c:3 = "t.d"() : () -> (i1, i2, i3, i4, i5, i6)
%_0.x$y-z = "t.e"(%x#0, %y, %y#1, %p, %q, %a#1, %b, %c#2) : (i32, i32, f32, i32, i32, i2, i3, i6) -> i32
%42 = "t.f"(%_0.x$y-z) : (i32) -> i32
"t.g"(%42) : (i32) -> ()
"t.h"() : () -> (i32, i32)
%007 = "t.i"() : () -> i32
"t.j"(%007) : (i32) -> ()

// -----

// The same names in sibling regions, and uses of outer values.
%o = "t.a"() : () -> i32
"t.two"() ({
  %i = "t.a"() : () -> i32
  "t.use"(%i, %o) : (i32, i32) -> ()
}, {
  %i = "t.b"() : () -> f32
  "t.use"(%i) : (f32) -> ()
}) : () -> ()

// -----

// Unreachable blocks: uses there need no dominance.
func.func @unreachable(%c: i1) -> i32 {
  %a = arith.constant 1 : i32
  return %a : i32
^bb1:
  %b = arith.addi %d, %d : i32
  cf.br ^bb2
^bb2:
  %d = arith.addi %b, %a : i32
  cf.br ^bb1
}

// -----

// Successors in generic form take their arguments as operands.
func.func @branches(%c: i1, %x: i32, %f: f32) {
  "cf.cond_br"(%c, %x, %f, %x)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 2, 1>}> : (i1, i32, f32, i32) -> ()
^bb1(%a: i32, %b: f32):
  "cf.br"(%a)[^bb2] : (i32) -> ()
^bb2(%d: i32):
  "cf.switch"(%d, %d)[^bb3, ^bb2] <{case_operand_segments = array<i32: 1>, case_values = dense<7> : vector<1xi32>, operandSegmentSizes = array<i32: 1, 0, 1>}> : (i32, i32) -> ()
^bb3:
  "func.return"() : () -> ()
}
