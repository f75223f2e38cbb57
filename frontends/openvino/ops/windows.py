"""Convolutions, poolings, and what looks at windows of images."""

from __future__ import annotations

from ...common.vocabulary import *
from ...common.windows import check_fit, elements_of_windows, padded
from ..layer import OpenvinoLayer, rows


def padding_of(n: OpenvinoLayer, count: int) -> Padding:
    """The padding: begins, then ends."""
    match n.text("auto_pad", "explicit"):
        case "same_upper" | "same_lower" as same:
            return same.upper()
        case "valid":
            return (0,) * 2 * count
        case _:
            zeros = [0] * count
            return (*n.ints("pads_begin", zeros), *n.ints("pads_end", zeros))


def _spatial(n: OpenvinoLayer, x: Value) -> int:
    if x.type.rank < 3:
        raise n.error(f"it needs images, found '{x.type}'")
    return x.type.rank - 2


def _ungrouped(n: OpenvinoLayer, weight: Value) -> tuple[Value, int]:
    """The weights [G, A, ..] as [G * A, ..], and G."""
    shape = weight.type.shape
    if None in shape[:2]:
        raise n.error("the number of groups must be known")
    joined = reshape(n, weight, [shape[0] * shape[1], *dims(weight)[2:]])
    return joined, shape[0]


@rows("Convolution", "GroupConvolution")
def convolution_(n: OpenvinoLayer, x: Value, weight: Value) -> Value:
    count, groups = _spatial(n, x), 1
    if n.kind == "GroupConvolution":
        weight, groups = _ungrouped(n, weight)
    ones, kernel = [1] * count, weight.type.shape[2:]
    strides, dilations = n.ints("strides", ones), n.ints("dilations", ones)
    padding = padding_of(n, count)
    if not isinstance(padding, str) and None not in kernel:
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
        check_fit(n, x, reach, padding)
    return convolution(
        n, x, weight, strides=strides, dilations=dilations, padding=padding, groups=groups
    )


@rows("ConvolutionBackpropData", "GroupConvolutionBackpropData")
def transposed(n: OpenvinoLayer, x: Value, weight: Value, extents: Value | None = None) -> Value:
    """A transposed convolution; with `extents`, padding makes the result as large as they tell."""
    count, groups = _spatial(n, x), 1
    if n.kind.startswith("Group"):
        weight, groups = _ungrouped(n, weight)
    ones, zeros = [1] * count, [0] * count
    padding = padding_of(n, count)
    if isinstance(padding, str):
        # What SAME_UPPER adds at the end is cut at the begin, where an odd element is left.
        swapped_ = {"SAME_UPPER": "SAME_LOWER", "SAME_LOWER": "SAME_UPPER"}[padding]
        padding = [0] * 2 * count if extents is None else swapped_
    wanted = None if extents is None else n.known_ints(extents, "the extents of the result")
    return transposed_convolution(
        n,
        x,
        weight,
        strides=n.ints("strides", ones),
        dilations=n.ints("dilations", ones),
        padding=padding,
        output_padding=n.ints("output_padding", zeros),
        groups=groups,
        extents=wanted,
        keeps_begin=True,
    )


def _windows(n: OpenvinoLayer, x: Value) -> Windows:
    count = _spatial(n, x)
    kernel, ones = n.ints("kernel"), [1] * count
    strides, dilations = n.ints("strides", ones), n.ints("dilations", ones)
    padding, rounding = padding_of(n, count), n.text("rounding_type", "floor")
    windows = Windows(kernel, strides, padding, dilations, rounding != "floor")
    if isinstance(padding, str):
        if windows.ceil:
            raise n.error(f"auto_pad '{padding.lower()}' with rounding_type '{rounding}'")
        return windows
    check_fit(n, x, [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)], padding)
    if rounding == "ceil":
        for axis, extent in enumerate(x.type.shape[2:]):
            if extent is None or windows.starts(axis, extent)[-1] >= extent + padding[axis]:
                raise n.error("windows behind all elements, or of unknown extents")
    return windows


@rows("MaxPool")
def max_pool(n: OpenvinoLayer, x: Value) -> list[Value]:
    windows = _windows(n, x)
    if n.wants(1) and n.int("axis", 0) != 0:
        raise n.error("indices that count from another axis than the first are not supported")
    if not n.wants(1):
        n.attributes.get("axis")
        return [max_pooled(n, x, windows)]
    return list(max_pooled_with_indices(n, x, windows))


@rows("AvgPool")
def average_pool(n: OpenvinoLayer, x: Value) -> Value:
    windows, counts = _windows(n, x), not n.flag("exclude-pad")
    if windows.ceil and counts and _reaches_beyond(windows, x.type.shape[2:]):
        raise n.error("means that count padding, of windows that reach beyond it")
    return average_pooled(n, x, windows, counts)


def _reaches_beyond(windows: Windows, extents: Sequence[Dim]) -> bool:
    """Whether the last window of a dimension ends behind the padding, or may do so."""
    pads: Any = windows.padding
    for axis, (extent, kernel) in enumerate(zip(extents, windows.kernel, strict=True)):
        if extent is None:
            return True
        whole = extent + pads[axis] + pads[len(extents) + axis]
        if windows.starts(axis, extent)[-1] + kernel > whole:
            return True
    return False


@rows("AdaptiveAvgPool", "AdaptiveMaxPool")
def adaptive(n: OpenvinoLayer, x: Value, extents: Value) -> list[Value]:
    wanted = n.known_ints(extents, "extents")
    return [adaptive_pooled(n, x, wanted, n.kind == "AdaptiveMaxPool")]


@rows("ExtractImagePatches")
def patches(n: OpenvinoLayer, x: Value) -> Value:
    """Windows as channels [N, h * w * C, ..], those of one element of the window side by side."""
    size, strides, rates = (n.ints(name) for name in ("sizes", "strides", "rates"))
    whole = padded(n, x, size, strides, rates, padding_of(n, 2))
    pads = (0, 0, *whole.pads[:2], 0, 0, *whole.pads[2:])
    given = whole.x if whole.by is not None else padded_by(n, x, pads)
    return concat(n, [v for _, v in elements_of_windows(n, given, 2, size, strides, rates)], 1)
