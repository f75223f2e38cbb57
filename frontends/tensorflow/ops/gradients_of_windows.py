"""Gradients of convolutions and of averages of windows."""

from __future__ import annotations

from itertools import product as combinations

from ...common import tensorflow as tf
from ...common.movement import padded_by, sliced
from ...common.vocabulary import *
from ...common.windows import padded
from ..layer import TfLayer, rows
from .networks import padding_of, spatial, transposed_as, windows_of


@rows("AvgPoolGrad", "AvgPool3DGrad")
def of_average_pool(n: TfLayer, shape: Value, dy: Value) -> Value:
    """The gradient of a pooling's operand: along each axis, a product with the means' weights."""
    rank, windows = dy.type.rank, windows_of(n, dy)
    first = 1 if n.nhwc(dy) else 2
    own = Term(n, as_i64(n, shape))
    found = Term(n, dy)
    for i in range(rank - 2):
        axis = first + i
        weights = _weights_of_means(n, own.column(axis), extent(n, (dy, axis)), windows, i)
        last = [*(k for k in range(rank) if k != axis), axis]
        found = found.transpose(*last) @ weights.cast(found.element)
        found = found.transpose(*(last.index(k) for k in range(rank)))
    return tf.reshape_to(n, found.value, shape)


def _weights_of_means(n: TfLayer, own: Term, count: Term, windows: Windows, i: int) -> Term:
    """[windows, elements]: the share that each element of a dimension has in a window's mean."""
    size, stride = windows.kernel[i], windows.strides[i]
    start = counting(n, count) * stride
    if windows.padding == "SAME_UPPER":
        start = start - ((count - 1) * stride + size - own).max(0) / 2
    elif not isinstance(windows.padding, str):
        start = start - windows.padding[i]
    place = counting(n, own) - start.spread(0, 1)
    inside = ((place >= 0) & (place < size)).cast(f32)
    return inside / inside.sum(1, keep=True)


@rows("Conv2DBackpropFilter", "Conv3DBackpropFilterV2", "DepthwiseConv2dNativeBackpropFilter")
def of_filter(n: TfLayer, x: Value, sizes: Value, dy: Value) -> Value:
    """The gradient of a filter: for each of its positions, a product of two matrices."""
    rank = x.type.rank
    count, wanted = rank - 2, [extent for extent in n.extents(sizes) or () if extent is not None]
    if len(wanted) != rank or 0 in wanted:
        raise n.error(f"the {rank} extents of the filter must be known, and not be 0")
    *kernel, own, last = wanted
    strides, dilations = spatial(n, "strides", x), spatial(n, "dilations", x)
    image, given = (channels_first(n, v) if n.nhwc(v) else v for v in (x, dy))
    operand = padded(n, image, kernel, strides, dilations, padding_of(n, x))
    pads = (0, 0, *operand.pads[:count], 0, 0, *operand.pads[count:])
    image = padded_by(n, operand.x, pads)
    channels = image.type.shape[1]
    groups = own if n.kind.startswith("Depth") else (channels or own) // own
    counts = [given.type.shape[2 + i] or extent(n, (given, 2 + i)) for i in range(count)]
    given, parts = _grouped(n, given, groups), []
    for place in combinations(*map(range, kernel)):
        ranges = {}
        for i, at in enumerate(place):
            begin, stride = at * dilations[i], strides[i]
            end: Any = (counts[i] - 1) * stride + begin + 1
            ranges[2 + i] = (begin, end if isinstance(end, int) else end.value, stride)
        part = _grouped(n, sliced(n, image, ranges), groups)
        found = einsum(n, "ngcp,ngop->cgo", [part, given])
        parts.append(reshape(n, found, [1, own, last]))
    return reshape(n, concat(n, parts, 0), [*kernel, own, last])


def _grouped(n: TfLayer, x: Value, groups: int) -> Value:
    """[N, C, D..] as [N, groups, C / groups, elements]"""
    channels = x.type.shape[1]
    if channels is None:
        raise n.error("the number of channels must be known")
    flat = merge(n, x, [(0, 1), (1, 2), (2, x.type.rank)])
    return reshape(n, flat, [(flat, 0), groups, channels // groups, (flat, 2)])


@rows("DepthwiseConv2dNativeBackpropInput")
def of_depthwise_input(n: TfLayer, sizes: Value, weight: Value, dy: Value) -> Value:
    *_, channels, times = weight.type.shape
    if channels is None or times is None:
        raise n.error(f"the filter is '{weight.type}', expected a known number of channels")
    kernel = n(nn.Transpose(weight, permutation=(2, 3, 0, 1)))
    kernel = reshape(n, kernel, [channels * times, 1, (kernel, 2), (kernel, 3)])
    return transposed_as(n, sizes, kernel, dy, channels)
