"""Sums, means, products and extremes of integers along axes, and images in other sizes."""

from __future__ import annotations

from functools import partial

from ....common import tensorflow as tf
from ....common.fixed_functions import leading_zeros
from ....common.fixed_point import Multiplier, scaled
from ....common.loops import Iteration, while_loop
from ....common.vocabulary import *
from ...layer import TfliteLayer
from ..rows import INTEGERS
from ..steps import centred, of_input, of_output, stored


def _reduced(n: TfliteLayer, x: Value, axes: Value, op: Any) -> Value:
    return tf.reduction(n, x, n.axes(x, axes), op, bool(n.options.keep_dims))


INTEGERS.add(
    {
        "REDUCE_MAX": lambda n, x, axes: _reduced(n, x, axes, nn.ReduceMax),
        "REDUCE_MIN": lambda n, x, axes: _reduced(n, x, axes, nn.ReduceMin),
    }
)


def _between_steps(n: TfliteLayer) -> Multiplier:
    return Multiplier.of(np.float64(of_input(n, 0).scale) / np.float64(of_output(n).scale))


def _count(n: TfliteLayer, x: Value, axes: Value) -> Term:
    """The number of elements that are reduced to one."""
    found = Term(n, n.constant(1, i64))
    for axis in n.known_ints(n.axes(x, axes), "axes"):
        found = found * extent(n, (x, axis))
    return found


def _of_some(n: TfliteLayer, count: Term, found: Value) -> Value:
    """The found integers, or 0 where there are no elements, as in the kernels."""
    known = n.known(count.value)
    if known is not None and int(known):
        return found
    return count.equals(0).choose(0, Term(n, found)).value


@INTEGERS("SUM")
def sum_(n: TfliteLayer, x: Value, axes: Value) -> Value:
    total = Term(n, _reduced(n, centred(n, 0, x).value, axes, nn.ReduceSum))
    return _of_some(n, _count(n, x, axes), stored(n, _between_steps(n)(total)))


@INTEGERS("MEAN")
def mean(n: TfliteLayer, x: Value, axes: Value) -> Value:
    """The mean: the sum times a multiplier divided by the number of elements, as integers."""
    total = Term(n, _reduced(n, centred(n, 0, x).value, axes, nn.ReduceSum))
    m, number = _between_steps(n), _count(n, x, axes)
    return _of_some(n, number, stored(n, _share(n, m, number)(total)))


def _share(n: TfliteLayer, m: Multiplier, number: Term) -> Callable[[Term], Term]:
    """The multiplier divided by a count; its significand is shifted up first, to keep all bits."""
    most = 31 + int(m.shift)
    if n.known(number.value) is not None:
        count = max(n.known_int(number.value, "the number of elements"), 1)
        shift = min(count.bit_length() - 1, 32, most)
        significand = (int(m.significand) << shift) // count
        return Multiplier(np.array(significand, np.int32), np.array(int(m.shift) - shift, np.int32))
    few = number.max(1).cast(i32)
    shift = (31 - leading_zeros(few)).min(most)
    whole = (constant(n, int(m.significand), i64) << shift.cast(i64)) / few.cast(i64)
    return partial(scaled, significand=whole.cast(i32), shift=-shift + int(m.shift))


@INTEGERS("REDUCE_PROD")
def product(n: TfliteLayer, x: Value, axes: Value) -> Value:
    """A product that is rescaled to the result's scale at each factor.

    Each multiplication is by `scale of x / scale of the result ** (1 / factors)`, in integers of
    which 32 bits are kept. Source: reduce.cc and reference/reduce.h of TensorFlow Lite.
    """
    along = n.known_ints(n.axes(x, axes), "axes")
    others = [axis for axis in range(x.type.rank) if axis not in along]
    count = math.prod(n.extent(x, axis) for axis in along)
    share = np.float64(of_output(n).scale) ** (1.0 / max(count, 1))
    part = Multiplier.of(np.float64(of_input(n, 0).scale) / share)
    rest = [(x, axis) for axis in others]
    factors = centred(n, 0, x).cast(i64).transpose(*along, *others).reshape(count, *rest)
    kept = [1 if axis in along else (x, axis) for axis in range(x.type.rank)]
    shape = kept if n.options.keep_dims else rest
    if not count:
        ones = Term(n, broadcast(n, n.constant(1.0, f32), shape))
        return n.quantized(0, ones.value)

    def multiplied(i: Value, going: Value, states: list[Value]) -> Iteration:
        at = Term(n, n(nn.Add(i, n.constant(1, i64))))
        found = Term(n, states[0]).cast(i64) * factors.gather(at)
        return Iteration([part(found).value])

    first = factors.column(0, 0).cast(i32)
    (last,), _ = while_loop(n, multiplied, [first.value], n.constant(count - 1, i64))
    return stored(n, part(Term(n, last).cast(i64)).reshape(*shape))
