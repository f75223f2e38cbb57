"""Layers with weights: convolutions, inner products, and locally connected layers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...common.vocabulary import *
from ...common.windows import check_fit
from ..layer import DarknetLayer, of_images, rows
from .activations import activated

EPSILON = 1e-6
_STATISTICS = ("scale", "mean", "variance")


def normalized(n: DarknetLayer, x: Value, bias: Value, statistics: list[Value]) -> Value:
    """A batch norm by scale, mean and variance."""
    scale, mean, variance = statistics
    return batch_norm(n, x, scale, bias, mean, variance, EPSILON)


@dataclass(frozen=True)
class Convolving:
    """The convolution options of a section."""

    filters: int
    size: int
    strides: tuple[int, int] = (1, 1)
    dilation: int = 1
    pad: int = 0
    groups: int = 1
    activation: str = "logistic"
    normalizes: bool = False
    binary: bool = False
    xnor: bool = False
    flipped: bool = False


def options_of(n: DarknetLayer, filters: int, size: int, activation: str) -> Convolving:
    """The options, of which some have defaults that depend on the section."""
    size, stride, dilation = n.int("size", size), n.int("stride", 1), n.int("dilation", 1)
    padding = n.int("padding")
    found = Convolving(
        filters,
        size,
        (n.int("stride_y", stride), n.int("stride_x", stride)),
        dilation if size > 1 else 1,
        size // 2 if n.int("pad") else padding,
        n.int("groups", 1),
        n.text("activation", activation),
        bool(n.int("batch_normalize") or n.int("cbn")),
        bool(n.int("binary")),
        bool(n.int("xnor")),
        bool(n.int("flipped")),
    )
    if min(*found.strides, found.dilation, found.groups) < 1:
        raise n.error(f"strides {list(found.strides)} in {found.groups} groups")
    if found.dilation > 1 and size != 2 * found.pad + 1:
        raise n.error(f"a dilation of {dilation} needs a padding of half the size {size}")
    return found


def weights_of(n: DarknetLayer, x: Value, how: Convolving, name: str = "") -> list[Value]:
    """The next weights of the file: bias, statistics, and those of the kernel last."""
    channels, groups, filters = n.extent(x, 1), how.groups, how.filters
    if channels % groups:
        raise n.error(f"{channels} channels in {groups} groups")
    names = ("bias", *(_STATISTICS if how.normalizes else ()))
    found = [n.matrix(f"{name}{one}", filters) for one in names]
    shape = (filters, channels // groups, how.size, how.size)
    if how.flipped:
        columns = n.matrix(f"{name}weight", math.prod(shape[1:]), filters)
        return [*found, reshape(n, n(nn.Transpose(columns, permutation=(1, 0))), shape)]
    return [*found, n.matrix(f"{name}weight", *shape)]


def convolved(n: DarknetLayer, x: Value, how: Convolving, weights: list[Value]) -> Value:
    """A convolution, its batch norm and its activation."""
    bias, *statistics, weight = weights
    pads = (how.pad * how.dilation,) * 4
    check_fit(n, x, (how.dilation * (how.size - 1) + 1,) * 2, pads)
    if how.binary or how.xnor:
        weight = _binary(n, weight)
    if how.xnor:
        x = (Term(n, x) > 0.0).cast(f32).value
        x = (Term(n, x) * 2.0 - 1.0).value
    found = convolution(
        n,
        x,
        weight,
        None if statistics else bias,
        strides=how.strides,
        dilations=(how.dilation,) * 2,
        padding=pads,
        groups=how.groups,
    )
    found = normalized(n, found, bias, statistics) if statistics else found
    return activated(n, found, how.activation)


def _binary(n: DarknetLayer, weight: Value) -> Value:
    """Each filter with its weights replaced by plus or minus their mean absolute value."""
    t = Term(n, weight)
    sizes = t.function(nn.Abs)
    mean = sizes.mean(1, 2, 3, keep=True)
    return (t > 0.0).choose(mean, -mean).value


@of_images("convolutional", "conv")
def convolutional(n: DarknetLayer, x: Value) -> Value:
    how = options_of(n, n.int("filters", 1), 1, "logistic")
    for name in ("sway", "rotate", "stretch", "stretch_sway", "coordconv"):
        if n.int(name):
            raise n.error(f"option '{name}' is not supported")
    shared = n.int("share_index", -(10**9))
    weights = n.weights()
    if shared == -(10**9):
        weights.taken[n.index] = weights_of(n, x, how)
    else:
        weights.taken[n.index] = weights.taken.get(shared if shared >= 0 else n.index + shared, [])
        if not weights.taken[n.index]:
            raise n.error(f"layer {shared} has no weights to share")
    blurs = n.int("antialiasing")
    strides, how = how.strides, replace(how, strides=(1, 1)) if blurs else how
    found = convolved(n, x, how, weights.taken[n.index])
    return blurred(n, found, strides, blurs) if blurs else found


@of_images("deconvolutional", "deconv")
def deconvolutional(n: DarknetLayer, x: Value) -> Value:
    """A transposed convolution with weights [channels, filters, size, size]."""
    how, channels = options_of(n, n.int("filters", 1), 1, "logistic"), n.extent(x, 1)
    names = ("bias", *(_STATISTICS if how.normalizes else ()))
    bias, *statistics = [n.matrix(name, how.filters) for name in names]
    found = transposed_convolution(
        n,
        x,
        n.matrix("weight", channels, how.filters, how.size, how.size),
        None if statistics else bias,
        strides=how.strides,
        dilations=(1, 1),
        padding=(how.pad,) * 4,
    )
    found = normalized(n, found, bias, statistics) if statistics else found
    return activated(n, found, how.activation)


def blurred(n: DarknetLayer, x: Value, strides: tuple[int, int], kind: int) -> Value:
    """An image smoothed and subsampled by strides; kind 2 uses windows of 2 by 2."""
    line = np.ones(2) / 2 if kind == 2 else np.array([1, 2, 1]) / 4
    count, pad = n.extent(x, 1), 0 if kind == 2 else 1
    kernel = n.constant(np.tile(np.outer(line, line), (count, 1, 1, 1)), f32)
    return convolution(
        n, x, kernel, strides=strides, dilations=(1, 1), padding=(pad,) * 4, groups=count
    )


@rows("connected", "conn")
def connected(n: DarknetLayer, x: Value) -> Value:
    return multiplied(n, x, n.int("output", 1), n.text("activation", "logistic"))


def multiplied(n: DarknetLayer, x: Value, count: int, activation: str, name: str = "") -> Value:
    """An inner product with the file's next weights, batch norm and activation."""
    flat = flatten(n, x, 1)
    size = n.extent(flat, 1)
    bias = n.matrix(f"{name}bias", count)
    weight = n(nn.Transpose(n.matrix(f"{name}weight", count, size), permutation=(1, 0)))
    found = n(nn.Matmul(flat, weight))
    if n.int("batch_normalize"):
        statistics = [n.matrix(f"{name}{one}", count) for one in _STATISTICS]
        found = normalized(n, found, bias, statistics)
    else:
        found = n(nn.Add(found, bias))
    return activated(n, found, activation)


