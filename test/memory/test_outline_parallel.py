"""Outlined parallel loops do what they did, whatever their bounds and rank, on any threads."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.dialects import scf
from nnc.dialects.marks import PARALLEL
from nnc.driver.program import compile_module
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.to_llvm import LowerToLlvm
from nnc.memory.outline_parallel import OutlineParallel
from nnc.numerics.interpreter import Interpreter

LOOP = """
func.func private @work(%y: memref<9x8x7xi64>, {parameters}) {{
  %one = arith.constant 1 : i64
  %w = vector.broadcast %one : i64 to vector<4xi64>
  scf.parallel ({iv}) = ({low}) to ({high}) step ({step}) {{
    %s = vector.reduction <add>, %w : vector<4xi64> into i64
    %c0 = arith.constant 0 : index
    %old = memref.load %y[{at}] : memref<9x8x7xi64>
    %new = arith.addi %old, %s : i64
    memref.store %new, %y[{at}] : memref<9x8x7xi64>
    scf.reduce
  }}
  return
}}
func.func @main(%y: memref<9x8x7xi64>) attributes {{nn.entry, nn.output_names = ["y"]}} {{
  %zero = arith.constant 0 : i64
  linalg.fill ins(%zero : i64) outs(%y : memref<9x8x7xi64>)
{constants}
  call @work(%y, {given}) : (memref<9x8x7xi64>, {types}) -> ()
  return
}}
"""

BOUNDS = {
    "one": [(0, 9, 1)],
    "offset": [(2, 9, 3)],
    "two": [(0, 9, 2), (1, 8, 3)],
    "three": [(1, 9, 1), (0, 8, 5), (3, 7, 2)],
    "empty first": [(5, 5, 1), (0, 8, 1)],
    "empty last": [(0, 9, 1), (7, 2, 1)],
    "single": [(4, 5, 1), (7, 8, 1), (6, 7, 1)],
}


def text_of(bounds):
    """Bounds are arguments, so that none is known when the loop is outlined."""
    rank = len(bounds)

    def names(letter):
        return [f"%{letter}{i}" for i in range(rank)]

    numbers = {f"%{letter}{i}": bounds[i][k] for k, letter in enumerate("lhs") for i in range(rank)}
    low, high, step, iv = (", ".join(names(letter)) for letter in "lhsi")
    return LOOP.format(
        parameters=", ".join(f"{n}: index" for n in numbers),
        low=low,
        high=high,
        step=step,
        iv=iv,
        at=", ".join(names("i") + ["%c0"] * (3 - rank)),
        constants="\n".join(f"  {n} = arith.constant {v} : index" for n, v in numbers.items()),
        given=", ".join(numbers),
        types=", ".join(["index"] * len(numbers)),
    )


def expected(bounds):
    y = np.zeros((9, 8, 7), np.int64)
    where = [range(*b) for b in bounds] + [[0]] * (3 - len(bounds))
    y[np.ix_(*where)] = 4
    return y


def outlined(text):
    module = parse_module(text)
    module.verify()
    OutlineParallel().run(module, PassContext())
    module.verify()
    assert not any(isinstance(op, scf.Parallel) for op in module.walk())
    assert sum(PARALLEL in op.attributes for op in module.walk()) == 1
    return module


@pytest.mark.parametrize("name", BOUNDS)
def test_interpreted(name):
    y = np.full((9, 8, 7), 99)
    Interpreter(outlined(text_of(BOUNDS[name]))).call("main", [y, 0])
    np.testing.assert_array_equal(y, expected(BOUNDS[name]))


@pytest.mark.parametrize("name", BOUNDS)
def test_compiled(name):
    text = text_of(BOUNDS[name]).replace(
        "  linalg.fill ins(%zero : i64) outs(%y : memref<9x8x7xi64>)",
        FILL,
    )
    module = outlined(text)
    LowerToLlvm().run(module, PassContext())
    run = compile_module(module)
    for threads in (1, 2, 3):
        run.threads = threads
        np.testing.assert_array_equal(run(), expected(BOUNDS[name]))


FILL = """
  %f0 = arith.constant 0 : index
  %f1 = arith.constant 1 : index
  %f7 = arith.constant 7 : index
  %f8 = arith.constant 8 : index
  %f9 = arith.constant 9 : index
  scf.for %i = %f0 to %f9 step %f1 {
    scf.for %j = %f0 to %f8 step %f1 {
      scf.for %k = %f0 to %f7 step %f1 {
        memref.store %zero, %y[%i, %j, %k] : memref<9x8x7xi64>
      }
    }
  }
"""


def test_a_second_run_changes_nothing():
    module = outlined(text_of(BOUNDS["two"]))
    before = str(module)
    OutlineParallel().run(module, PassContext())
    assert str(module) == before
