"""Padding and bias of convolutions and poolings made ops of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...dialects import nn
from ...dialects.nn.windows import Window
from ...ir.attributes import DenseElements
from ...ir.builder import Builder
from ...ir.comprehension import combiner_identity
from ...ir.core import Value
from ...ir.lazy import np
from ...ir.rewriting import Rewriter, rewrite
from .building import (
    changed,
    element_of,
    extent,
    finish,
    integers,
    per_channel,
    reshape_to,
    scalar,
    shape_of,
    widen,
)


def padded(b: Rewriter, x: Value, window: Window, fill: float) -> Value:
    """x with the window's padding added, of the value `fill`."""
    if not window.has_padding:
        return x
    pads = (0, 0, *window.begin, 0, 0, *window.end)
    return b(nn.Pad(x, scalar(b, fill, element_of(x)), pads=pads)).result


@rewrite(nn.Conv)
def conv_padding_apart(op: nn.Conv, rewriter: Rewriter) -> None:
    """conv(x, pads) -> conv(pad(x))"""
    window = op.window(op.operand_types, op)
    if not window.has_padding:
        return
    x = padded(rewriter, op.x, window, 0)
    rewriter.replace(op, changed(op, x=x, pads=None))


@rewrite(nn.Conv)
def conv_bias_apart(op: nn.Conv, rewriter: Rewriter) -> None:
    """conv(x, w, bias) -> conv(x, w) + bias"""
    if op.bias is None:
        return
    b = rewriter
    plain = b(changed(op, bias=None))
    bias = per_channel(b, op.bias, len(shape_of(op.out)))
    b.replace(op, nn.Add(plain, bias, out=op.out.type))


@rewrite(nn.MaxPool)
def max_pool_padding_apart(op: nn.MaxPool, rewriter: Rewriter) -> None:
    """max_pool(x, pads) -> max_pool(pad(x)), with the least value of the type as padding"""
    if not op.is_resolved:
        return
    window = op.window([op.x.type], op)
    if not window.has_padding and not op.ceil_mode:
        return
    x = padded(rewriter, op.x, window, combiner_identity("max", element_of(op.x)))
    rewriter.replace(op, changed(op, x=x, pads=None, ceil_mode=None))


@rewrite(nn.SumPool)
def sum_pool_padding_apart(op: nn.SumPool, rewriter: Rewriter) -> None:
    """sum_pool(x, pads) -> sum_pool(pad(x))"""
    window = op.window([op.x.type], op)
    if not window.has_padding and not op.ceil_mode:
        return
    x = padded(rewriter, op.x, window, 0)
    rewriter.replace(op, changed(op, x=x, pads=None, ceil_mode=None))


@rewrite(nn.MaxPool, nn.SumPool)
def whole_window(op: nn.MaxPool | nn.SumPool, rewriter: Rewriter) -> None:
    """pool(x) -> pool(x) without padding, in directions in which one window covers all of x"""
    spatial, extents = shape_of(op.x)[2:], shape_of(op.out)[2:]
    if None in spatial:
        return
    window = op.window([op.x.type], op)
    kernel, begin, end, strides = (
        [*v] for v in (op.kernel, window.begin, window.end, window.strides)
    )
    for i, d in enumerate(spatial):
        covers = window.dilations[i] == 1 and begin[i] >= 0 and window.reach(i) - begin[i] >= d
        if extents[i] == 1 and covers:
            kernel[i], begin[i], end[i], strides[i] = d, 0, 0, 1
    if kernel != [*op.kernel]:
        pads = (*begin, *end) if any((*begin, *end)) else None
        form = {"kernel": kernel, "strides": strides, "pads": pads, "ceil_mode": None}
        rewriter.replace(op, changed(op, **form))


def sums_of(b: Builder, x: Value, op: nn.pooling.PoolingOp) -> Value:
    """The sum of each window of x."""
    return b(
        nn.SumPool(
            x,
            op.kernel,
            strides=op.strides,
            dilations=op.dilations,
            pads=op.pads,
            ceil_mode=op.ceil_mode,
        )
    ).result


@rewrite(nn.AvgPool)
def decompose_avg_pool(op: nn.AvgPool, rewriter: Rewriter) -> None:
    """avg_pool(x) -> sum_pool(x) * (1 / count)"""
    b = rewriter
    x = widen(b, op.x)
    share = _shares(b, op, x, op.window([op.x.type], op))
    finish(b, op, b(nn.Mul(sums_of(b, x, op), share)))


