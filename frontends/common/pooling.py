"""Pooling of tensors with channels first, [N, C, D..]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects import nn
from ...ir.core import Value
from ...ir.numpy_types import type_to_numpy
from ...ir.types import TensorType, i64
from .layer import Layer
from .movement import concat, slice_axis, swapped, unsqueezed
from .shapes import limits_of, part_of_vector, product, shape_of
from .terms import Term, constant, counting, extent
from .windows import Padded, Padding, pad_by_vector, padded


@dataclass(frozen=True)
class Windows:
    """The windows of a pooling; with `ceil`, the last one may end behind the padding."""

    kernel: Sequence[int]
    strides: Sequence[int]
    padding: Padding
    dilations: Sequence[int] | None = None
    ceil: bool = False

    def starts(self, axis: int, extent: int) -> range:
        """Where windows begin along a spatial dimension, counted from the beginning of its padding.

        `padding` must be numbers. With `ceil`, the last window may also begin behind all elements.
        """
        pads: Any = self.padding
        dilation = 1 if self.dilations is None else self.dilations[axis]
        reach, stride = (self.kernel[axis] - 1) * dilation + 1, self.strides[axis]
        room = extent + pads[axis] + pads[len(self.kernel) + axis] - reach
        return range(0, (-(-room // stride) if self.ceil else room // stride) * stride + 1, stride)

    def on(self, n: Layer, x: Value, fill: float = 0) -> tuple[Padded, dict[str, Any]]:
        """The operand and the attributes of a pooling op on x.

        Padding that is known only at run time is already in the operand, filled with `fill`.
        """
        count = len(self.kernel)
        dilations = (1,) * count if self.dilations is None else tuple(self.dilations)
        operand = padded(n, x, self.kernel, self.strides, dilations, self.padding, fill)
        return operand, {
            "kernel": tuple(self.kernel),
            "strides": tuple(self.strides),
            "dilations": dilations,
            "pads": operand.pads,
            # With SAME and VALID, the result's extents are given by formulas of their own.
            "ceil_mode": self.ceil and not isinstance(self.padding, str),
        }


def max_pooled(n: Layer, x: Value, windows: Windows, keeps_nan: bool = False) -> Value:
    """The largest element of each window."""
    operand, attributes = windows.on(n, x, limits_of(x.type.element_type)[0])
    return n(nn.MaxPool(operand.x, keeps_nan=keeps_nan, **attributes))


def max_pooled_from_lowest(n: Layer, x: Value, windows: Windows) -> Value:
    """The largest element of each window, or the lowest finite number if all of it is padding."""
    found, padding = max_pooled(n, x, windows), windows.padding
    if isinstance(padding, str) or max(map(int, padding)) < min(windows.kernel):
        return found
    lowest = np.finfo(type_to_numpy(x.type.element_type)).min
    return n(nn.Max(found, n.scalar(float(lowest), found)))


def max_pooled_with_indices(
    n: Layer, x: Value, windows: Windows, keeps_nan: bool = False
) -> tuple[Value, Value]:
    """The largest element of each window, and its flat index in x."""
    operand, attributes = windows.on(n, x, limits_of(x.type.element_type)[0])
    out, indices = n(nn.MaxPoolWithIndices(operand.x, keeps_nan=keeps_nan, **attributes))
    if operand.by is not None:
        begin = part_of_vector(n, operand.by, 0, x.type.rank)
        indices = move_indices(n, indices, shape_of(n, operand.x), shape_of(n, x), begin)
    return out, indices


def sum_pooled(n: Layer, x: Value, windows: Windows) -> Value:
    """The sum of each window."""
    operand, attributes = windows.on(n, x)
    return n(nn.SumPool(operand.x, **attributes))


def length_pooled(n: Layer, x: Value, windows: Windows, p: int = 2) -> Value:
    """The p-norm of each window."""
    operand, attributes = windows.on(n, x)
    return n(nn.LpPool(operand.x, p=p, **attributes))


def average_pooled(n: Layer, x: Value, windows: Windows, counts_padding: bool = False) -> Value:
    """The mean of each window's elements in x; with `counts_padding`, padding counts as zeros."""
    operand, attributes = windows.on(n, x)
    if operand.by is None or counts_padding:
        return n(nn.AvgPool(operand.x, count_include_pad=counts_padding, **attributes))
    mean = n(nn.AvgPool(operand.x, count_include_pad=True, **attributes))
    return n(nn.Div(mean, _shares(n, x, operand.by, attributes)))


