"""Kernels as launches do what they did: bounds and ranks of loops, and every op of nn."""

from __future__ import annotations

import re

import numpy as np
import pytest
from nnc.dialects import gpu, scf
from nnc.dialects.marks import KERNEL
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.pipelines import pipeline
from nnc.memory.outline_launches import OutlineLaunches
from nnc.numerics.checking.running import Runner
from nnc.numerics.checking.subjects import Subject
from nnc.numerics.interpreter import Interpreter
from nnc.numerics.options import NumericsOptions

from ..lowering.running import inputs_of
from ..lowering.test_nn_to_linalg import OPS, example_of
from .test_outline_parallel import BOUNDS, expected, text_of

# All loops that can be are parallel for it, however short.
MACHINE = "machine = {costs = {threads = {least_microseconds = 1.0e-9}}}"
HEAD = f'module attributes {{nnc.target = {{name = "x86-64-v3", {MACHINE}}}}} {{'

DECIDED_BY_VALUES = {
    "nn.fill_dynamic", "nn.range", "nn.one_hot", "nn.non_zero", "nn.transpose_dynamic",
    "nn.slice_dynamic", "nn.pad_dynamic", "nn.top_k", "nn.resize_dynamic", "nn.broadcast_dynamic",
}  # fmt: skip
"""Ops whose operands' values decide extents: the host computes them."""

FOUR = """
func.func private @work(%y: memref<2x3x4x5xi64>, %lo: index, %by: index) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %two = memref.dim %y, %c0 : memref<2x3x4x5xi64>
  scf.parallel (%i, %j, %k, %l) = (%c0, %lo, %c0, %lo) to (%two, %c3, %c4, %c5)
      step (%c1, %c1, %by, %c1) {
    %1 = arith.muli %i, %c3 : index
    %2 = arith.addi %1, %j : index
    %3 = arith.muli %2, %c4 : index
    %4 = arith.addi %3, %k : index
    %5 = arith.muli %4, %c5 : index
    %6 = arith.addi %5, %l : index
    %7 = arith.index_cast %6 : index to i64
    memref.store %7, %y[%i, %j, %k, %l] : memref<2x3x4x5xi64>
    scf.reduce
  }
  return
}
func.func @main(%y: memref<2x3x4x5xi64>, %lo: index, %by: index) {
  call @work(%y, %lo, %by) : (memref<2x3x4x5xi64>, index, index) -> ()
  return
}
"""


def outlined(text):
    module = parse_module(text)
    module.verify()
    OutlineLaunches().run(module, PassContext())
    module.verify()
    assert not any(isinstance(op, scf.Parallel) for op in module.walk())
    return module


def marked(text):
    """Of the text of a loop, the function that has it as a kernel."""
    return re.sub(r"(func private @work\([^)]*\))", r"\1 attributes {nn.kernel}", text, count=1)


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_and_ranks(name):
    module = outlined(marked(text_of(BOUNDS[name])))
    assert sum(isinstance(op, gpu.LaunchFunc) for op in module.walk()) == 1
    y = np.full((9, 8, 7), 99)
    Interpreter(module).call("main", [y])
    np.testing.assert_array_equal(y, expected(BOUNDS[name]))


@pytest.mark.parametrize("by", [1, 3])
@pytest.mark.parametrize("low", [0, 2])
def test_more_dimensions_than_axes(low, by):
    y = np.full((2, 3, 4, 5), -1)
    Interpreter(outlined(FOUR)).call("main", [y, low, by])
    places = np.arange(120).reshape(2, 3, 4, 5)
    wanted = np.full_like(y, -1)
    wanted[:, low:, ::by, low:] = places[:, low:, ::by, low:]
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.sampled(40)
@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.name)
def test_example(cls):
    """The example of every op: the same bits as from loops, by launches alone."""
    text, given, sizes = example_of(cls)
    module = parse_module(HEAD + text + "}")
    subject = Subject("main", module.body_block.first.function_type)
    inputs = inputs_of(subject.type.inputs, given, sizes, seed=3)
    PassManager(pipeline("lower-to-loops")).run(module)
    before = results(module, subject, inputs)
    OutlineLaunches().run(module, PassContext())
    module.verify()
    for one, other in zip(before, results(module, subject, inputs), strict=True):
        np.testing.assert_array_equal(one, other)
    has_kernels = any(KERNEL in op.attributes for op in module.body_block)
    launches = any(isinstance(op, gpu.LaunchFunc) for op in module.walk())
    assert launches == (has_kernels and cls.name not in DECIDED_BY_VALUES)


def results(module, subject, inputs):
    outcome = Runner(module, NumericsOptions(max_steps=10_000_000)).interpret(
        subject, [x.copy() for x in inputs]
    )
    assert outcome.error is None, outcome.error
    return outcome.values
