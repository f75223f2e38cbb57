"""Normalizations and softmax as reductions and elementwise ops.

Numerics: floats smaller than f32 are computed in f32, as in the ops' `evaluate`.
"""

from __future__ import annotations

from ...dialects import nn
from ...dialects.strict_math import is_strict
from ...ir.attributes import UnitAttr
from ...ir.rewriting import Rewriter, rewrite
from .building import (
    FLUSHES,
    axes_from,
    element_of,
    extent,
    finish,
    inverse_count,
    largest,
    per_channel,
    reshape_to,
    scalar,
    shape_of,
    standardize,
    total,
    widen,
)


@rewrite(nn.Softmax)
def decompose_softmax(op: nn.Softmax, rewriter: Rewriter) -> None:
    """softmax(x) -> e / sum(e) with e = exp(x - max(x))"""
    b, axes = rewriter, (op.axis,)
    strict = is_strict(op)
    x = widen(b, op.x)
    powers = b(nn.Exp(b(nn.Sub(x, largest(b, x, axes)))))
    if not strict:  # the sum is at least 1
        powers.attributes[FLUSHES] = UnitAttr()
    share = b(nn.Reciprocal(total(b, powers, axes)))
    finish(b, op, b(nn.Mul(powers, share)))


@rewrite(nn.LogSoftmax)
def decompose_log_softmax(op: nn.LogSoftmax, rewriter: Rewriter) -> None:
    """log_softmax(x) -> s - log(sum(exp(s))) with s = x - max(x)"""
    b, axes = rewriter, (op.axis,)
    x = widen(b, op.x)
    shifted = b(nn.Sub(x, largest(b, x, axes)))
    sums = total(b, b(nn.Exp(shifted)), axes)
    finish(b, op, b(nn.Sub(shifted, b(nn.Log(sums)))))


@rewrite(nn.LayerNorm)
def decompose_layer_norm(op: nn.LayerNorm, rewriter: Rewriter) -> None:
    """layer_norm(x, scale, bias) -> standardize(x) * scale + bias"""
    b = rewriter
    x = widen(b, op.x)
    out = standardize(b, x, axes_from(x, op.axis), op.epsilon)
    out = b(nn.Mul(out, widen(b, op.scale)))
    if op.bias is not None:
        out = b(nn.Add(out, widen(b, op.bias)))
    finish(b, op, out)


@rewrite(nn.RmsNorm)
def decompose_rms_norm(op: nn.RmsNorm, rewriter: Rewriter) -> None:
    """rms_norm(x, scale) -> x * rsqrt(mean(x²) + epsilon) * scale"""
    b = rewriter
    x = widen(b, op.x)
    axes = axes_from(x, op.axis)
    squares = b(nn.ReduceSumSquare(x, axes, True))
    mean = b(nn.Mul(squares, inverse_count(b, x, axes)))
    factor = b(nn.Rsqrt(b(nn.Add(mean, scalar(b, op.epsilon, element_of(x))))))
    out = b(nn.Mul(b(nn.Mul(x, factor)), widen(b, op.scale)))
    finish(b, op, out)


@rewrite(nn.InstanceNorm)
def decompose_instance_norm(op: nn.InstanceNorm, rewriter: Rewriter) -> None:
    """instance_norm(x, scale, bias) -> standardize(x, spatial axes) * scale + bias"""
    b = rewriter
    x = widen(b, op.x)
    rank = len(shape_of(x))
    out = standardize(b, x, axes_from(x, 2), op.epsilon)
    scale, bias = (per_channel(b, widen(b, p), rank) for p in (op.scale, op.bias))
    finish(b, op, b(nn.Add(b(nn.Mul(out, scale)), bias)))


@rewrite(nn.GroupNorm)
def decompose_group_norm(op: nn.GroupNorm, rewriter: Rewriter) -> None:
    """group_norm(x) -> standardize(x as [N, groups, C / groups, D..]) * scale + bias"""
    b = rewriter
    x = widen(b, op.x)
    shape = [extent(b, x, axis) for axis in range(len(shape_of(x)))]
    width = extent(b, x, 1, over=op.groups)
    grouped = reshape_to(b, x, (shape[0], op.groups, width, *shape[2:]))
    normal = standardize(b, grouped, axes_from(grouped, 2), op.epsilon)
    normal = reshape_to(b, normal, shape)
    scale, bias = (per_channel(b, widen(b, p), len(shape)) for p in (op.scale, op.bias))
    finish(b, op, b(nn.Add(b(nn.Mul(normal, scale)), bias)))


@rewrite(nn.BatchNorm)
def decompose_batch_norm(op: nn.BatchNorm, rewriter: Rewriter) -> None:
    """batch_norm(x) -> (x - mean) * (scale * rsqrt(var + epsilon)) + bias"""
    b = rewriter
    x = widen(b, op.x)
    rank = len(shape_of(x))
    scale, bias, mean, var = (widen(b, p) for p in (op.scale, op.bias, op.mean, op.var))
    spread = b(nn.Rsqrt(b(nn.Add(var, scalar(b, op.epsilon, element_of(var))))))
    factor = per_channel(b, b(nn.Mul(scale, spread)), rank)
    centered = b(nn.Sub(x, per_channel(b, mean, rank)))
    out = b(nn.Add(b(nn.Mul(centered, factor)), per_channel(b, bias, rank)))
    finish(b, op, out)


PATTERNS = (
    decompose_softmax,
    decompose_log_softmax,
    decompose_layer_norm,
    decompose_rms_norm,
    decompose_instance_norm,
    decompose_group_norm,
    decompose_batch_norm,
)
