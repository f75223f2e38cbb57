"""Shared helpers of converters: axes, and reshapes and shapes that may be partly unknown."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...dialects import nn
from ...ir.comprehension import combiner_identity
from ...ir.core import Value
from ...ir.numpy_types import type_to_numpy
from ...ir.types import Dim, TensorType, Type, i64, is_told_by_count, size_fault
from .layer import Layer

Extent = int | tuple[Value, int]
"""An extent of a result: a number, or (value, axis) for the extent of another value's axis."""


def normalize_axis(n: Layer, axis: int, rank: int, name: str = "axis") -> int:
    """The axis counted from the front. Raises NncError where it is out of range."""
    if not -rank <= axis < rank:
        raise n.error(f"{name} {axis} is out of range for a tensor of rank {rank}")
    return axis + rank if axis < 0 else axis


def normalize_axes(n: Layer, axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """The axes counted from the front. Raises NncError where one is out of range or twice."""
    found = tuple(normalize_axis(n, axis, rank, "axes: axis") for axis in axes)
    if len(set(found)) != len(found):
        raise n.error(f"axes {list(axes)} name an axis twice")
    return found


def shape_of(n: Layer, x: Value) -> Value:
    """The shape as a 1-D i64 tensor: a constant where it is static."""
    shape = x.type.shape
    if None not in shape:
        return n.constant(np.array(shape, np.int64))
    return n(nn.ShapeOf(x))


def dims(x: Value) -> list[Extent]:
    """The extents of x, each as (x, axis), for building another shape that keeps some of them."""
    return [(x, i) for i in range(x.type.rank)]


def resolve(extent: Extent | None) -> Dim:
    """The extent as a number, or None where it is known at run time only."""
    return extent[0].type.shape[extent[1]] if isinstance(extent, tuple) else extent


def shape_vector(n: Layer, extents: Sequence[Extent]) -> Value:
    """A 1-D i64 tensor of these extents, computed at run time if one is unknown."""
    known = [resolve(e) for e in extents]
    if None not in known:
        return n.constant(np.array(known, np.int64))
    parts = []
    for extent, number in zip(extents, known, strict=True):
        if number is not None:
            parts.append(n.constant(np.array([number], np.int64)))
        else:
            assert not isinstance(extent, int)
            value, axis = extent
            index = n.constant(np.array([axis], np.int64))
            parts.append(n(nn.Gather(shape_of(n, value), index)))
    return concatenated(n, parts)


def concatenated(n: Layer, parts: Sequence[Value], axis: int = 0) -> Value:
    """Values joined along an axis; a single one as it is."""
    return parts[0] if len(parts) == 1 else n(nn.Concat(list(parts), axis=axis))


def reshape(n: Layer, x: Value, extents: Sequence[Extent]) -> Value:
    """x in another shape; the type is as static as the known extents allow."""
    shape = tuple(resolve(e) for e in extents)
    if shape == x.type.shape and None not in shape:
        return x
    out = TensorType(shape, x.type.element_type)
    if is_told_by_count(shape):
        return n(nn.Reshape(x, out=out))
    return n(nn.ReshapeDynamic(x, shape_vector(n, extents), out=out))


def aligned_by_axis(n: Layer, lhs: Value, rhs: Value, axis: int | None) -> Value:
    """rhs with its dimensions aligned to those of lhs from `axis` on; unchanged if it is None.

    Caffe2 broadcasts like this, and ONNX did before opset 7.
    """
    if axis is None:
        return rhs
    axis = normalize_axis(n, axis, lhs.type.rank)
    behind = lhs.type.rank - axis - rhs.type.rank
    return reshape(n, rhs, [*dims(rhs), *[1] * max(0, behind)])


def flatten(n: Layer, x: Value, axis: int) -> Value:
    """x as a matrix: the dimensions before the axis are rows, the others columns."""
    return merge(n, x, ((0, axis), (axis, x.type.rank)))


def merge(n: Layer, x: Value, groups: Sequence[tuple[int, int]]) -> Value:
    """x with each group [begin, end) of neighbouring dimensions merged into one."""
    shape = x.type.shape
    extents = tuple(product(shape[begin:end]) for begin, end in groups)
    out = TensorType(extents, x.type.element_type)
    if out is x.type and len(groups) == x.type.rank:
        return x
    if extents.count(None) <= (0 not in extents):
        return n(nn.Reshape(x, out=out))
    whole = shape_of(n, x)
    parts = []
    for (begin, end), extent in zip(groups, extents, strict=True):
        if extent is not None:
            parts.append(n.constant(np.array([extent], np.int64)))
            continue
        part = part_of_vector(n, whole, begin, end)
        one = end - begin == 1
        parts.append(part if one else n(nn.ReduceProd(part, axes=(0,), keep_dims=True)))
    return n(nn.ReshapeDynamic(x, n(nn.Concat(parts, axis=0)), out=out))


def part_of_vector(n: Layer, vector: Value, begin: int, end: int) -> Value:
    """The elements [begin, end) of a 1-D tensor."""
    if (begin, end) == (0, vector.type.shape[0]):
        return vector
    out = TensorType((end - begin,), vector.type.element_type)
    return n(nn.Slice(vector, starts=(begin,), out=out))


def broadcast(n: Layer, x: Value, extents: Sequence[Extent]) -> Value:
    """x broadcast to this shape; an extent may differ only where x has 1 or no dimension."""
    shape = tuple(resolve(e) for e in extents)
    if shape == x.type.shape and None not in shape:
        return x
    lead = len(shape) - x.type.rank
    kept = [x.type.shape[i - lead] if i >= lead else 1 for i in range(len(shape))]
    out = TensorType(shape, x.type.element_type)
    if all(d is not None or k is None for d, k in zip(shape, kept, strict=True)):
        return n(nn.BroadcastTo(x, out=out))
    return n(nn.BroadcastDynamic(x, shape_vector(n, extents), out=out))


def broadcast_by(n: Layer, x: Value, shape: Value) -> Value:
    """x broadcast to a shape, a 1-D i64 tensor whose elements may be unknown at import."""
    extents = n.ranked(shape)
    out = TensorType(tuple(extents), x.type.element_type)
    if None in extents:
        return n(nn.BroadcastDynamic(x, shape, out=out))
    return n(nn.BroadcastTo(x, out=out))


def of_length(n: Layer, vector: Value, length: int | None) -> Value:
    """A 1-D tensor typed with its length, where that is known from elsewhere in the model."""
    if vector.type.shape != (None,) or length is None:
        return vector
    return n(nn.Reshape(vector, out=TensorType((length,), vector.type.element_type)))


def as_scalar(n: Layer, x: Value) -> Value:
    """A value of one element as a 0-d tensor."""
    if x.type.rank == 0:
        return x
    if product(x.type.shape) not in (1, None):
        raise n.error(f"expected one number, found a tensor of shape {shape_text(x)}")
    return n(nn.Reshape(x, out=TensorType((), x.type.element_type)))


def as_i64(n: Layer, x: Value) -> Value:
    """The value with i64 elements."""
    return n.cast(x, i64)


def positions(n: Layer, extent: int) -> np.ndarray:
    """0, 1, .. below the extent. Raises NncError if that is too large for a tensor."""
    if fault := size_fault(TensorType((extent,), i64)):
        raise n.error(fault)
    return np.arange(extent)


def limits_of(element: Type) -> tuple[float, float]:
    """The smallest and the largest number of an element type; for floats, the infinities."""
    return combiner_identity("max", element), combiner_identity("min", element)


def ranged(n: Layer, start: Value, limit: Value, delta: Value) -> Value:
    """start, start + delta, .. before the limit."""
    bounds = [as_scalar(n, v) for v in (start, limit, delta)]
    element = bounds[0].type.element_type
    known = [n.known(v) for v in bounds]
    if any(v is None for v in known):
        return n(nn.Range(*bounds, out=TensorType((None,), element)))
    first, last, step = (v.item() for v in known)  # type: ignore[union-attr]
    if step == 0:
        raise n.error("delta is 0")
    count = (last - first) / step
    if not math.isfinite(count):
        raise n.error(f"{first} to {last} by {step} has no number of elements")
    places = positions(n, max(math.ceil(count), 0))
    return n.constant((first + places * step).astype(type_to_numpy(element)))


def product(shape: Sequence[Dim]) -> Dim:
    """The number of elements, or None where it is not known."""
    if 0 in shape:
        return 0
    return None if None in shape else math.prod(shape)  # type: ignore[arg-type]


def shape_text(x: Value) -> str:
    """The shape as messages show it: `[1, ?, 8]`."""
    return "[" + ", ".join("?" if d is None else str(d) for d in x.type.shape) + "]"
