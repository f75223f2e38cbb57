"""Pooling in windows, and over all spatial dimensions."""

from __future__ import annotations

import math

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import TensorType, i64
from ..node import Node
from ..registry import converter
from ..shapes import as_i64, product, reshape
from ..windows import padding, spatial_ints, spatial_rank


def _window(n: Node, x: Value) -> dict:
    rank = spatial_rank(n, x)
    kernel = spatial_ints(n, "kernel_shape", rank, 1)
    strides = spatial_ints(n, "strides", rank, 1)
    dilations = spatial_ints(n, "dilations", rank, 1)
    return {
        "kernel": kernel,
        "strides": strides,
        "dilations": dilations,
        "pads": padding(n, x, kernel, strides, dilations),
        # With auto_pad, the result's extents are given by a formula of its own.
        "ceil_mode": bool(n.int("ceil_mode")) and n.string("auto_pad", "NOTSET") == "NOTSET",
    }


@converter("MaxPool")
def max_pool(n: Node, x: Value) -> list:
    window = _window(n, x)
    if not n.wants(1):
        return [n(nn.MaxPool(x, **window))]
    out, indices = n(nn.MaxPoolWithIndices(x, **window))
    if n.int("storage_order"):
        indices = _column_major(n, x, indices)
    return [out, indices]


def _column_major(n: Node, x: Value, indices: Value) -> Value:
    """Row-major positions in x as positions in which the first spatial dimension runs fastest."""
    spatial = x.type.shape[2:]
    if None in spatial:
        raise n.error("storage_order 1 needs static spatial dimensions")
    size = n.constant(math.prod(spatial), i64)
    rest = n(nn.Mod(indices, size))
    total = n(nn.Sub(indices, rest))
    for i in reversed(range(len(spatial))):
        extent = n.constant(spatial[i], i64)
        stride = n.constant(math.prod(spatial[:i]), i64)
        place = n(nn.Mod(rest, extent))
        rest = n(nn.Div(rest, extent))
        total = n(nn.Add(total, n(nn.Mul(place, stride))))
    return total


@converter("AveragePool")
def average_pool(n: Node, x: Value) -> Value:
    return n(nn.AvgPool(x, count_include_pad=bool(n.int("count_include_pad")), **_window(n, x)))


@converter("LpPool")
def lp_pool(n: Node, x: Value) -> Value:
    return n(nn.LpPool(x, p=n.int("p", 2), **_window(n, x)))


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
    if None in x.type.shape:
        raise n.error("the input's shape must be known")
    natural = tuple(
        (extent - 1) * strides[i] - pads[i] - pads[i + rank] + kernel[i]
        for i, extent in enumerate(x.type.shape[2:])
    )
    natural = (*x.type.shape[:2], *natural)
    out = natural if shape is None else n.known_ints(shape, "output_shape")
    indices = as_i64(n, indices)
    if out != natural:
        # The indices count in the natural shape, so they move to the larger one.
        indices = _move_indices(n, indices, natural, out)
    count = product(out)
    assert count is not None
    zeros = n(nn.Fill(n.scalar(0, x), out=TensorType((count,), x.type.element_type)))
    flat = [reshape(n, v, [product(v.type.shape) or 0]) for v in (indices, x)]
    return reshape(n, n(nn.ScatterElements(zeros, flat[0], flat[1], axis=0)), out)


def _move_indices(n: Node, indices: Value, shape: tuple, into: tuple) -> Value:
    """Flat positions in one shape as flat positions in a larger one."""
    total, rest = n.constant(0, i64), indices
    for i in reversed(range(len(shape))):
        extent, stride = n.constant(shape[i], i64), n.constant(math.prod(into[i + 1 :]), i64)
        place = n(nn.Mod(rest, extent))
        rest = n(nn.Div(rest, extent))
        total = n(nn.Add(total, n(nn.Mul(place, stride))))
    return total
