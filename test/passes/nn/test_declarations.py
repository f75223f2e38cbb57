"""What ops declare of themselves is what passes go by."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.dialects import linalg, nn
from nnc.dialects.nn.blocked import BlockedConvOp
from nnc.dialects.nn.traits import Fusion
from nnc.ir.diagnostics import DeclarationError
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.nn_to_linalg import LowerToLinalg
from nnc.lowering.nn_to_linalg.table import lowers
from nnc.numerics.interpreter import Interpreter
from nnc.passes.canonicalize import Canonicalize
from nnc.passes.nn import choose_layouts
from nnc.passes.nn.building import arranged
from nnc.passes.nn.choose_layouts import ChooseLayouts
from nnc.passes.nn.fold_constants import FoldConstants
from nnc.passes.nn.fuse import Fuse

from .graphs import graph, interpret, transform, value_of


class OutermostConv(BlockedConvOp, name="nn_test.outermost_conv"):
    """A blocked convolution whose weights have the operand's blocks outermost."""

    arrangement = "(mo mi) (co ci) k.. -> co mo k.. ci mi"
    weight_rank = 1
    body = (
        "out[n, mo, p.., mi] += x[n, co, p..*strides + k..*dilations, ci]"
        " * weight[co, mo, k.., ci, mi]"
    )
    example = (
        "%y = nn_test.outermost_conv %x, %w : "
        "(tensor<1x2x9x9x16xf32>, tensor<2x4x3x3x16x8xf32>) -> tensor<1x4x7x7x8xf32>"
    )


def test_a_new_blocked_convolution(rng, monkeypatch):
    """Its class and the choice of it are enough for layouts, weights, fusion and code."""
    monkeypatch.setattr(choose_layouts, "form_of", lambda conv, block, costs: OutermostConv)
    x = rng.standard_normal((1, 8, 7, 6)).astype(np.float32)
    weight, bias = rng.standard_normal((12, 8, 3, 3)), rng.standard_normal(12)

    def build(b, x):
        held = [value_of(b, a.astype(np.float32)) for a in (weight, bias)]
        return b(nn.Relu(b(nn.Conv(x, *held, pads=(1, 1, 1, 1)))))

    module = graph(build, x)
    expected = interpret(module, x)[0]
    transform(module, ChooseLayouts(block=4), FoldConstants(limit=0), Canonicalize())
    (conv,) = [op for op in module.walk() if isinstance(op, OutermostConv)]
    assert conv.weight.defined_by(nn.Constant) is not None
    transform(module, Fuse())
    assert {"nn.pad", "nn.add", "nn.relu"} <= {op.name for op in conv.parent}
    transform(module, LowerToLinalg())
    products = [op for op in module.walk() if isinstance(op, linalg.Generic)]
    assert sum("reduction" in op.iterators for op in products) == 1
    out = np.zeros_like(expected)
    Interpreter(module).call("main", [x, out])
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "text,sizes,order",
    [
        ("(a b) c.. -> c.. b a", {"b": 3}, lambda x: x.reshape(2, 3, 5, 7).transpose(2, 3, 1, 0)),
        ("a 1 (b c) -> c a b", {"b": 2}, lambda x: x.reshape(6, 2, 4).transpose(2, 0, 1)),
    ],
)
def test_arranged(rng, text, sizes, order):
    x = rng.standard_normal((6, 1, 8) if " 1 " in text else (6, 5, 7)).astype(np.float32)
    module = graph(lambda b, x: arranged(b, x, text, sizes), x)
    np.testing.assert_array_equal(interpret(module, x)[0], order(x))


def test_declared_kinds():
    """Each kind that fusion knows, and what a class says for all below it."""
    assert nn.BatchNorm.fusion is nn.Add.fusion is Fusion.ELEMENTWISE
    assert nn.Softmax.fusion is Fusion.NORMALIZATION and nn.MaxPool.fusion is Fusion.REDUCTION
    assert all(cls.fusion is Fusion.PRODUCT for cls in BlockedConvOp.__subclasses__())
    assert nn.Gather.fusion is Fusion.ALONE and nn.Reshape.fusion is Fusion.VIEW


def test_a_slice_of_a_scalar():
    """Has empty lists of starts and steps."""
    module = parse_module("""
      func.func @f(%x: tensor<f32>) -> tensor<f32> {
        %y = nn.slice %x {starts = array<i64>, steps = array<i64>} : (tensor<f32>) -> tensor<f32>
        return %y : tensor<f32>
      }""")
    (op,) = (op for op in module.walk() if isinstance(op, nn.Slice))
    assert op.keeps_rows
    assert op.operands_by_parts() is None


def test_a_lowering_in_place_of_a_comprehension_is_declared():
    """Readers go by the declaration: a lowering that nobody told them of would be passed over."""
    with pytest.raises(DeclarationError, match=r"'nn.relu' has a comprehension; say has_own"):
        lowers(nn.Relu)(lambda e, op: None)
