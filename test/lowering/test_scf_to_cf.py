"""Blocks of loops and branches: the text of upstream's pass of this name, and numbers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from nnc.ir.core import Operation
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.pipelines import pipeline
from nnc.numerics.interpreter import Interpreter

GOLDEN = Path(__file__).parents[1] / "lit" / "lowering" / "scf-to-cf" / "loops.mlir"


def run(module: Operation) -> None:
    PassManager(pipeline("builtin.module(func.func(convert-scf-to-cf))")).run(module)


@pytest.mark.mlir_opt
def test_text(mlir_opt: str):
    text = GOLDEN.read_text()
    module = parse_module(text)
    run(module)
    command = [mlir_opt, "--convert-scf-to-cf", "-"]
    upstream = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert str(module).strip() == upstream.stdout.strip()


def test_others():
    """What has no blocks here is an error with its place."""
    module = parse_module("""
func.func @main(%n: index) {
  scf.parallel (%i) = (%n) to (%n) step (%n) {
  }
  return
}
""")
    with pytest.raises(NncError, match=r"3:3.*'scf.parallel' has no blocks of cf here"):
        run(module)


_LOOP = """
func.func @main(%x: memref<5xi32>, %y: memref<5xi32>) attributes {nn.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0 : i32
  %s = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %zero) -> (i32) {
    %v = memref.load %x[%i] : memref<5xi32>
    %is = arith.cmpi sgt, %v, %zero : i32
    %t = scf.if %is -> (i32) {
      %u = arith.addi %a, %v : i32
      scf.yield %u : i32
    } else {
      scf.yield %a : i32
    }
    memref.store %t, %y[%i] : memref<5xi32>
    scf.yield %t : i32
  }
  return
}
"""


def test_numbers():
    """The blocks add up what is positive, as NumPy does."""
    module = parse_module(_LOOP)
    run(module)
    x, y = np.array([3, -1, 4, -1, 5], np.int32), np.zeros(5, np.int32)
    Interpreter(module).call("main", [x, y])
    np.testing.assert_array_equal(y, np.cumsum(np.maximum(x, 0)))
