"""Pooling in windows, and over all spatial dimensions."""

from __future__ import annotations

from ...common import windows as common
from ...common.pooling import product_of
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from ..windows import padding_of, spatial_ints, spatial_rank


def _windows(n: Node, x: Value) -> Windows:
    rank = spatial_rank(n, x)
    kernel, strides, dilations = (
        spatial_ints(n, name, rank, 1) for name in ("kernel_shape", "strides", "dilations")
    )
    padding, ceil = padding_of(n, rank), bool(n.int("ceil_mode"))
    if not isinstance(padding, str) or padding == "VALID":
        _check_fit(n, x, kernel, strides, dilations, padding, ceil)
    return Windows(kernel, strides, padding, dilations, ceil)


def _check_fit(
    n: Node,
    x: Value,
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: common.Padding,
    ceil: bool,
) -> None:
    """Raise NncError for windows of padding alone, and warn about windows larger than the input.

    For a larger window, the standard's formula rounds down to no window; ONNX Runtime rounds
    towards zero, to one.
    """
    rank = len(kernel)
    pads = (0,) * 2 * rank if isinstance(padding, str) else padding
    for i, extent in enumerate(x.type.shape[2:]):
        reach, around = (kernel[i] - 1) * dilations[i] + 1, pads[i] + pads[rank + i]
        if max(pads[i], pads[rank + i]) >= reach:
            raise n.error(f"pads of {list(pads)} make windows of {list(kernel)} of padding alone")
        if extent is not None and not ceil and -strides[i] < extent + around - reach < 0:
            n.warn(
                f"a window of {reach} is larger than the {extent + around} elements of dimension "
                f"{i + 2}: the result has none there, in ONNX Runtime one"
            )


@converter("MaxPool")
def max_pool(n: Node, x: Value) -> list:
    windows = _windows(n, x)
    if not n.wants(1):
        return [max_pooled(n, x, windows)]
    out, indices = max_pooled_with_indices(n, x, windows)
    if n.int("storage_order"):
        indices = _column_major(n, x, indices)
    return [out, indices]


def _column_major(n: Node, x: Value, indices: Value) -> Value:
    """Row-major indices in x as indices in which the first spatial dimension varies fastest."""
    shape, flat = shape_of(n, x), Term(n, indices)
    rest = flat % Term(n, product_of(n, shape, 2, x.type.rank))
    total = flat - rest
    for d in reversed(range(2, x.type.rank)):
        extent, stride = (Term(n, product_of(n, shape, *part)) for part in ((d, d + 1), (2, d)))
        total, rest = total + rest % extent * stride, rest / extent
    return total.value


@converter("AveragePool")
def average_pool(n: Node, x: Value) -> Value:
    return average_pooled(n, x, _windows(n, x), bool(n.int("count_include_pad")))


@converter("LpPool")
def lp_pool(n: Node, x: Value) -> Value:
    return length_pooled(n, x, _windows(n, x), _power(n))


def _power(n: Node) -> int:
    """The attribute 'p', which was a float in the first opset."""
    p = n.value("p")
    if p is not None and (p != int(p) or p < 1):
        raise n.error(f"attribute 'p' is {p}, expected a whole number from 1 on")
    return 2 if p is None else int(p)


def _spatial_axes(n: Node, x: Value) -> tuple[int, ...]:
    return tuple(range(2, spatial_rank(n, x) + 2))


@converter("GlobalAveragePool")
def global_average_pool(n: Node, x: Value) -> Value:
    return reduced(n, x, nn.ReduceMean, _spatial_axes(n, x), keep=True)


@converter("GlobalMaxPool")
def global_max_pool(n: Node, x: Value) -> Value:
    return reduced(n, x, nn.ReduceMax, _spatial_axes(n, x), keep=True)


@converter("GlobalLpPool")
def global_lp_pool(n: Node, x: Value) -> Value:
    axes, p = _spatial_axes(n, x), _power(n)
    if p == 1:
        return reduced(n, x, nn.ReduceL1, axes, keep=True)
    if p == 2:
        return reduced(n, x, nn.ReduceL2, axes, keep=True)
    powers = n(nn.Pow(n(nn.Abs(x)), n.scalar(p, x)))
    return n(nn.Pow(reduced(n, powers, nn.ReduceSum, axes, keep=True), n.scalar(1 / p, x)))


@converter("MaxUnpool")
def max_unpool(n: Node, x: Value, indices: Value, shape: Value | None = None) -> Value:
    rank = spatial_rank(n, x)
    kernel = spatial_ints(n, "kernel_shape", rank, 1)
    strides = spatial_ints(n, "strides", rank, 1)
    pads = spatial_ints(n, "pads", 2 * rank, 0)
    own = shape_of(n, x)
    more = [
        k - s - b - e for k, s, b, e in zip(kernel, strides, pads[:rank], pads[rank:], strict=True)
    ]
    by, rest = (n.constant(np.array(v, np.int64)) for v in (strides, more))
    spatial = n(nn.Add(n(nn.Mul(part_of_vector(n, own, 2, rank + 2), by)), rest))
    natural = n(nn.Concat([part_of_vector(n, own, 0, 2), spatial], axis=0))
    indices = as_i64(n, indices)
    out = natural if shape is None else of_length(n, as_i64(n, shape), rank + 2)
    if shape is not None and n.extents(out) != n.extents(natural):
        n.warn(
            "indices refer to the shape that follows from the windows, as in ONNX's test cases; in "
            "ONNX Runtime, to 'output_shape'"
        )
    return unpooled(n, x, indices, natural, out)