def pooled(
    n: Layer, x: Value, windows: Windows, largest: bool, counts_padding: bool = False
) -> Value:
    """The largest element of each window if `largest`, else its mean."""
    return max_pooled(n, x, windows) if largest else average_pooled(n, x, windows, counts_padding)


def pooled_whole(n: Layer, x: Value, largest: bool) -> Value:
    """The largest element of each channel if `largest`, else its mean."""
    reduce = nn.ReduceMax if largest else nn.ReduceMean
    return n(reduce(x, axes=tuple(range(2, x.type.rank)), keep_dims=True))


def adaptive_pooled(n: Layer, x: Value, wanted: Sequence[int | Value], largest: bool) -> Value:
    """Pooling to the `wanted` number of windows in each dimension; -1 keeps the extent.

    A number may be known at run time only, a 0-d i64.
    """
    if set(wanted) == {1}:
        return pooled_whole(n, x, largest)
    pairs = []
    for axis, (d, count) in enumerate(zip(x.type.shape[2:], wanted, strict=True), 2):
        if isinstance(count, int) and (count == 0 or count < -1):
            raise n.error(f"{count} windows along dimension {axis} of '{x.type}'")
        if isinstance(count, Value) or (d is None and count != -1):
            x = _shared_out_at_run_time(n, x, axis, count, largest)
            pairs.append((1, 1))
        else:
            pairs.append((d or 1, d or 1 if count == -1 else count))
    if all(d == count for d, count in pairs):
        return x
    if all(d % count == 0 for d, count in pairs):
        kernel = tuple(d // count for d, count in pairs)
        if largest:
            return n(nn.MaxPool(x, kernel=kernel, strides=kernel, keeps_nan=True))
        return n(nn.AvgPool(x, kernel=kernel, strides=kernel))
    for axis, (d, count) in enumerate(pairs, 2):
        if d != count:
            x = _shared_out(n, x, axis, d, count, largest)
    return x


def _shared_out(n: Layer, x: Value, axis: int, extent: int, count: int, largest: bool) -> Value:
    """Pooling of one dimension to `count` windows, which may overlap or differ in length."""
    begins, ends = (
        (np.arange(count) * extent) // count,
        -(-np.arange(1, count + 1) * extent // count),
    )
    if largest:
        parts = [slice_axis(n, x, axis, *map(int, at)) for at in zip(begins, ends, strict=True)]
        return concat(n, [n(nn.ReduceMax(p, axes=(axis,), keep_dims=True)) for p in parts], axis)
    steps = np.arange((ends - begins).max(initial=1))
    places = begins[:, None] + steps
    parts = Term(n, x).gather(constant(n, np.minimum(places, extent - 1)), axis)
    after = x.type.rank - 1 - axis
    inside, lengths = constant(n, places < ends[:, None]), n.scalar(ends - begins, x)
    found = inside.spread(0, after).choose(parts, 0.0).sum(axis + 1)
    return (found / Term(n, lengths).spread(0, after)).value


def _shared_out_at_run_time(
    n: Layer, x: Value, axis: int, count: int | Value, largest: bool
) -> Value:
    """`_shared_out` for an unknown extent; a matrix [extent, count] says what each window has."""
    total = Term(n, count) if isinstance(count, Value) else constant(n, count)
    own, last = extent(n, (x, axis)), x.type.rank - 1
    at, place = counting(n, total), counting(n, own).spread(0, 1)
    begins, ends = at * own / total, ((at + 1) * own + (total - 1)) / total
    inside = (place >= begins) & (place < ends)
    moved = Term(n, swapped(n, x, axis, last))
    neutral = limits_of(x.type.element_type)[0] if largest else 0.0
    rows = Term(n, unsqueezed(n, moved.value, last))
    parts = inside.transpose(1, 0).choose(rows, neutral)
    if largest:
        found = parts.largest(last + 1)
    else:
        found = parts.sum(last + 1) / (ends - begins).cast(moved.element)
    return swapped(n, found.value, axis, last)


def _shares(n: Layer, x: Value, by: Value, window: dict[str, Any]) -> Value:
    """The fraction of each window that lies inside of x."""
    rank = x.type.rank
    ones = n.constant(np.ones(2, np.int64))
    shape = n(nn.Concat([ones, part_of_vector(n, shape_of(n, x), 2, rank)], axis=0))
    inside = TensorType((1, 1, *x.type.shape[2:]), x.type.element_type)
    plane = n(nn.FillDynamic(shape, n.scalar(1, x), out=inside))
    return n(
        nn.AvgPool(pad_by_vector(n, plane, by, n.scalar(0, x)), count_include_pad=True, **window)
    )


def unpooled(n: Layer, x: Value, indices: Value, natural: Value, out: Value) -> Value:
    """Zeros of the shape `out`, with x stored at `indices`: flat indices in the shape `natural`."""
    ends = n.known(natural), n.known(out)
    if ends[0] is None or ends[1] is None or not np.array_equal(ends[0], ends[1]):
        indices = move_indices(n, indices, natural, out)
    element = x.type.element_type
    extents = n.extents(out) or (None,) * x.type.rank
    count = product_of(n, out, 0, x.type.rank)
    length = n(nn.Reshape(count, out=TensorType((1,), i64)))
    zeros = n(nn.FillDynamic(length, n.scalar(0, x), out=TensorType((product(extents),), element)))
    flat = [
        n(nn.Reshape(v, out=TensorType((product(v.type.shape),), v.type.element_type)))
        for v in (indices, x)
    ]
    filled = n(nn.ScatterElements(zeros, flat[0], flat[1], axis=0))
    return n(nn.ReshapeDynamic(filled, out, out=TensorType(extents, element)))


def unpooled_in_planes(n: Layer, x: Value, places: Value, shape: Sequence[int]) -> Value:
    """Zeros [N, C, H, W], with x stored at `places`: flat indices in each plane [H, W]."""
    planes = np.arange(int(np.prod(shape[:2]))).reshape(*shape[:2], 1, 1)
    flat = Term(n, places).cast(i64) + constant(n, planes * int(np.prod(shape[2:])))
    vector = n.constant(np.array(shape, np.int64))
    return unpooled(n, x, flat.value, vector, vector)


def in_planes(n: Layer, places: Value, x: Value) -> Value:
    """Flat indices in x [N, C, ..] as those in its planes, all dimensions but the first two."""
    return n(nn.Mod(places, product_of(n, shape_of(n, x), 2, x.type.rank)))


def product_of(n: Layer, shape: Value, begin: int, end: int) -> Value:
    """The product of the elements [begin, end) of a 1-D tensor, 0-d."""
    if begin == end:
        return n.constant(1, i64)
    return n(nn.ReduceProd(part_of_vector(n, shape, begin, end), axes=(0,)))


def move_indices(
    n: Layer, indices: Value, shape: Value, into: Value, begin: Value | None = None
) -> Value:
    """Flat indices in `shape` as flat indices in `into`, whose origin is `begin` in `shape`."""
    total, rest = constant(n, 0, i64), Term(n, indices)
    rank = shape.type.shape[0]
    for d in reversed(range(rank)):
        extent, stride = (
            Term(n, product_of(n, *part)) for part in ((shape, d, d + 1), (into, d + 1, rank))
        )
        place, rest = rest % extent, rest / extent
        if begin is not None:
            place = place - Term(n, product_of(n, begin, d, d + 1))
        total = total + place * stride
    return total.value
