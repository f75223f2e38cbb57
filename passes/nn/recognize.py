"""Finds softmax, layer normalization, GELU and Swish where a format spells them out.

JAX and TensorFlow have no such operators, but what they write in their place is much the same in
all files. As one op, they are computed in one pass over rows, and attention is found by its
softmax.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...dialects import nn
from ...dialects.nn.reductions import ReductionOp
from ...dialects.strict_math import is_strict
from ...ir.core import Operation
from ...ir.lazy import np
from ...ir.passes import Pass, PassContext
from ...ir.rewriting import Rewriter, apply_greedily, constant_number, rewrite
from ...ir.types import TensorType
from ...ir.values import Value
from .building import element_of, reshape, shape_of
from .constants import array_attribute, constant_array


@dataclass(frozen=True)
class RecognizeComposites(Pass, name="recognize-composites", anchor="func.func"):
    """Replace the ops that a softmax, layer_norm, gelu or swish was decomposed into by that op.

    %m = nn.reduce_max %x                        %y = nn.softmax %x
    %e = nn.exp (nn.sub %x, %m)            ->
    %y = nn.div %e, (nn.reduce_sum %e)
    """

    numerics = "rounding"

    def run(self, op: Operation, context: PassContext) -> None:
        """Apply the patterns, unless math is strict."""
        if not is_strict(op):
            apply_greedily(op, PATTERNS, fold=False, trace=context.trace)


def _row(value: Value) -> Value:
    """The value before reshapes that only append dimensions of extent 1."""
    while (view := value.defined_by(nn.Reshape)) is not None:
        if shape_of(value) != (*shape_of(view.x), 1):
            break
        value = view.x
    return value


def _reduced(value: Value, kind: type[Operation]) -> Value | None:
    """The tensor of which `value` is the reduction over the last dimension; None if it is none."""
    op = _row(value).defined_by(kind)
    if not isinstance(op, ReductionOp) or tuple(op.axes) != (len(shape_of(op.x)) - 1,):
        return None
    return op.x


@rewrite(nn.Div)
def softmax(op: nn.Div, rewriter: Rewriter) -> None:
    """div(e, reduce_sum(e)) -> softmax(x) where e = exp(sub(x, reduce_max(x)))"""
    largest = _largest_of_softmax(op)
    if largest is not None:
        axis = len(shape_of(largest.x)) - 1
        rewriter.replace(op, nn.Softmax(largest.x, axis=axis))


def _largest_of_softmax(op: nn.Div) -> nn.ReduceMax | None:
    """The maximum that a softmax over the last dimension subtracts from each row; None if it is
    none.
    """
    e = op.lhs.defined_by(nn.Exp)
    shifted = e and e.operands[0].defined_by(nn.Sub)
    if e is None or shifted is None or _reduced(op.rhs, nn.ReduceSum) is not op.lhs:
        return None
    largest = _row(shifted.rhs)
    floor = largest.defined_by(nn.Max)
    if floor is not None and constant_number(floor.rhs) == -math.inf:
        largest = _row(floor.lhs)
    found = largest.defined_by(nn.ReduceMax)
    return found if _reduced(largest, nn.ReduceMax) is shifted.lhs else None


@rewrite(nn.Matmul)
def attention_in_order(op: nn.Matmul, rewriter: Rewriter) -> None:
    """matmul(a, transpose(softmax(x))) -> transpose(matmul(softmax(x), transpose(a)))"""
    turned = op.rhs.defined_by(nn.Transpose)
    rank = len(shape_of(op.rhs))
    swap = (*range(rank - 2), rank - 1, rank - 2)
    if turned is None or tuple(turned.permutation) != swap or len(shape_of(op.lhs)) != rank:
        return
    if turned.x.defined_by(nn.Softmax) is not None:
        other = rewriter(nn.Transpose(op.lhs, swap)).result
        rewriter.replace(op, nn.Transpose(rewriter(nn.Matmul(turned.x, other)).result, swap))


@rewrite(nn.Mul)
def gelu(op: nn.Mul, rewriter: Rewriter) -> None:
    """mul(mul(x, 1/2), erfc(mul(neg(x), 1/sqrt(2)))) -> gelu(x)"""
    half, beyond = op.lhs.defined_by(nn.Mul), _complement_of(op.rhs)
    inner = beyond and beyond.defined_by(nn.Mul)
    negative = inner and inner.lhs.defined_by(nn.Neg)
    if half is None or inner is None or negative is None or constant_number(half.rhs) != 0.5:
        return
    factor = constant_number(inner.rhs)
    is_root = factor is not None and math.isclose(factor, math.sqrt(0.5), rel_tol=1e-6)
    if is_root and negative.operands[0] is half.lhs:
        rewriter.replace(op, nn.Gelu(half.lhs))


def _complement_of(value: Value) -> Value | None:
    """The z of a value erfc(z) or 1 - erf(z); None for other values."""
    if (whole := value.defined_by(nn.Erfc)) is not None:
        return whole.operands[0]
    rest = value.defined_by(nn.Sub)
    erf = rest and rest.rhs.defined_by(nn.Erf)
    return erf.operands[0] if rest and erf and constant_number(rest.lhs) == 1 else None


@rewrite(nn.Mul)
def swish(op: nn.Mul, rewriter: Rewriter) -> None:
    """mul(x, sigmoid(x)), or mul(x, sigmoid(mul(x, c))) -> swish(x), which is one quotient

    It is rounded once less: x / (1 + e**-x) has no reciprocal of its own.
    """
    for x, share in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        sigmoid = share.defined_by(nn.Sigmoid)
        if sigmoid is None or len(share.users) > 1:
            continue
        alpha, inner = 1.0, sigmoid.operands[0]
        if inner is not x and (scaled := inner.defined_by(nn.Mul)) is not None:
            factor = constant_number(scaled.rhs)
            alpha, inner = (1.0, inner) if factor is None else (float(factor), scaled.lhs)
        if inner is x and op.out.type is x.type:
            rewriter.replace(op, nn.Swish(x, alpha=alpha))
            return


# -- layer normalization --------------------------------------------------------------------------


def _mean_of(value: Value) -> Value | None:
    """The x of which a value [.., 1] is the mean over the last dimension; None if it is none."""
    if (x := _reduced(value, nn.ReduceMean)) is not None:
        return x
    scaled = _row(value).defined_by(nn.Mul)
    x = scaled and _reduced(scaled.lhs, nn.ReduceSum)
    if scaled is None or x is None or not isinstance(count := shape_of(x)[-1], int):
        return None
    factor = constant_number(scaled.rhs)
    return x if factor is not None and math.isclose(factor, 1 / count, rel_tol=1e-6) else None


def _square_of(value: Value) -> Value | None:
    op = value.defined_by(nn.Mul)
    return op.lhs if op is not None and (op.lhs is op.rhs or _same(op.lhs, op.rhs)) else None


def _same(a: Value, b: Value) -> bool:
    """Whether both are an nn.sub of the same operands."""
    one, other = a.defined_by(nn.Sub), b.defined_by(nn.Sub)
    return one is not None and other is not None and list(one.operands) == list(other.operands)


def _is_centered(value: Value, x: Value) -> bool:
    """Whether a value is x - mean(x)."""
    op = value.defined_by(nn.Sub)
    return op is not None and op.lhs is x and _mean_of(op.rhs) is x


def _is_variance_of(value: Value, x: Value) -> bool:
    """Whether a value is mean((x - mean)^2), or max(mean(x^2) - mean^2, 0)."""
    squares = _mean_of(value)
    if squares is not None:
        centered = _square_of(squares)
        return centered is not None and _is_centered(centered, x)
    floor = value.defined_by(nn.Max)
    apart = floor and constant_number(floor.rhs) == 0 and floor.lhs.defined_by(nn.Sub)
    if not isinstance(apart, nn.Sub):
        return False
    squares, mean = _mean_of(apart.lhs), _square_of(apart.rhs)
    return (
        squares is not None
        and mean is not None
        and _square_of(squares) is x
        and _mean_of(mean) is x
    )


def _factor(value: Value, x: Value) -> tuple[Value, float] | None:
    """The scale and epsilon of a value rsqrt(variance of x + epsilon) * scale; None for other
    values.
    """
    scaled = value.defined_by(nn.Mul)
    root = scaled and scaled.lhs.defined_by(nn.Rsqrt)
    total = root and root.operands[0].defined_by(nn.Add)
    if scaled is None or total is None or not _is_variance_of(total.lhs, x):
        return None
    epsilon = constant_number(total.rhs)
    return None if epsilon is None else (scaled.rhs, float(epsilon))


def _vector(b: Rewriter, value: Value, count: int) -> Value | None:
    """A constant with equal rows as one row of `count` elements; None for other values."""
    array = constant_array(value)
    if array is None or array.ndim < 1 or array.shape[-1] != count:
        return None
    rows = array.reshape(-1, count)
    if len(rows) == 1:
        return reshape(b, value, (count,))
    if not (rows == rows[0]).all():
        return None
    row = np.ascontiguousarray(rows[0])
    return b(nn.Constant(array_attribute(row, TensorType((count,), element_of(value))))).result


@rewrite(nn.Add)
def layer_norm(op: nn.Add, rewriter: Rewriter) -> None:
    """(x - mean) * f + shift, or x * f + (shift - mean * f), with f = rsqrt(..) * scale"""
    scaled = op.lhs.defined_by(nn.Mul)
    if scaled is None or not (shape := shape_of(op.out)) or shape_of(scaled.rhs) != shape:
        return
    centered, shift = scaled.lhs.defined_by(nn.Sub), op.rhs
    if centered is not None and (found := _factor(scaled.rhs, centered.lhs)):
        x = centered.lhs
        if not _is_centered(scaled.lhs, x):
            return
    else:
        x, rest = scaled.lhs, op.rhs.defined_by(nn.Add)
        moved = rest and rest.lhs.defined_by(nn.Mul)
        negative = moved and moved.lhs.defined_by(nn.Neg)
        found = _factor(scaled.rhs, x)
        if rest is None or moved is None or negative is None or found is None:
            return
        if moved.rhs is not scaled.rhs or _mean_of(negative.operands[0]) is not x:
            return
        shift = rest.rhs
    scale = _vector(rewriter, found[0], shape[-1])
    shift = _vector(rewriter, shift, shape[-1])
    if scale is not None and shift is not None:
        axis = len(shape) - 1
        rewriter.replace(op, nn.LayerNorm(x, scale, shift, axis=axis, epsilon=found[1]))


PATTERNS = (softmax, attention_in_order, gelu, swish, layer_norm)
