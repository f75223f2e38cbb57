"""Decompositions of ops of unknown extents, made before fusion, because no kernel computes its
shapes.
"""

from __future__ import annotations

from ...dialects import nn
from ...dialects.nn.windows import Window
from ...ir.core import Value
from ...ir.rewriting import Rewriter, rewrite
from ...ir.types import TensorType, i64, is_told_by_count
from .building import cast, element_of, integers, scalar, shape_of
from .decompose_normalization import decompose_group_norm
from .decompose_windows import decompose_lrn


@rewrite(nn.GroupNorm)
def open_group_norm(op: nn.GroupNorm, rewriter: Rewriter) -> None:
    """group_norm(x) -> its parts, if views of x need more than one unknown extent"""
    if not is_told_by_count(shape_of(op.x)):
        decompose_group_norm.apply(op, rewriter)


@rewrite(nn.Lrn)
def open_lrn(op: nn.Lrn, rewriter: Rewriter) -> None:
    """lrn(x) -> its parts, if views of x need more than one unknown extent"""
    if not is_told_by_count(shape_of(op.x)):
        decompose_lrn.apply(op, rewriter)


@rewrite(nn.MaxPool, nn.MaxPoolWithIndices, nn.SumPool, nn.AvgPool, nn.LpPool)
def ceil_windows_apart(op: nn.pooling.PoolingOp, rewriter: Rewriter) -> None:
    """pool(x, ceil_mode) -> slice(pool(x, more padding at the end)), without windows
    in the padding
    """
    if op.is_resolved:
        return
    b, x = rewriter, op.x
    window = op.window([x.type], op)
    begin, end = window.begin, window.end
    given = Window.of(op, x.type, kernel=op.kernel)
    if isinstance(op, nn.AvgPool) and op.count_include_pad:
        # The padding counts, what is behind it does not.
        pads = (0, 0, *given.begin, 0, 0, *given.end)
        x = b(nn.Pad(x, scalar(b, 0, element_of(x)), pads=pads)).result
        begin = (0,) * len(begin)
        end = tuple(n - m for n, m in zip(end, given.end, strict=True))
    form = {"strides": op.strides, "dilations": op.dilations, "pads": (*begin, *end), **op.manner}
    pooled = b(type(op)(x, op.kernel, **form))
    ends = _rounded_up(b, op.x, given)
    pairs = zip(pooled.results, op.results, strict=True)
    b.replace(op, [_cut(b, out, ends, old.type) for out, old in pairs])


def _rounded_up(b: Rewriter, x: Value, window: Window) -> Value:
    """The number of windows along each dimension, without those that start in the padding at the
    end.
    """
    spatial = len(window.kernel)
    reach = [window.reach(i) for i in range(spatial)]
    extents = b(nn.Slice(b(nn.ShapeOf(x)), (2,), out=TensorType((spatial,), i64)))
    begin, strides = integers(b, window.begin), integers(b, window.strides)
    sides = zip(window.begin, window.end, reach, window.strides, strict=True)
    span = b(nn.Add(extents, integers(b, [p + q - r + s - 1 for p, q, r, s in sides])))
    last = b(nn.Div(span, strides)).result
    outside = b(nn.GreaterEqual(b(nn.Mul(last, strides)), b(nn.Add(extents, begin))))
    return b(nn.Sub(b(nn.Add(last, integers(b, [1]))), cast(b, outside, i64))).result


def _cut(b: Rewriter, x: Value, ends: Value, type: TensorType) -> Value:
    """The first `ends` elements of x along each spatial dimension."""
    count = shape_of(ends)[0]
    starts, steps = (integers(b, [n] * count) for n in (0, 1))
    cut = b(nn.SliceDynamic(x, starts, ends, integers(b, range(2, 2 + count)), steps))
    cut.results[0].type = type
    return cut.result


PATTERNS = (open_group_norm, open_lrn, ceil_windows_apart)
