"""Loops, branches and calls as machine code against the interpreter."""

import numpy as np
import pytest

from .native import check, lowered

CASES = {
    "a loop that carries values": """
  %s:2 = scf.for %i = %c0 to %n step %c2 iter_args(%a = %x, %k = %c1) -> (i64, index) {
    %j = arith.index_cast %i : index to i64
    %b = arith.addi %a, %j : i64
    %l = arith.addi %k, %i : index
    scf.yield %b, %l : i64, index
  }
  %t = arith.index_cast %s#1 : index to i64
  %r = arith.addi %s#0, %t : i64""",
    "a loop over i32": """
  %lo = arith.constant -3 : i32
  %hi = arith.trunci %x : i64 to i32
  %st = arith.constant 2 : i32
  %r = scf.for %i = %lo to %hi step %st iter_args(%a = %x) -> (i64) : i32 {
    %j = arith.extsi %i : i32 to i64
    %b = arith.muli %a, %j : i64
    scf.yield %b : i64
  }""",
    "a loop that runs once": """
  %r = scf.for %i = %c1 to %c2 step %c1 iter_args(%a = %x) -> (i64) {
    %j = arith.index_cast %i : index to i64
    %b = arith.addi %a, %j : i64
    scf.yield %b : i64
  }""",
    "a loop that never runs": """
  %r = scf.for %i = %c2 to %c2 step %c1 iter_args(%a = %x) -> (i64) {
    scf.yield %one : i64
  }""",
    "nested loops and sums of indices": """
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (i64) {
    %u = scf.for %j = %c1 to %n step %c1 iter_args(%b = %a) -> (i64) {
      %p = arith.muli %i, %c2 : index
      %q = arith.addi %p, %j : index
      %w = arith.subi %q, %n : index
      %v = arith.muli %w, %j : index
      %z = arith.index_cast %v : index to i64
      %y = arith.addi %b, %z : i64
      scf.yield %y : i64
    }
    scf.yield %u : i64
  }""",
    "if with results": """
  %c = arith.cmpi sgt, %x, %one : i64
  %r, %q = scf.if %c -> (i64, index) {
    %a = arith.muli %x, %x : i64
    scf.yield %a, %c1 : i64, index
  } else {
    scf.yield %one, %c2 : i64, index
  }""",
    "if that stores": """
  %m = memref.alloca() : memref<2xi64>
  memref.store %one, %m[%c0] : memref<2xi64>
  %c = arith.cmpi sgt, %x, %one : i64
  scf.if %c {
    memref.store %x, %m[%c0] : memref<2xi64>
  }
  %r = memref.load %m[%c0] : memref<2xi64>""",
    "if on a constant": """
  %c = arith.constant true
  %r = scf.if %c -> (i64) {
    scf.yield %x : i64
  } else {
    scf.yield %one : i64
  }""",
    "while": """
  %r, %k = scf.while (%a = %one, %i = %c0) : (i64, index) -> (i64, index) {
    %c = arith.cmpi slt, %a, %x : i64
    scf.condition(%c) %a, %i : i64, index
  } do {
  ^bb0(%a: i64, %i: index):
    %b = arith.addi %a, %a : i64
    %j = arith.addi %i, %c1 : index
    scf.yield %b, %j : i64, index
  }""",
    "index_switch": """
  %i = arith.index_cast %x : i64 to index
  %r = scf.index_switch %i -> i64
  case 2 {
    scf.yield %one : i64
  }
  case 5 {
    %a = arith.addi %x, %x : i64
    scf.yield %a : i64
  }
  default {
    scf.yield %x : i64
  }""",
    "parallel": """
  %m = memref.alloca() : memref<4x3xi64>
  scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c3) step (%c1, %c1) {
    %p = arith.muli %i, %c3 : index
    %q = arith.addi %p, %j : index
    %v = arith.index_cast %q : index to i64
    %w = arith.muli %v, %x : i64
    memref.store %w, %m[%i, %j] : memref<4x3xi64>
    scf.reduce
  }
  %r = memref.load %m[%c3, %c2] : memref<4x3xi64>""",
    "parallel with a reduction": """
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c2) init (%x) -> i64 {
    %v = arith.index_cast %i : index to i64
    scf.reduce(%v : i64) {
    ^bb0(%a: i64, %b: i64):
      %s = arith.addi %a, %b : i64
      scf.reduce.return %s : i64
    }
  }""",
    "execute_region": """
  %r = scf.execute_region -> i64 {
    %c = arith.cmpi sgt, %x, %one : i64
    cf.cond_br %c, ^a(%x : i64), ^b
  ^a(%y: i64):
    %z = arith.addi %y, %one : i64
    scf.yield %z : i64
  ^b:
    scf.yield %one : i64
  }""",
    "memrefs through a loop": """
  %m = memref.alloc(%c4) : memref<?xi64>
  %o = memref.alloc(%c4) : memref<?xi64>
  memref.store %x, %m[%c1] : memref<?xi64>
  memref.store %one, %o[%c1] : memref<?xi64>
  %e:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %m, %q = %o) -> (memref<?xi64>, memref<?xi64>) {
    scf.yield %q, %p : memref<?xi64>, memref<?xi64>
  }
  %r = memref.load %e#0[%c1] : memref<?xi64>
  memref.dealloc %m : memref<?xi64>
  memref.dealloc %o : memref<?xi64>""",
    "calls": """
  %a, %b = func.call @pair(%x, %n) : (i64, index) -> (i64, memref<?xi64>)
  %l = memref.load %b[%c2] : memref<?xi64>
  memref.dealloc %b : memref<?xi64>
  %r = arith.subi %a, %l : i64""",
    "forall": """
  %m = memref.alloca() : memref<4x3xi64>
  scf.forall (%i, %j) = (0, %c0) to (4, %c3) step (1, %c1) {
    %p = arith.muli %i, %c3 : index
    %q = arith.addi %p, %j : index
    %v = arith.index_cast %q : index to i64
    memref.store %v, %m[%i, %j] : memref<4x3xi64>
  }
  %r = memref.load %m[%c3, %c1] : memref<4x3xi64>""",
    "functions as values": """
  %g = func.constant @pair : (i64, index) -> (i64, memref<?xi64>)
  %a, %b = func.call_indirect %g(%x, %n) : (i64, index) -> (i64, memref<?xi64>)
  %l = memref.load %b[%c2] : memref<?xi64>
  memref.dealloc %b : memref<?xi64>
  %r = arith.subi %a, %l : i64""",
    "realloc": """
  %m = memref.alloc(%c4) : memref<?xi64>
  memref.store %x, %m[%c2] : memref<?xi64>
  %o = memref.realloc %m(%n) : memref<?xi64> to memref<?xi64>
  %d = memref.dim %o, %c0 : memref<?xi64>
  %e = arith.index_cast %d : index to i64
  %l = memref.load %o[%c2] : memref<?xi64>
  memref.dealloc %o : memref<?xi64>
  %r = arith.addi %e, %l : i64""",
    "blocks": """
  cf.br ^head(%c0, %x : index, i64)
^head(%i: index, %a: i64):
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^body, ^exit(%a : i64)
^body:
  %t = arith.index_cast %i : index to i64
  %b = arith.addi %a, %t : i64
  %j = arith.addi %i, %c1 : index
  %even = arith.cmpi slt, %t, %one : i64
  cf.cond_br %even, ^head(%j, %b : index, i64), ^head(%j, %one : index, i64)
^exit(%r: i64):""",
    "switch": """
  %f = arith.trunci %x : i64 to i32
  cf.switch %f : i32, [
    default: ^end(%x : i64),
    2: ^end(%one : i64),
    5: ^five
  ]
^five:
  %v = arith.addi %x, %x : i64
  cf.br ^end(%v : i64)
^end(%r: i64):""",
}

