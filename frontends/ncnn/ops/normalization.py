"""Normalizations, softmax and reductions."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import NcnnLayer, by_axes, rows


@rows("BatchNorm")
def batch_norm_(n: NcnnLayer, x: Value) -> Value:
    slope, bias, mean, variance = (n.weight(name) for name in ("slope", "bias", "mean", "variance"))
    return batch_norm(n, x, slope, bias, mean, variance, n.float(1))


def _affine(n: NcnnLayer, size: int) -> tuple[Value, Value]:
    """Scale and bias; ones and zeros where the layer has none."""
    if n.has_weight("scale"):
        return n.weight("scale"), n.weight("bias")
    return n.stored("scale", np.ones(size)), n.stored("bias", np.zeros(size))


@rows("InstanceNorm")
def instance_norm(n: NcnnLayer, x: Value) -> Value:
    scale, bias = _affine(n, n.extent(x, 1))
    return n(nn.InstanceNorm(x, scale, bias, epsilon=n.float(1, 0.001)))


@rows("GroupNorm")
def group_norm(n: NcnnLayer, x: Value) -> Value:
    scale, bias = _affine(n, n.extent(x, 1))
    return n(nn.GroupNorm(x, scale, bias, groups=n.int(0, 1), epsilon=n.float(2, 0.001)))


def _over_last(n: NcnnLayer, x: Value, make: Callable[[int, tuple], Value]) -> Value:
    """A normalization over the last dimensions, which have as many elements as the parameters."""
    shape, size, count, axis = x.type.shape, n.int(0), 1, x.type.rank
    while count < max(size, 2) and axis > 1:
        axis -= 1
        count *= n.extent(x, axis)
        if size <= 0 or count == size:
            break
    if size > 0 and count != size:
        raise n.error(f"no last dimensions have {size} elements")
    return make(axis, shape[axis:])


@rows("LayerNorm")
def layer_norm(n: NcnnLayer, x: Value) -> Value:
    def make(axis: int, shape: tuple) -> Value:
        size = math.prod(shape)
        scale, bias = (reshape(n, v, shape) for v in _affine(n, size))
        return n(nn.LayerNorm(x, scale, bias, axis=axis, epsilon=n.float(1, 0.001)))

    return _over_last(n, x, make)


@rows("RMSNorm")
def rms_norm(n: NcnnLayer, x: Value) -> Value:
    def make(axis: int, shape: tuple) -> Value:
        scale = n.array_of("scale") if n.has_weight("scale") else np.ones(math.prod(shape))
        value = n.stored("scale", scale.reshape(shape))
        return n(nn.RmsNorm(x, value, axis=axis, epsilon=n.float(1, 0.001)))

    return _over_last(n, x, make)


@rows("LRN")
def lrn(n: NcnnLayer, x: Value) -> Value:
    size, alpha, beta, bias = n.int(1, 5), n.float(2, 1.0), n.float(3, 0.75), n.float(4, 1.0)
    if n.int(0) == 0:
        return n(nn.Lrn(x, size=size, alpha=alpha, beta=beta, bias=bias))
    before = size // 2
    pads = (before, before, size - before - 1, size - before - 1)
    squares = n(nn.Mul(x, x))
    near = n(nn.AvgPool(squares, kernel=(size, size), pads=pads, count_include_pad=True))
    return (Term(n, x) * (Term(n, near) * alpha + bias) ** -beta).value


@rows("MVN")
def mvn(n: NcnnLayer, x: Value) -> Value:
    axes = tuple(range(1 if n.int(1) else 2, x.type.rank))
    t = Term(n, x)
    centered = t - t.made(nn.ReduceMean(x, axes=axes, keep_dims=True))
    if not n.int(0):
        return centered.value
    spread = (centered * centered).value
    deviation = t.made(nn.ReduceMean(spread, axes=axes, keep_dims=True)).function(nn.Sqrt)
    return (centered / (deviation + n.float(2, 0.0001))).value


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
    found = n(_REDUCTIONS[n.int(0)](x, axes=axes, keep_dims=bool(n.int(4))))
    if found.type.rank == 1:
        found = reshape(n, found, [(found, 0), 1])
    factor = n.float(2, 1.0)
    return found if factor == 1 else n(nn.Mul(found, n.scalar(factor, found)))


@rows("ArgMax")
def arg_max(n: NcnnLayer, x: Value) -> Value:
    """The largest elements' positions as floats; with `out_max_val`, their values above them."""
    count = n.int(1, 1)
    values, places = largest(n, flatten(n, x, 1), n.constant(count, i64), 1)
    found = n.cast(places, f32)
    if not n.int(0):
        return found
    return reshape(n, n(nn.Concat([values, found], axis=0)), [1, 2, count])


@rows("StatisticsPooling")
def statistics(n: NcnnLayer, x: Value) -> Value:
    axes = tuple(range(2, x.type.rank))
    spread, mean = variance(n, x, axes)
    return n(nn.Concat([mean, n(nn.Sqrt(spread))], axis=1)) if n.int(0) else mean
