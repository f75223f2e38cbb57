"""Scales and shifts of channels become part of the convolution before them.

batch_norm(conv(x, w, b))  ->  conv(x, w * s, (b - mean) * s + bias)
                               with s = scale / sqrt(var + epsilon)
"""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import nn
from ...dialects.strict_math import is_strict
from ...ir.core import Operation, Value
from ...ir.passes import Pass, PassContext
from ...ir.rewriting import Rewriter, apply_greedily, rewrite
from ...ir.types import FloatType, TensorType
from .building import (
    cast,
    element_of,
    finish,
    is_arranged_constant,
    per_channel,
    reshape,
    scalar,
    shape_of,
    widen,
)


@dataclass(frozen=True)
class FoldBatchNorm(Pass, name="fold-batch-norm", anchor="func.func"):
    """Multiply constant weights by the batch normalization, scale and shift that follow.

        nn.batch_norm (nn.conv %x, %w)    ->    nn.conv %x, (%w * s), shift

    A batch normalization with constant parameters that does not follow a convolution becomes a
    multiplication and an addition.
    """

    numerics = "rounding"

    def run(self, op: Operation, context: PassContext) -> None:
        """Apply the patterns; `fold-constants` then computes the new weights.

        A module with strict math keeps its batch normalizations.
        """
        if is_strict(op):
            return
        apply_greedily(op, PATTERNS, fold=False, trace=context.trace)


def _are_constant(*values: Value | None) -> bool:
    """Whether every value that is not None is made of constants."""
    return all(v is None or is_made_of_constants(v) for v in values)


def is_made_of_constants(value: Value) -> bool:
    """Whether a value is a constant, or computed from constants by ops that passes insert for
    weights.
    """
    op = value.defining_op
    if isinstance(op, nn.Constant):
        return True
    made = (nn.Mul, nn.Add, nn.Sub, nn.Rsqrt, nn.Reshape, nn.Transpose, nn.Cast, nn.Pad)
    return isinstance(op, made) and all(is_made_of_constants(v) for v in op.operands)


def _scale_and_shift(b: Rewriter, op: nn.BatchNorm) -> tuple[Value, Value]:
    """Two tensors [C] with which batch_norm(x) is x * scale + shift."""
    scale, bias, mean, var = (widen(b, v) for v in (op.scale, op.bias, op.mean, op.var))
    spread = b(nn.Rsqrt(b(nn.Add(var, scalar(b, op.epsilon, element_of(var))))))
    factor = b(nn.Mul(scale, spread)).result
    return factor, b(nn.Sub(bias, b(nn.Mul(mean, factor)))).result


def conv_before(value: Value) -> nn.Conv | nn.ConvTranspose | None:
    """The convolution with constant weights whose result is the value; None if it
    has other users.
    """
    op = value.defining_op
    if not isinstance(op, nn.Conv | nn.ConvTranspose) or not value.has_one_use:
        return None
    if op.result_channels and op.groups != 1:
        return None  # the channels of other groups are elsewhere
    if not isinstance(element_of(value), FloatType):
        return None
    return op if _are_constant(op.weight, op.bias) and shape_of(value)[1] is not None else None


def _scaled(
    b: Rewriter, conv: nn.Conv | nn.ConvTranspose, scale: Value | None, shift: Value | None
) -> Operation:
    """A convolution that computes the given one times scale [C] plus shift [C]."""
    element = element_of(conv.weight)
    weight, bias = conv.weight, conv.bias
    if scale is not None:
        shape = [1] * len(shape_of(weight))
        shape[conv.result_channels] = shape_of(scale)[0]
        weight = cast(b, b(nn.Mul(widen(b, weight), reshape(b, scale, shape))), element)
    if bias is not None and scale is not None:
        bias = b(nn.Mul(widen(b, bias), scale)).result
    if shift is not None:
        bias = shift if bias is None else b(nn.Add(widen(b, bias), shift)).result
    if bias is not None:
        bias = cast(b, bias, element)
    new = conv.clone()
    new.loc = conv.loc
    operands = [conv.x, weight, *([bias] if bias is not None else [])]
    new.operands = operands
    return b(new)


@rewrite(nn.BatchNorm)
def batch_norm_into_conv(op: nn.BatchNorm, rewriter: Rewriter) -> None:
    """batch_norm(conv(x, w, b)) -> conv(x, w * s, b * s + t)"""
    conv = conv_before(op.x)
    if conv is not None and _are_constant(op.scale, op.bias, op.mean, op.var):
        rewriter.replace(op, _scaled(rewriter, conv, *_scale_and_shift(rewriter, op)))


@rewrite(nn.BatchNorm)
def batch_norm_of_constants(op: nn.BatchNorm, rewriter: Rewriter) -> None:
    """batch_norm(x) -> x * s + t where everything but x is constant"""
    if not _are_constant(op.scale, op.bias, op.mean, op.var) or conv_before(op.x) is not None:
        return
    b, rank = rewriter, len(shape_of(op.x))
    scale, shift = (per_channel(b, v, rank) for v in _scale_and_shift(b, op))
    finish(b, op, b(nn.Add(b(nn.Mul(widen(b, op.x), scale)), shift)))


@rewrite(nn.Mul)
def scale_into_conv(op: nn.Mul, rewriter: Rewriter) -> None:
    """mul(conv(x, w, b), s) -> conv(x, w * s, b * s) where s is constant and per channel"""
    conv = conv_before(op.lhs)
    if conv is not None and is_per_channel(op.rhs, op.out.type):
        factor = widen(rewriter, _channels(rewriter, op.rhs))
        rewriter.replace(op, _scaled(rewriter, conv, factor, None))


@rewrite(nn.Add)
def shift_into_conv(op: nn.Add, rewriter: Rewriter) -> None:
    """add(conv(x, w, b), t) -> conv(x, w, b + t) where t is constant and per channel"""
    conv = conv_before(op.lhs)
    if conv is not None and is_per_channel(op.rhs, op.out.type):
        shift = widen(rewriter, _channels(rewriter, op.rhs))
        rewriter.replace(op, _scaled(rewriter, conv, None, shift))


@rewrite(nn.Sub)
def difference_into_conv(op: nn.Sub, rewriter: Rewriter) -> None:
    """sub(conv(x, w, b), t) -> conv(x, w, b - t) where t is constant and per channel"""
    conv = conv_before(op.lhs)
    if conv is not None and is_per_channel(op.rhs, op.out.type):
        shift = widen(rewriter, _channels(rewriter, op.rhs))
        zero = scalar(rewriter, 0.0, element_of(shift))
        negative = rewriter(nn.Sub(zero, shift)).result
        rewriter.replace(op, _scaled(rewriter, conv, None, negative))


def is_per_channel(value: Value, out: TensorType) -> bool:
    """Whether the value is a constant [C, 1..], a number for each channel of a
    result [N, C, D..].
    """
    wanted = (out.shape[1], *(1,) * (out.rank - 2))
    is_constant = is_arranged_constant(value) or is_made_of_constants(value)
    return is_constant and shape_of(value) in (wanted, (1, *wanted))


def _channels(b: Rewriter, value: Value) -> Value:
    """[C, 1..] or [1, C, 1..] as [C]."""
    return reshape(b, value, (value.type.num_elements,))


PATTERNS = (
    batch_norm_into_conv,
    batch_norm_of_constants,
    scale_into_conv,
    shift_into_conv,
    difference_into_conv,
)
