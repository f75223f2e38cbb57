"""Reductions, what finds extremes, and what sorts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import IntegerType, TensorType, i32, i64
from ...common.late_axes import all_where_none, along, axes_mask
from ...common.reductions import largest, reduced
from ...common.shapes import normalize_axes, normalize_axis, reshape
from ...common.unique import unique_rows
from ..layer import TfLayer, rows


def reduction(op) -> Callable[[TfLayer, Value, Value], Value]:
    """A converter to a reduction along the axes of its second operand."""

    def convert(n: TfLayer, x: Value, axes: Value) -> Value:
        keep = n.flag("keep_dims")
        if n.known(axes) is None:
            if not keep:
                raise n.error("axes must be known at import, as they tell the result's shape")
            mask = all_where_none(n, axes, axes_mask(n, axes, x.type.rank))
            return along(n, x, mask, lambda matrix: reduced(n, matrix, op, (1,)))
        found = normalize_axes(n, n.known_ints(axes, "axes"), x.type.rank)
        if not found:
            return x
        return reduced(n, x, op, found, keep)

    return convert


rows.add({name: reduction(op) for name, op in {
    "Sum": nn.ReduceSum, "Mean": nn.ReduceMean, "Max": nn.ReduceMax, "Min": nn.ReduceMin,
    "Prod": nn.ReduceProd, "All": nn.ReduceMin, "Any": nn.ReduceMax,
    "EuclideanNorm": nn.ReduceL2,
}.items()})  # fmt: skip


@rows("ArgMax", "ArgMin")
def arg_extreme(n: TfLayer, x: Value, axis: Value) -> Value:
    at = normalize_axis(n, n.known_int(axis, "axis"), x.type.rank)
    op = nn.Argmax if n.kind == "ArgMax" else nn.Argmin
    found = n(op(x, axis=at, keep_dims=False))
    return n.cast(found, n.element("output_type") if n.has("output_type") else i64)


@rows("Cumsum", "Cumprod")
def running(n: TfLayer, x: Value, axis: Value) -> Value:
    at = normalize_axis(n, n.known_int(axis, "axis"), x.type.rank)
    op = nn.Cumsum if n.kind == "Cumsum" else nn.Cumprod
    return n(op(x, axis=at, exclusive=n.flag("exclusive"), reverse=n.flag("reverse")))


@rows("TopKV2")
def top_k(n: TfLayer, x: Value, k: Value) -> list[Value]:
    values, indices = largest(n, x, k, x.type.rank - 1)
    return [values, n.cast(indices, n.element("index_type") if n.has("index_type") else i32)]


@rows("TopK")
def top_k_of_attribute(n: TfLayer, x: Value) -> list[Value]:
    values, indices = largest(n, x, n.constant(n.int("k"), i64), x.type.rank - 1)
    return [values, n.cast(indices, i32)]


@rows("Where")
def where(n: TfLayer, x: Value) -> Value:
    return n(nn.Transpose(n(nn.NonZero(x)), permutation=(1, 0)))


@rows("Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2")
def unique(n: TfLayer, x: Value, axis: Value | None = None) -> list[Value]:
    """In the order in which they are met first."""
    axes = () if axis is None else n.known_ints(axis, "axis")
    if x.type.rank != 1 or axes not in ((), (0,), (-1,)):
        raise n.error(f"the different elements of a tensor of rank {x.type.rank}, expected 1")
    found = unique_rows(n, reshape(n, x, [(x, 0), 1]), in_order=False)
    element = n.element("out_idx") if n.has("out_idx") else i32
    numbers = [n.cast(v, element) for v in (found.inverse, found.counts)]
    return [n(nn.Gather(x, found.first)), *numbers]


@rows("SegmentSum", "UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin",
      "UnsortedSegmentProd")  # fmt: skip
def segments(n: TfLayer, x: Value, ids: Value, count: Value | None = None) -> Value:
    """Rows that have the same number are combined."""
    known = n.known(ids)
    if count is not None:
        total = n.known_int(count, "the number of segments")
    elif known is not None and known.size:
        total = int(known.max()) + 1
    else:
        raise n.error("the number of segments must be known at import")
    reduce, start = _SEGMENTS[n.kind.removeprefix("Unsorted")]
    element = x.type.element_type
    shape = (total, *x.type.shape[ids.type.rank :])
    if None in shape:
        raise n.error("the extents of the elements must be known")
    if start is None:
        start = _bound(n, x, reduce)
    base = n(nn.Fill(n.constant(start, element), out=TensorType(shape, element)))
    places = reshape(n, n.cast(ids, i64), [*((ids, i) for i in range(ids.type.rank)), 1])
    return n(nn.ScatterNd(base, places, x, reduction=reduce))


_SEGMENTS = {
    "SegmentSum": ("add", 0),
    "SegmentProd": ("mul", 1),
    "SegmentMax": ("max", None),
    "SegmentMin": ("min", None),
}


def _bound(n: TfLayer, x: Value, reduce: str) -> float:
    """What an empty segment gives: the least or largest number."""
    dtype = n.dtype("T")
    info = np.iinfo(dtype) if isinstance(x.type.element_type, IntegerType) else np.finfo(dtype)
    return float(info.min if reduce == "max" else info.max)