PAIR = """
func.func private @pair(%x: i64, %n: index) -> (i64, memref<?xi64>) {
  %c2 = arith.constant 2 : index
  %m = memref.alloc(%n) : memref<?xi64>
  memref.store %x, %m[%c2] : memref<?xi64>
  %y = arith.addi %x, %x : i64
  return %y, %m : i64, memref<?xi64>
}"""


def program(name):
    return f"""
{PAIR}
func.func @f(%x: i64, %n: index) -> i64 {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1 : i64
{CASES[name]}
  return %r : i64
}}"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("opt_level", [0, 2])
@pytest.mark.parametrize("name", CASES)
def test_control_flow(name, opt_level):
    for x, n in ((5, 7), (2, 4), (-3, 6)):
        check(program(name), x, n, opt_level=opt_level)


def test_a_loop_over_nothing_is_skipped():
    check(program("a loop that carries values"), 5, 0)
    check(program("a loop that carries values"), 5, -3)


def test_addresses_stand_where_their_parts_are_known():
    """The part of the outer index is computed outside the inner loop."""
    text = str(
        lowered("""
func.func @f(%m: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %z = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %z, %m[%i, %j] : memref<64x64xf32>
    }
  }
  return
}""")
    )
    outer, inner = text.split("\n  ^bb1(")[1].split("\n  ^bb2(")
    assert "llvm.mul" in outer
    assert "llvm.mul" not in inner.split("llvm.store")[0]


def test_assert_passes():
    check(
        """
func.func @f(%x: i64) -> i64 {
  %one = arith.constant 1 : i64
  %c = arith.cmpi sgt, %x, %one : i64
  cf.assert %c, "must be more than one"
  return %x : i64
}""",
        3,
    )


def test_poison_and_index_results():
    check(
        """
func.func @f(%n: index) -> index {
  %c3 = arith.constant 3 : index
  %p = ub.poison : index
  %c = arith.cmpi eq, %n, %n : index
  %a = arith.muli %n, %c3 : index
  %r = arith.select %c, %a, %p : index
  return %r : index
}""",
        14,
    )


def test_results_are_floats():
    check(
        """
func.func @f(%x: f32, %y: f64) -> f64 {
  %a = arith.extf %x : f32 to f64
  %r = arith.addf %a, %y : f64
  return %r : f64
}""",
        np.float32(1.5),
        np.float64(2.25),
    )