def _shares(b: Rewriter, op: nn.AvgPool, x: Value, window: Window) -> Value:
    """1 / the number of elements that count in each window: one number, or [1, 1, P..]."""
    element, spatial = element_of(x), shape_of(x)[2:]
    if not window.has_padding or (op.count_include_pad and not op.ceil_mode):
        return scalar(b, 1 / math.prod(op.kernel), element)
    if None not in spatial:
        from ...ir.numpy_types import type_to_numpy

        shares = 1 / np.maximum(op.counts(spatial), 1, dtype=type_to_numpy(element))
        return b(nn.Constant(DenseElements.from_numpy(shares))).result
    counts, *others = (_counts_along(b, op, x, axis) for axis in range(len(spatial)))
    for other in others:
        counts = b(nn.Mul(counts, other)).result
    return b(nn.Reciprocal(counts)).result


def _counts_along(b: Rewriter, op: nn.AvgPool, x: Value, axis: int) -> Value:
    """[1, 1, .., P, .., 1]: how many elements count in each window along one spatial axis."""
    before, after, element = axis, len(op.kernel) - 1 - axis, element_of(x)
    given = Window.of(op, op.x.type, kernel=op.kernel)

    def along(values: Sequence[int], elsewhere: int = 1) -> tuple[int, ...]:
        return (*[elsewhere] * before, values[axis], *[elsewhere] * after)

    length = extent(b, x, 2 + axis)
    size = integers(b, [length]) if isinstance(length, int) else length
    ones = b(nn.FillDynamic(size, scalar(b, 1, element)))
    counted = reshape_to(b, ones, (*[1] * (2 + before), length, *[1] * after))
    begin, end = along(given.begin, 0), along(given.end, 0)
    pads: tuple[int, ...] | None = (*begin, *end)
    if op.count_include_pad:
        # The padding counts, what rounding up adds behind it does not.
        around = (0, 0, *begin, 0, 0, *end)
        counted, pads = b(nn.Pad(counted, scalar(b, 1, element), pads=around)).result, None
    return b(
        nn.SumPool(
            counted,
            along(op.kernel),
            strides=along(given.strides),
            dilations=along(given.dilations),
            pads=pads,
            ceil_mode=op.ceil_mode,
        )
    ).result


@rewrite(nn.LpPool)
def decompose_lp_pool(op: nn.LpPool, rewriter: Rewriter) -> None:
    """lp_pool(x) -> sum_pool(|x|**p)**(1/p)"""
    b = rewriter
    x = widen(b, op.x)
    element = element_of(x)
    if op.p == 2:
        out = b(nn.Sqrt(sums_of(b, b(nn.Mul(x, x)).result, op)))
    else:
        powers = b(nn.Pow(b(nn.Abs(x)), scalar(b, op.p, element)))
        out = b(nn.Pow(sums_of(b, powers.result, op), scalar(b, 1 / op.p, element)))
    finish(b, op, out)


@rewrite(nn.Lrn)
def decompose_lrn(op: nn.Lrn, rewriter: Rewriter) -> None:
    """lrn(x) -> x * (bias + alpha / size * sum of squares in a window of channels)**-beta"""
    b = rewriter
    x = widen(b, op.x)
    element = element_of(x)
    N, C, *spatial = (extent(b, x, axis) for axis in range(len(shape_of(x))))
    known = [n for n in spatial if isinstance(n, int)]
    rest = [math.prod(known)] if known == spatial else spatial
    ones = (1,) * len(rest)
    squares = reshape_to(b, b(nn.Mul(x, x)), (N, 1, C, *rest))
    pads = ((op.size - 1) // 2, *(0 for _ in rest), op.size // 2, *(0 for _ in rest))
    sums = b(nn.SumPool(squares, (op.size, *ones), pads=pads))
    near = reshape_to(b, sums, (N, C, *spatial))
    weighted = b(nn.Mul(near, scalar(b, op.alpha / op.size, element)))
    base = b(nn.Add(weighted, scalar(b, op.bias, element)))
    factor = b(nn.Pow(base, scalar(b, -op.beta, element)))
    finish(b, op, b(nn.Mul(x, factor)))


PATTERNS = (
    conv_padding_apart,
    conv_bias_apart,
    whole_window,
    max_pool_padding_apart,
    sum_pool_padding_apart,
    decompose_avg_pool,
    decompose_lp_pool,
    decompose_lrn,
)
