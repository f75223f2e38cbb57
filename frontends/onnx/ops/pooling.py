"""Pooling in windows, and over all spatial dimensions."""

from __future__ import annotations

import math

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.numpy_types import type_to_numpy
from ....ir.types import FloatType, TensorType, i64
from ...common.shapes import as_i64, of_length, part_of_vector, product, shape_of
from ...common.windows import Padded, pad_by_vector, padded
from ..node import Node
from ..registry import converter
from ..windows import padding_of, spatial_ints, spatial_rank


def _window(n: Node, x: Value, fill: float = 0) -> tuple[Padded, dict]:
    """The operand, padded by `fill` where only the run tells how much, and the attributes."""
    rank = spatial_rank(n, x)
    kernel = spatial_ints(n, "kernel_shape", rank, 1)
    strides = spatial_ints(n, "strides", rank, 1)
    dilations = spatial_ints(n, "dilations", rank, 1)
    operand = padded(n, x, kernel, strides, dilations, padding_of(n, rank), fill)
    return operand, {
        "kernel": kernel,
        "strides": strides,
        "dilations": dilations,
        "pads": operand.pads,
        # With auto_pad, the result's extents are given by a formula of its own.
        "ceil_mode": bool(n.int("ceil_mode")) and n.string("auto_pad", "NOTSET") == "NOTSET",
    }


@converter("MaxPool")
def max_pool(n: Node, x: Value) -> list:
    operand, window = _window(n, x, _least(x))
    if not n.wants(1):
        return [n(nn.MaxPool(operand.x, **window))]
    out, indices = n(nn.MaxPoolWithIndices(operand.x, **window))
    if operand.by is not None:
        begin = part_of_vector(n, operand.by, 0, x.type.rank)
        indices = _move_indices(n, indices, shape_of(n, operand.x), shape_of(n, x), begin)
    if n.int("storage_order"):
        indices = _column_major(n, x, indices)
    return [out, indices]


def _least(x: Value) -> float:
    """The smallest number of the element type."""
    element = x.type.element_type
    if isinstance(element, FloatType):
        return -math.inf
    return int(np.iinfo(type_to_numpy(element)).min)


def _column_major(n: Node, x: Value, indices: Value) -> Value:
    """Row-major positions in x as positions in which the first spatial dimension runs fastest."""
    shape = shape_of(n, x)
    size = _product(n, shape, 2, x.type.rank)
    rest = n(nn.Mod(indices, size))
    total = n(nn.Sub(indices, rest))
    for d in reversed(range(2, x.type.rank)):
        extent, stride = _product(n, shape, d, d + 1), _product(n, shape, 2, d)
        place = n(nn.Mod(rest, extent))
        rest = n(nn.Div(rest, extent))
        total = n(nn.Add(total, n(nn.Mul(place, stride))))
    return total


def _product(n: Node, shape: Value, begin: int, end: int) -> Value:
    """The product of some elements of a 1-D tensor, 0-d."""
    if begin == end:
        return n.constant(1, i64)
    return n(nn.ReduceProd(part_of_vector(n, shape, begin, end), axes=(0,)))


@converter("AveragePool")
def average_pool(n: Node, x: Value) -> Value:
    operand, window = _window(n, x)
    counts_all = bool(n.int("count_include_pad"))
    if operand.by is None or counts_all:
        return n(nn.AvgPool(operand.x, count_include_pad=counts_all, **window))
    mean = n(nn.AvgPool(operand.x, count_include_pad=True, **window))
    return n(nn.Div(mean, _shares(n, x, operand.by, window)))


def _shares(n: Node, x: Value, by: Value, window: dict) -> Value:
    """Which part of each window lies inside of x."""
    rank = x.type.rank
    ones = n.constant(np.ones(2, np.int64))
    shape = n(nn.Concat([ones, part_of_vector(n, shape_of(n, x), 2, rank)], axis=0))
    inside = TensorType((1, 1, *x.type.shape[2:]), x.type.element_type)
    plane = n(nn.FillDynamic(shape, n.scalar(1, x), out=inside))
    return n(
        nn.AvgPool(pad_by_vector(n, plane, by, n.scalar(0, x)), count_include_pad=True, **window)
    )


@converter("LpPool")
def lp_pool(n: Node, x: Value) -> Value:
    operand, window = _window(n, x)
    return n(nn.LpPool(operand.x, p=n.int("p", 2), **window))


def _spatial_axes(n: Node, x: Value) -> tuple[int, ...]:
    return tuple(range(2, spatial_rank(n, x) + 2))


@converter("GlobalAveragePool")
def global_average_pool(n: Node, x: Value) -> Value:
    return n(nn.ReduceMean(x, axes=_spatial_axes(n, x), keep_dims=True))


@converter("GlobalMaxPool")
def global_max_pool(n: Node, x: Value) -> Value:
    return n(nn.ReduceMax(x, axes=_spatial_axes(n, x), keep_dims=True))


@converter("GlobalLpPool")
def global_lp_pool(n: Node, x: Value) -> Value:
    axes, p = _spatial_axes(n, x), n.int("p", 2)
    if p == 1:
        return n(nn.ReduceL1(x, axes=axes, keep_dims=True))
    if p == 2:
        return n(nn.ReduceL2(x, axes=axes, keep_dims=True))
    powers = n(nn.Pow(n(nn.Abs(x)), n.scalar(p, x)))
    return n(nn.Pow(n(nn.ReduceSum(powers, axes=axes, keep_dims=True)), n.scalar(1 / p, x)))


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
    ends = n.known(natural), n.known(out)
    if ends[0] is None or ends[1] is None or not np.array_equal(ends[0], ends[1]):
        # The indices count in the natural shape, so they move to the larger one.
        indices = _move_indices(n, indices, natural, out)
    element = x.type.element_type
    extents = n.extents(out) or (None,) * x.type.rank
    count = _product(n, out, 0, x.type.rank)
    length = n(nn.Reshape(count, out=TensorType((1,), i64)))
    zeros = n(nn.FillDynamic(length, n.scalar(0, x), out=TensorType((product(extents),), element)))
    flat = [
        n(nn.Reshape(v, out=TensorType((product(v.type.shape),), v.type.element_type)))
        for v in (indices, x)
    ]
    filled = n(nn.ScatterElements(zeros, flat[0], flat[1], axis=0))
    return n(nn.ReshapeDynamic(filled, out, out=TensorType(extents, element)))


def _move_indices(
    n: Node, indices: Value, shape: Value, into: Value, begin: Value | None = None
) -> Value:
    """Flat positions in one shape as flat positions in another, which begins at `begin` of it."""
    total, rest = n.constant(0, i64), indices
    rank = shape.type.shape[0]
    for d in reversed(range(rank)):
        extent, stride = _product(n, shape, d, d + 1), _product(n, into, d + 1, rank)
        place = n(nn.Mod(rest, extent))
        rest = n(nn.Div(rest, extent))
        if begin is not None:
            place = n(nn.Sub(place, _product(n, begin, d, d + 1)))
        total = n(nn.Add(total, n(nn.Mul(place, stride))))
    return total
