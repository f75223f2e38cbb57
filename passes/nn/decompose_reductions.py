"""Decomposition of reductions that need more than one step."""

from __future__ import annotations

from ...dialects import nn
from ...ir.rewriting import Rewriter, rewrite
from .building import (
    count,
    element_of,
    finish,
    reshape,
    scalar,
    shape_of,
    widen,
)


@rewrite(nn.ReduceMean)
def decompose_reduce_mean(op: nn.ReduceMean, rewriter: Rewriter) -> None:
    """reduce_mean(x) -> reduce_sum(x) / count; one division after many sums takes no time"""
    b = rewriter
    x = widen(b, op.x)
    sums = b(nn.ReduceSum(x, op.axes, op.keep_dims))
    finish(b, op, b(nn.Div(sums, count(b, x, op.axes))))


@rewrite(nn.ReduceL2)
def decompose_reduce_l2(op: nn.ReduceL2, rewriter: Rewriter) -> None:
    """reduce_l2(x) -> sqrt(reduce_sum_square(x))"""
    b = rewriter
    squares = b(nn.ReduceSumSquare(widen(b, op.x), op.axes, op.keep_dims))
    finish(b, op, b(nn.Sqrt(squares)))


@rewrite(nn.ReduceLogSum)
def decompose_reduce_log_sum(op: nn.ReduceLogSum, rewriter: Rewriter) -> None:
    """reduce_log_sum(x) -> log(reduce_sum(x))"""
    b = rewriter
    sums = b(nn.ReduceSum(widen(b, op.x), op.axes, op.keep_dims))
    finish(b, op, b(nn.Log(sums)))


@rewrite(nn.ReduceLogSumExp)
def decompose_reduce_log_sum_exp(op: nn.ReduceLogSumExp, rewriter: Rewriter) -> None:
    """reduce_log_sum_exp(x) -> log(sum(exp(x - m))) + m with m = max(x), made finite"""
    b = rewriter
    x = widen(b, op.x)
    element = element_of(x)
    largest = 1.7976931348623157e308 if str(element) == "f64" else 3.4028234663852886e38
    bounds = (scalar(b, -largest, element), scalar(b, largest, element))
    top = b(nn.Clip(b(nn.ReduceMax(x, op.axes, True)), *bounds))
    sums = b(nn.ReduceSum(b(nn.Exp(b(nn.Sub(x, top)))), op.axes, True))
    out = b(nn.Add(b(nn.Log(sums)), top)).result
    if not op.keep_dims and shape_of(out).count(None) <= 1:
        out = reshape(b, out, shape_of(op.out))
    elif not op.keep_dims:
        out = b(nn.ReduceSum(out, op.axes)).result
    finish(b, op, out)


PATTERNS = (
    decompose_reduce_mean,
    decompose_reduce_l2,
    decompose_reduce_log_sum,
    decompose_reduce_log_sum_exp,
)
