"""Channels of zeros: pairs of ops between two convolutions of 19 channels keep the result."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.dialects import nn
from nnc.dialects.strict_math import STRICT_MATH
from nnc.ir.attributes import DenseElements, UnitAttr
from nnc.ir.decisions import Decisions
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.ir.types import TensorType, f32
from nnc.passes.nn.pad_channels import PADDED, PadChannels

from .graphs import graph, interpret

COUNT, BLOCK = 19, 4
RNG = np.random.default_rng(0)


def constant(b, array):
    return b(nn.Constant(DenseElements.from_numpy(np.asarray(array, np.float32)))).result


def numbers(*shape):
    return RNG.standard_normal(shape)


def conv(b, x, results, depth=None, size=1, **attributes):
    depth = x.type.shape[1] if depth is None else depth
    weight = constant(b, numbers(results, depth, size, size))
    return b(nn.Conv(x, weight, constant(b, numbers(results)), **attributes)).result


def gate(b, x):
    """Squeeze and excite, whose sigmoids are 0.5 in the channels appended."""
    mean = b(nn.ReduceMean(x, (2, 3), True)).result
    excited = b(nn.Sigmoid(conv(b, conv(b, mean, 6), COUNT))).result
    return b(nn.Mul(excited, x)).result


def branches(b, x):
    """Two readers, one of which needs the plain channels."""
    both = b(nn.Concat([x, b(nn.Relu(x)).result], 1)).result
    return b(nn.Add(conv(b, both, COUNT), x)).result


def resized(b, x):
    N, C, H, W = x.type.shape
    scales = (1.0, 1.0, 2.0, 1.0)
    return b(nn.Resize(x, scales=scales, out=TensorType((N, C, 2 * H, W), f32))).result


def along(name, *arguments, **attributes):
    """An op whose operands are x and constants."""

    def build(b, x):
        rest = [constant(b, make()) for make in arguments]
        return b(getattr(nn, name)(x, *rest, **attributes)).result

    return build


def per_channel():
    return 1 + numbers(COUNT, 1, 1) ** 2


def whole_rank():
    return 1 + numbers(1, COUNT, 1, 1) ** 2


PASSED_ON = {
    "relu": along("Relu"),
    "sum of channels": along("Add", per_channel),
    "product of rank 4": along("Mul", whole_rank),
    "gate": gate,
    "residual": lambda b, x: b(nn.Add(conv(b, x, COUNT), x)).result,
    "depthwise": lambda b, x: conv(b, x, COUNT, 1, 3, groups=COUNT, pads=(1, 1, 1, 1)),
    "two branches": branches,
}
"""Pieces that zeros pass through, or that get what they need besides."""

OF_ZEROS = {
    "max pool": along("MaxPool", kernel=(2, 2), pads=(0, 0, 1, 1)),
    "average pool": along("AvgPool", kernel=(2, 2), pads=(0, 0, 1, 1)),
    "pad": along("Pad", lambda: 0.0, pads=(0, 0, 1, 0, 0, 0, 0, 2)),
    "mean": along("ReduceMean", axes=(2,), keep_dims=True),
    "resize": resized,
}
"""Ops that pass on zeros, and no other numbers."""

NOT_FINITE = {
    "quotient": along("Div", per_channel),
    "logarithm": lambda b, x: b(nn.Log(b(nn.Abs(x)).result)).result,
}
"""Ops of zeros that are not finite."""

NO_ZEROS = {"sum with a number": along("Add", lambda: 0.5)}
"""Ops that make other numbers of zeros, which ops of the second kind do not pass on."""

STOPS = {
    "logarithm of sums": lambda b, x: b(nn.ReduceLogSum(b(nn.Abs(x)).result, (2,), True)).result,
    "sum of exponentials": along("ReduceLogSumExp", axes=(3,), keep_dims=True),
}
"""Reductions of which zeros do not give 0."""

PIECES = PASSED_ON | OF_ZEROS | NOT_FINITE | NO_ZEROS | STOPS


def padded(module):
    """Run the pass on a module, which has to pad where it can; how many sets of tensors it did."""
    context = PassContext(decisions=Decisions())
    PadChannels(block=BLOCK, target="x86-64-v4").run(module.lookup("main"), context)
    module.verify()
    return sum(one.taken == PADDED for one in context.decisions.made)


def built(*pieces):
    def build(b, x):
        y = conv(b, x, COUNT, size=3)
        for piece in pieces:
            y = piece(b, y)
        return conv(b, y, 8)

    x = RNG.standard_normal((2, 8, 9, 8)).astype(np.float32)
    return graph(build, x), x


@pytest.mark.parametrize("second", PIECES)
@pytest.mark.parametrize("first", PIECES)
def test_pairs_keep_the_result(first, second):
    module, x = built(PIECES[first], PIECES[second])
    (expected,) = interpret(module, x)
    found = padded(module)
    (result,) = interpret(module, x)
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4 * scale)
    if second in PASSED_ON and first in {*PASSED_ON, "max pool", "average pool", "pad"}:
        assert found


@pytest.mark.parametrize("name", NOT_FINITE)
def test_channels_whose_zeros_would_not_stay_finite_are_left(name):
    module, _ = built(PIECES[name])
    text = str(module.lookup("main"))
    assert padded(module) == 0
    assert str(module.lookup("main")) == text


def test_zeros_come_from_weights():
    """Between two convolutions nothing is padded or cut off but weights and bias."""
    module, _ = built(PIECES["depthwise"], PIECES["relu"])
    assert padded(module) == 1
    made = [op for op in module.walk() if isinstance(op, nn.Pad | nn.Slice)]
    assert len(made) == 5  # weights and bias of two convolutions, and weights of the third
    assert all(op.x.defined_by(nn.Constant) for op in made)
    extents = [op.out.type.shape[1] for op in module.walk() if isinstance(op, nn.Conv)]
    assert extents == [20, 20, 8]


def test_results_are_cut():
    """A result of the model has the channels that it had, whoever else reads it."""

    def build(b, x):
        y = conv(b, x, COUNT, size=3)
        z = conv(b, b(nn.Relu(y)).result, COUNT, size=3)
        return conv(b, z, COUNT, size=3)

    x = RNG.standard_normal((1, 16, 40, 40)).astype(np.float32)
    module = graph(build, x)
    (expected,) = interpret(module, x)
    assert padded(module) == 3
    (result,) = interpret(module, x)
    assert result.shape == expected.shape == (1, COUNT, 34, 34)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-3)


def test_strict_math_keeps_channels():
    module, _ = built(PIECES["relu"])
    module.attributes[STRICT_MATH] = UnitAttr()
    assert padded(module) == 0


def test_declarations_are_left():
    module = parse_module("func.func private @elsewhere(tensor<1x19x4x4xf32>)")
    PadChannels(block=BLOCK, target="x86-64-v4").run(module.lookup("elsewhere"), PassContext())
