"""Tensors that are quantized twice by the same numbers: NumPy's arithmetic of f32 is the oracle."""

import numpy as np
import pytest
from nnc.dialects import nn
from nnc.ir.numpy_types import numpy_to_type
from nnc.ir.types import TensorType, f32
from nnc.passes.canonicalize import Canonicalize
from nnc.passes.nn.merge_quantizations import SCALES, MergeQuantizations

from .graphs import graph, interpret, names, t, transform, value_of


def dequantized(b, q, scale, zero):
    real = b(nn.Cast(q, out=TensorType(q.type.shape, f32))).result
    shifted = b(nn.Sub(real, value_of(b, np.float32(zero)))).result
    return b(nn.Mul(shifted, value_of(b, np.float32(scale)))).result


def quantized(b, x, scale, zero, dtype=np.uint8, limits=None):
    low, high = limits or (np.iinfo(dtype).min, np.iinfo(dtype).max)
    steps = b(nn.Round(b(nn.Div(x, value_of(b, np.float32(scale)))).result)).result
    shifted = b(nn.Add(steps, value_of(b, np.float32(zero)))).result
    bounds = [value_of(b, np.float32(bound)) for bound in (low, high)]
    clipped = b(nn.Clip(shifted, *bounds)).result
    return b(nn.Cast(clipped, out=TensorType(x.type.shape, numpy_to_type(np.dtype(dtype)))))


MOVES = {
    "none": lambda b, x: x,
    "reshape": lambda b, x: b(nn.Reshape(x, out=t(6, 8))).result,
    "transpose": lambda b, x: b(nn.Transpose(x, (2, 0, 1))).result,
    "slice": lambda b, x: b(nn.Slice(x, (0, 3, 0), (1, -1, 2), out=t(2, 3, 2))).result,
    "split": lambda b, x: b(nn.Split(x, 2, outs=[t(2, 6, 1), t(2, 6, 3)])).results[1],
    "broadcast": lambda b, x: b(nn.BroadcastTo(x, out=t(3, 2, 6, 4))).result,
    "concat": lambda b, x: b(nn.Concat([x, x], 1, out=t(2, 12, 4))).result,
    "several": lambda b, x: (
        b(
            nn.Concat(
                [b(nn.Transpose(x, (0, 2, 1))).result, b(nn.Reshape(x, out=t(2, 4, 6))).result], 0
            )
        ).result
    ),
}


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
@pytest.mark.parametrize("move", MOVES)
def test_moved_and_quantized_again(move, dtype):
    limits = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(limits.min, limits.max + 1, (2, 6, 4)).astype(dtype)

    def build(b, q):
        return quantized(b, MOVES[move](b, dequantized(b, q, 0.037, 3)), 0.037, 3, dtype)

    module = graph(build, x)
    (expected,) = interpret(module, x)
    transform(module, MergeQuantizations(), Canonicalize())
    (found,) = interpret(module, x)
    assert "nn.round" not in names(module)
    assert found.dtype == expected.dtype and (found == expected).all()


def test_what_is_read_twice_is_moved_once():
    x = np.arange(48, dtype=np.uint8).reshape(2, 6, 4)

    def build(b, q):
        moved = MOVES["transpose"](b, dequantized(b, q, 0.1, 3))
        return [quantized(b, moved, 0.1, 3), quantized(b, moved, 0.1, 3)]

    module = transform(graph(build, x), MergeQuantizations(), Canonicalize())
    assert names(module) == ["nn.transpose"]


@pytest.mark.parametrize(
    "scale, zero, dtype, limits",
    [
        (0.1000001, 3, np.uint8, None),
        (0.1, 4, np.uint8, None),
        (0.1, 3, np.int8, None),
        (0.1, 3, np.uint8, (1, 255)),
        (0.1, 3, np.uint8, (0, 254)),
    ],
    ids=["scale", "zero", "type", "low", "high"],
)
def test_what_changes_stays(scale, zero, dtype, limits):
    x = np.arange(48, dtype=np.uint8).reshape(2, 6, 4)

    def build(b, q):
        return quantized(b, dequantized(b, q, 0.1, 3), scale, zero, dtype, limits)

    module = transform(graph(build, x), MergeQuantizations())
    assert "nn.round" in names(module)


@pytest.mark.parametrize("zero", [0.5, 2.0**20, np.inf, np.nan])
def test_zero_points_that_are_no_integers_of_few_bits_stay(zero):
    x = np.arange(48, dtype=np.uint8).reshape(2, 6, 4)

    def build(b, q):
        return quantized(b, dequantized(b, q, 0.1, zero), 0.1, zero)

    assert "nn.round" in names(transform(graph(build, x), MergeQuantizations()))


def test_divisions_by_a_power_of_two():
    """They are products by then."""
    x = np.arange(48, dtype=np.uint8).reshape(2, 6, 4)

    def build(b, q):
        return quantized(b, MOVES["transpose"](b, dequantized(b, q, 0.25, 3)), 0.25, 3)

    module = transform(graph(build, x), Canonicalize())
    assert "nn.div" not in names(module)
    transform(module, MergeQuantizations(), Canonicalize())
    assert names(module) == ["nn.transpose"]
    assert (interpret(module, x)[0] == x.transpose(2, 0, 1)).all()


@pytest.mark.parametrize("outside", [SCALES[0] / 2, SCALES[1] * 2, -0.1, 0.0, np.inf, np.nan])
def test_unusual_scales_stay(outside):
    x = np.arange(48, dtype=np.uint8).reshape(2, 6, 4)

    def build(b, q):
        return quantized(b, dequantized(b, q, outside, 3), outside, 3)

    assert "nn.round" in names(transform(graph(build, x), MergeQuantizations()))


def test_shared_concatenations_are_looked_at_once():
    """Each of thirty concatenates the one before with itself, of one element of an empty axis."""
    x = np.zeros((0, 3), np.uint8)

    def build(b, q):
        real = dequantized(b, q, 0.1, 3)
        for _ in range(30):
            real = b(nn.Concat([real, real], 0, out=t(0, 3))).result
        return quantized(b, real, 0.1, 3)

    module = transform(graph(build, x), MergeQuantizations())
    assert names(module).count("nn.concat") == 60


def test_every_integer_comes_back():
    """What the pass relies on, by NumPy: (q - zero) * scale / scale is rounded to q - zero."""
    random = np.random.default_rng(0)
    steps = np.arange(-(1 << 16), 1 << 16).astype(np.float32)
    exponents = random.uniform(*np.log2(SCALES), 200)
    for scale in (*np.exp2(exponents).astype(np.float32), *np.float32(SCALES)):
        assert (np.round(steps * scale / scale) == steps).all(), scale
        if np.frexp(scale)[0] == 0.5:
            assert (np.round(steps * scale * np.float32(1 / scale)) == steps).all()
