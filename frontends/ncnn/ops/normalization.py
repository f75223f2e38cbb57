"""Normalizations, softmax and reductions."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import NcnnLayer, by_axes, part, rows


@rows("BatchNorm")
def batch_norm_(n: NcnnLayer, x: Value) -> Value:
    slope, bias, mean, variance = (n.weight(name) for name in ("slope", "bias", "mean", "variance"))
    return batch_norm(n, x, slope, bias, mean, variance, n.float(1))


def _affine(n: NcnnLayer) -> tuple[Value | None, Value | None]:
    """The scale and the bias; None for missing ones."""
    scale, bias = (n.weight(k) if n.has_weight(k) else None for k in ("scale", "bias"))
    return scale, bias


rows.formulas(
    {
        "InstanceNorm": lambda n, x: _instance_normed(n, x),
        "GroupNorm": lambda n, x: group_normed(n, x, *_affine(n), n.int(0, 1), n.float(2, 0.001)),
        "LayerNorm": lambda n, x: layer_normed(n, x, *_over_last(n, x), n.float(1, 0.001)),
        "RMSNorm": lambda n, x: _rms_normed(n, x),
    }
)


def _instance_normed(n: NcnnLayer, x: Value) -> Value:
    if x.type.rank > 3:
        return instance_normed(n, x, *_affine(n), n.float(1, 0.001))
    # Vectors and matrices are of one channel, with the parameters' first elements.
    scale, bias = (None if v is None else part(n, v, 0, 0, 1) for v in _affine(n))
    whole = reshape(n, x, [1, 1, *dims(x)[1:]])
    return reshape(n, instance_normed(n, whole, scale, bias, n.float(1, 0.001)), dims(x))


def _rms_normed(n: NcnnLayer, x: Value) -> Value:
    scale, _, axes = _over_last(n, x)
    return rms_normed(n, x, scale, axes, n.float(1, 0.001))


def _over_last(n: NcnnLayer, x: Value) -> tuple[Value | None, Value | None, tuple[int, ...]]:
    """The scale, the bias and the axes of a normalization over the last axes.

    The number of parameters tells how many axes these are. ncnn normalizes each channel by itself
    even if there are more, and then uses the first of the parameters.
    """
    size, count, axis = n.int(0), 1, x.type.rank
    while count < max(size, 2) and axis > 1:
        axis -= 1
        count *= n.extent(x, axis)
        if size <= 0 or count == size:
            break
    if size > 0 and count != size:
        raise n.error(f"no last dimensions have {size} elements")
    scale, bias = _affine(n)
    if axis == 1 < x.type.rank - 1:
        axis, count = 2, count // n.extent(x, 1)
        scale, bias = (None if v is None else part(n, v, 0, 0, count) for v in (scale, bias))
    return scale, bias, tuple(range(axis, x.type.rank))


@rows("LRN")
def lrn(n: NcnnLayer, x: Value) -> Value:
    size, alpha, beta, bias = n.int(1, 5), n.float(2, 1.0), n.float(3, 0.75), n.float(4, 1.0)
    return (local_response_in_space if n.int(0) else local_response)(n, x, size, alpha, beta, bias)


@rows("MVN")
def mvn(n: NcnnLayer, x: Value) -> Value:
    axes = tuple(range(1 if n.int(1) else 2, x.type.rank))
    epsilon = n.float(2, 0.0001)  # read in any case: a parameter that nobody reads is an error
    return deviations(n, x, axes, epsilon if n.int(0) else None)


@rows("Normalize")
def normalize(n: NcnnLayer, x: Value) -> Value:
    spatial, channels = n.int(0), n.int(4, 1)
    first, last = 1 if channels else 2, x.type.rank if spatial else 2
    if not spatial and not channels:
        raise n.error("it normalizes along no dimension")
    t, epsilon = Term(n, x), n.float(2, 0.0001)
    total = (t * t).sum(*range(first, last), keep=True)
    match n.int(9):
        case 0:
            norm = (total + epsilon).function(nn.Sqrt)
        case 1:
            norm = total.function(nn.Sqrt).max(epsilon)
        case _:
            norm = total.max(epsilon).function(nn.Sqrt)
    scaled = t / norm
    return n(nn.Mul(scaled.value, n.per_channel("scale", x)))


@rows("Softmax")
def softmax(n: NcnnLayer, x: Value) -> Value:
    if n.int(0) != 0 and not n.int(1):
        raise n.error("written by an old converter, whose axes counted a batch; convert it anew")
    return n(nn.Softmax(x, axis=n.axis(x, n.int(0))))


_REDUCTIONS = {
    0: nn.ReduceSum,
    1: nn.ReduceL1,
    2: nn.ReduceSumSquare,
    3: nn.ReduceMean,
    4: nn.ReduceMax,
    5: nn.ReduceMin,
    6: nn.ReduceProd,
    7: nn.ReduceL1,
    8: nn.ReduceL2,
    9: nn.ReduceLogSum,
    10: nn.ReduceLogSumExp,
}


@rows("Reduction")
def reduction(n: NcnnLayer, x: Value) -> Value:
    if n.int(0) not in _REDUCTIONS:
        raise n.error(f"operation {n.int(0)}")
    if n.ints(3) and not n.int(5):
        raise n.error("written by an old converter, whose axes counted a batch; convert it anew")
    all_ = bool(n.int(1, 1)) or not n.ints(3)
    axes = tuple(range(1, x.type.rank)) if all_ else by_axes(n, x, n.ints(3))
    found = reduced(n, x, _REDUCTIONS[n.int(0)], axes, keep=bool(n.int(4)))
    if found.type.rank == 1:
        found = reshape(n, found, [(found, 0), 1])
    factor = n.float(2, 1.0)
    return found if factor == 1 else n(nn.Mul(found, n.scalar(factor, found)))


@rows("ArgMax")
def arg_max(n: NcnnLayer, x: Value) -> Value:
    """The positions of the largest elements as floats; with `out_max_val`, a row of their values
    too.
    """
    count = n.int(1, 1)
    values, places = largest(n, flatten(n, x, 1), n.constant(count, i64), 1)
    found = n.cast(places, f32)
    if not n.int(0):
        return found
    return reshape(n, n(nn.Concat([values, found], axis=0)), [1, 2, count])


@rows("StatisticsPooling")
def statistics(n: NcnnLayer, x: Value) -> Value:
    if x.type.rank < 4:  # vectors and matrices are of one channel
        x = reshape(n, x, [1, 1, *dims(x)[1:]])
    axes = tuple(range(2, x.type.rank))
    spread, mean = variance(n, x, axes)
    return n(nn.Concat([mean, n(nn.Sqrt(spread))], axis=1)) if n.int(0) else mean
