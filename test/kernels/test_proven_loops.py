"""What is proven of launches in loops and branches of the host, and of none outside of them.

The oracle is the interpreter: with a fault in the loop, it goes wrong for the extents it is run with.
"""

import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.proof.prove_kernels import ProveKernels
from nnc.numerics.interpreter import Interpreter

pytest.importorskip("islpy")

ROWS = [0, 1, 4, 7, 12]

LOOP = """
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @rows(%a: memref<?x4xf32>, %b: memref<?x4xf32>, %at: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %x = gpu.block_id x
      %row = arith.addi %at, %c0 : index
      %v = memref.load %a[%row, %x] : memref<?x4xf32>
      memref.store %v, %b[%row, %x] : memref<?x4xf32>
      gpu.return
    }
  }
  func.func @main(%a: memref<?x4xf32>, %b: memref<?x4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %n = memref.dim %a, %c0 : memref<?x4xf32>
    %m = memref.dim %b, %c0 : memref<?x4xf32>
    %alike = arith.cmpi eq, %n, %m : index
    cf.assert %alike, "as many rows"
    %more = arith.addi %n, %c1 : index
    %less = arith.subi %n, %c1 : index
    %many = arith.cmpi sgt, %n, %c5 : index
    %few = arith.cmpi sle, %n, %c5 : index
    BODY
    return
  }
}"""
LAUNCH = """gpu.launch_func @kernels::@rows blocks in (%c4, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<?x4xf32>, %b : memref<?x4xf32>, AT : index)"""


def text(body):
    return LOOP.replace("BODY", body)


def loop(upper, step="%c1", lower="%c0", at="%i", inside=""):
    """Launches in a loop of the host, at its counter or at what is computed from it."""
    launch = f"{inside}\n{LAUNCH.replace('AT', at)}"
    return f"scf.for %i = {lower} to {upper} step {step} {{\n{launch}\n}}"


NEXT = "%next = arith.addi %i, %c1 : index"
TWICE = "%next = arith.muli %i, %c2 : index"
THEN, ELSE = "scf.if {} {{{{\n{{}}\n}}}}", "scf.if {} {{{{\n}}}} else {{{{\n{{}}\n}}}}"
AT_5, AT_0 = LAUNCH.replace("AT", "%c5"), LAUNCH.replace("AT", "%c0")
CASES = {
    "each row": (loop("%n"), True),
    "a row too many": (loop("%more"), False),
    "from the second one": (loop("%n", lower="%c1"), True),
    "the next row": (loop("%n", at="%next", inside=NEXT), False),
    "the next row but for the last": (loop("%less", at="%next", inside=NEXT), True),
    "every second row": (loop("%n", "%c2"), True),
    "twice the row": (loop("%n", at="%next", inside=TWICE), False),
    "a loop in a loop": (f"scf.for %j = %c0 to %n step %c4 {{\n{loop('%n', lower='%j')}\n}}", True),
    "its own counter": (
        f"scf.for %j = %c0 to %n step %c4 {{\n{loop('%more', lower='%j', at='%j')}\n}}",
        True,
    ),
    "the other counter": (
        f"scf.for %j = %c0 to %more step %c4 {{\n{loop('%c2', at='%j')}\n}}",
        False,
    ),
    "in a branch": (THEN.format("%many").format(AT_5), True),
    "in the other one": (ELSE.format("%few").format(AT_5), True),
    "in a wrong one": (ELSE.format("%many").format(AT_5), False),
}


def goes_wrong(text, rows):
    arrays = [np.ones((rows, 4), np.float32) for _ in range(2)]
    try:
        Interpreter(parse_module(text)).call("main", arrays)
    except NncError:
        return True
    return False


def all_proven(text):
    """Whether all launches are proven; False also where a fault is."""
    context = PassContext()
    try:
        ProveKernels().run(parse_module(text), context)
    except NncError:
        return False
    return not context.statistics[""].get("open")


@pytest.mark.parametrize("name", CASES)
def test_launches_in_loops(name):
    body, is_safe = CASES[name]
    assert any(goes_wrong(text(body), rows) for rows in ROWS) == (not is_safe)
    assert all_proven(text(body)) == is_safe


def test_an_iteration_is_known_in_its_loop_only():
    """Row 0 is there in each iteration; a launch behind the loop may find no row."""
    inside = loop("%n", at="%c0")
    assert all_proven(text(inside)) and not goes_wrong(text(inside), 0)
    behind = f"{inside}\n{AT_0}"
    assert goes_wrong(text(behind), 0) and not all_proven(text(behind))