@of_images("local")
def local(n: DarknetLayer, x: Value) -> Value:
    """A locally connected layer: a convolution with its own weights at each position."""
    filters, size, stride = n.int("filters", 1), n.int("size", 1), n.int("stride", 1)
    pad = size // 2 if n.int("pad") else 0
    if x.type.rank != 4 or None in x.type.shape or min(filters, size, stride) < 1:
        raise n.error("it needs images of known extents")
    if n.int("pad") and size != 3:  # of which Darknet itself has two ideas
        raise n.error(f"a padding of windows of {size} is not supported")
    check_fit(n, x, (size, size), (pad,) * 4)
    columns = unfolded(n, x, (size, size), (stride, stride), (1, 1), (pad,) * 4)
    counts = [(extent + 2 * pad - size) // stride + 1 for extent in x.type.shape[2:]]
    batch, width, places = columns.type.shape
    bias = n.matrix("bias", filters, *counts)
    weight = n.matrix("weight", places, filters, width)
    found = Term(n, weight) @ Term(n, columns).transpose(2, 1, 0)  # [places, filters, batch]
    found = found.transpose(2, 1, 0).reshape(batch, filters, *counts) + Term(n, bias)
    return activated(n, found.value, n.text("activation", "logistic"))


@rows("implicit", "implicit_add", "implicit_mul")
def implicit(n: DarknetLayer) -> Value:
    return n.matrix("weight", 1, n.int("filters", 128), n.int("atoms", 1), 1)
