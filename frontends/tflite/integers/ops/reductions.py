"""Sums, means, products and extremes of integers along axes, and images in other sizes."""

from __future__ import annotations

from ....common import tensorflow as tf
from ....common.fixed_point import Multiplier
from ....common.vocabulary import *
from ...layer import TfliteLayer
from ..rows import INTEGERS
from ..steps import centred, of_input, of_output, stored


def _reduced(n: TfliteLayer, x: Value, axes: Value, op: Any) -> Value:
    return tf.reduction(n, x, axes, op, bool(n.options.keep_dims))


INTEGERS.add(
    {
        "REDUCE_MAX": lambda n, x, axes: _reduced(n, x, axes, nn.ReduceMax),
        "REDUCE_MIN": lambda n, x, axes: _reduced(n, x, axes, nn.ReduceMin),
    }
)


def _between_steps(n: TfliteLayer) -> Multiplier:
    return Multiplier.of(np.float64(of_input(n, 0).scale) / np.float64(of_output(n).scale))


@INTEGERS("SUM")
def sum_(n: TfliteLayer, x: Value, axes: Value) -> Value:
    total = Term(n, _reduced(n, centred(n, 0, x).value, axes, nn.ReduceSum))
    return stored(n, _between_steps(n)(total))


@INTEGERS("MEAN")
def mean(n: TfliteLayer, x: Value, axes: Value) -> Value:
    """The sum by a multiplier that is divided by the number of elements, as integers are."""
    total = Term(n, _reduced(n, centred(n, 0, x).value, axes, nn.ReduceSum))
    m = _between_steps(n)
    count = math.prod(
        n.extent(x, axis)
        for axis in set(normalize_axes(n, n.known_ints(axes, "axes"), x.type.rank))
    )
    shift = min(max(count, 1).bit_length() - 1, 32, 31 + int(m.shift))
    significand = (int(m.significand) << shift) // max(count, 1)
    part = Multiplier(np.array(significand, np.int32), np.array(int(m.shift) - shift, np.int32))
    return stored(n, part(total))
