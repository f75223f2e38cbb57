"""Bit patterns of the small floats are those of ml_dtypes, where that rounds once."""

import math
from fractions import Fraction
from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest
from nnc.ir.numpy_types import _SMALL
from nnc.ir.small_floats import decode, encode
from nnc.ir.types import FloatType

KINDS = sorted(_SMALL)


def patterns(kind):
    """All bit patterns, and their values by ml_dtypes."""
    width = FloatType(kind).width
    bits = np.arange(1 << width).astype(np.uint16 if width == 16 else np.uint8)
    with np.errstate(invalid="ignore"):
        return bits, bits.view(getattr(ml_dtypes, _SMALL[kind])).astype(np.float64)


def same(a, b):
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a * b) >= 0)


@pytest.mark.parametrize("kind", KINDS)
def test_every_pattern_has_its_value(kind):
    type = FloatType(kind)
    for bits, value in zip(*patterns(kind), strict=True):
        assert same(decode(int(bits), type), value)
        if not math.isnan(value):
            assert same(decode(encode(value, type), type), value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_floats_round_as_in_ml_dtypes(kind, seed):
    """Of 32 bits, so that a conversion by way of float does not round before."""
    type, random = FloatType(kind), np.random.default_rng(seed)
    _, values = patterns(kind)
    finite = np.unique(values[np.isfinite(values)])
    between = (finite[1:] + finite[:-1]) / 2  # the ties
    near = np.concatenate([finite, random.permutation(between)[:512]])
    drawn = random.choice(finite, 512) * random.uniform(0.4, 2.5, 512)
    with np.errstate(over="ignore"):
        floats = np.concatenate([near, drawn]).astype(np.float32)
        floats = floats[np.isfinite(floats)]
        wanted = floats.astype(getattr(ml_dtypes, _SMALL[kind])).astype(np.float64)
    for given, value in zip(floats.tolist(), wanted.tolist(), strict=True):
        assert same(decode(encode(given, type), type), value), given


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "f8E8M0FNU"])
def test_doubles_round_once(kind):
    """A double next to a tie goes to its own side, which is exact arithmetic's answer."""
    type = FloatType(kind)
    _, values = patterns(kind)
    finite = [Fraction(v) for v in np.unique(values[np.isfinite(values)])]
    step = max(1, len(finite) // 300)
    for low, high in list(pairwise(finite))[::step]:
        tie = float((low + high) / 2)
        assert decode(encode(math.nextafter(tie, -math.inf), type), type) == low
        assert decode(encode(math.nextafter(tie, math.inf), type), type) == high
