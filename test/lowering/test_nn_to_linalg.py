"""Lowering nn to linalg: every op's example computes the same on buffers as on tensors."""

import re
import subprocess
from textwrap import dedent

import nnc.dialects  # noqa: F401
import numpy as np
import pytest
from nnc.dialects import nn
from nnc.dialects.nn.base import NnOp
from nnc.dialects.nn.traits import OnHost
from nnc.ir.dialect import registry
from nnc.ir.syntax.printer import print_op

from .running import compare, compare_native, lowered

registry.load_all()

OPS = [
    cls
    for cls in registry.dialect("nn").ops.values()
    if issubclass(cls, NnOp) and cls is not nn.Constant and OnHost not in cls.traits
]

# Operands of examples that random numbers do not suit: values by name.
POSITIVE = np.linspace(0.25, 3.0, 32, dtype=np.float32)
OPERANDS = {
    "nn.assume": {"p": [True]},
    "nn.log": {"x": POSITIVE},
    "nn.sqrt": {"x": POSITIVE},
    "nn.rsqrt": {"x": POSITIVE},
    "nn.acosh": {"x": POSITIVE + 1},
    "nn.atanh": {"x": POSITIVE / 4},
    "nn.asin": {"x": POSITIVE / 4},
    "nn.acos": {"x": POSITIVE / 4},
    "nn.pow": {"a": POSITIVE},
    "nn.reduce_prod": {"x": POSITIVE},
    "nn.holds": {"n": [15, 3]},
    "nn.range": {"a": [3], "b": [17], "c": [4]},
    "nn.fill_dynamic": {"shape": [3, 4]},
    "nn.reshape_dynamic": {"shape": [-1, 4]},
    "nn.broadcast_dynamic": {"shape": [4, 8]},
    "nn.slice_dynamic": {"a": [-3], "b": [100], "axes": [0], "steps": [2]},
    "nn.transpose_dynamic": {"p": [1, 0]},
    "nn.pad_dynamic": {"p": [1, -2, 0, 3]},
    "nn.resize_dynamic": {"s": [1.75, 0.5], "n": [7, 2]},
    "nn.top_k": {"k": [3]},
    "nn.one_hot": {"depth": [5], "i": [0, 3, -1, 9]},
    "nn.gather": {"i": [0, 7, -1, 3, -8, 2]},
    "nn.gather_elements": {"i": [0, 7, -1, 3, -8, 2, 5, 5]},
    "nn.gather_nd": {"i": [0, 7, -1, 3, 2, -8]},
    "nn.scatter_elements": {"i": [0, 7, -1, 3, -8, 2, 5, 6]},
    "nn.scatter_nd": {"i": [0, 7, -3]},
}
UNKNOWN = {"nn.shape_of": [3], "nn.reshape_dynamic": [6]}


def function_of(op_text: str) -> str:
    """An op's text as a function of its operands."""
    head, _, types = op_text.strip().partition(" : (")
    inputs, _, outputs = types.partition(") -> ")
    results = outputs.strip().strip("()")
    inputs = re.findall(r"tensor<[^>]*>", inputs)
    names = re.findall(r"%(\w+)", re.sub(r"\{.*\}", "", head.partition("= ")[2]))
    made = head.partition(" =")[0]
    args = ", ".join(f"%{n}: {t}" for n, t in zip(dict.fromkeys(names), inputs, strict=True))
    returned = re.sub(r"(%\w+):(\d+)", lambda m: m[0], made)
    return (
        f"func.func @main({args}) -> ({results}) {{\n  {op_text.strip()}\n"
        f"  func.return {returned} : {results}\n}}\n"
    )


def example_of(cls):
    """The function of an op's example, inputs where random ones do not suit, and sizes."""
    text = function_of(dedent(cls.example))
    given = OPERANDS.get(cls.name, {})
    if not given:
        return text, None, UNKNOWN.get(cls.name, ())
    rng = np.random.default_rng(1)
    inputs = []
    for name, shape, element in re.findall(r"%(\w+): tensor<((?:[\d?]+x)*)(\w+)>", text):
        extents = [6 if d == "?" else int(d) for d in shape.split("x")[:-1]]
        if name in given:
            values = np.resize(np.asarray(given[name]), extents)
        elif element.startswith("f"):
            values = rng.standard_normal(extents)
        else:
            values = rng.integers(0, 3, extents)
        inputs.append(values)
    return text, inputs, ()


@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.name)
def test_example(cls):
    """The example of every op, on buffers."""
    compare(*example_of(cls))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.name)
def test_native(cls):
    """The example of every op, as machine code."""
    compare_native(*example_of(cls))


@pytest.mark.mlir_opt
def test_mlir_opt_accepts(mlir_opt):
    """What the examples are lowered to is valid for the real mlir-opt.

    Products of words of integers are of a dialect that it does not have, so all are generic.
    """
    texts = [print_op(lowered(function_of(dedent(cls.example))), generic=True) for cls in OPS]
    run = subprocess.run(
        [mlir_opt, "--split-input-file", "--allow-unregistered-dialect"],
        input="\n// -----\n".join(texts),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
