"""Algebraic identities of nn's elementwise ops.

A rule applies only if the replacement has the same type, so that a broadcast by the constant is
not lost.
"""

from __future__ import annotations

import math

from ...dialects import nn
from ...dialects.nn.elementwise import BinaryOp
from ...dialects.nn.unary import UnaryOp
from ...ir.attributes import DenseElements
from ...ir.core import Value
from ...ir.rewrite_rules import Var, rule, rules, term
from ...ir.rewriting import Rewriter, constant_number, constant_value, rewrite
from ...ir.traits import Commutative, ConstantLike, Idempotent, Involution
from ...ir.types import FloatType, IntegerType, Type

x = Var("x")
add, sub, mul, div, pow_ = (term(c) for c in (nn.Add, nn.Sub, nn.Mul, nn.Div, nn.Pow))

IDENTITIES = rules(
    # -0.0 + 0.0 is 0.0: the sign of a zero is not kept
    rule("add-zero", add(x, 0) >> x),
    rule("add-negative-zero", add(x, -0.0) >> x),
    rule("sub-zero", sub(x, 0) >> x),
    rule("mul-one", mul(x, 1) >> x),
    # not mul(x, 0) >> 0: NaN * 0 is NaN
    rule("div-one", div(x, 1) >> x),
    rule("pow-one", pow_(x, 1) >> x),
    rule("pow-two", pow_(x, 2) >> mul(x, x)),
    # not pow(x, 0.5) >> sqrt(x): they differ at -inf and at -0.0; what only rounds otherwise
    # is taken apart by `decompose`
)


@rewrite(UnaryOp)
def undo_involution(op: UnaryOp, rewriter: Rewriter) -> None:
    """f(f(x)) -> x where f is its own inverse"""
    if op.has_trait(Involution) and (inner := op.x.defined_by(type(op))):
        rewriter.replace(op, inner.x)


@rewrite(UnaryOp)
def repeat_idempotent(op: UnaryOp, rewriter: Rewriter) -> None:
    """f(f(x)) -> f(x) where repeating f changes nothing"""
    if op.has_trait(Idempotent) and op.x.defined_by(type(op)):
        rewriter.replace(op, op.x)


@rewrite(BinaryOp)
def same_operands(op: BinaryOp, rewriter: Rewriter) -> None:
    """max(x, x) -> x, and the same for min, and, or"""
    if op.has_trait(Idempotent) and op.lhs is op.rhs:
        rewriter.replace(op, op.lhs)


@rewrite(BinaryOp)
def constant_to_the_right(op: BinaryOp, rewriter: Rewriter) -> None:
    """add(c, x) -> add(x, c) for commutative ops and constants c"""
    if op.has_trait(Commutative) and _is_constant(op.lhs) and not _is_constant(op.rhs):
        lhs, rhs = op.lhs, op.rhs
        rewriter.set_operand(op, 0, rhs)
        rewriter.set_operand(op, 1, lhs)


def _is_constant(value: Value) -> bool:
    op = value.defining_op
    return op is not None and op.has_trait(ConstantLike)


@rewrite(nn.Div)
def divide_by_power_of_two(op: nn.Div, rewriter: Rewriter) -> None:
    """div(x, 2**n) -> mul(x, 2**-n), which is exact"""
    number, constant = constant_number(op.rhs), op.rhs.defined_by(nn.Constant)
    if not isinstance(number, float) or constant is None or number in (0.0, 1.0):
        return
    if math.isfinite(number) and abs(math.frexp(number)[0]) == 0.5 and abs(number) >= 2.0**-14:
        inverse = rewriter(nn.Constant(DenseElements.splat(1 / number, constant.value.type)))
        rewriter.replace(op, nn.Mul(op.lhs, inverse, out=op.out.type))


@rewrite(nn.Clip)
def clip_below_zero(op: nn.Clip, rewriter: Rewriter) -> None:
    """clip(x, 0, inf) -> relu(x); clip(x, -inf, inf) -> x"""
    low, high = constant_number(op.low), constant_number(op.high)
    element = op.out.type.element_type
    if low is None or high is None or not _is_largest(high, element):
        return
    if low == 0 and not (isinstance(element, IntegerType) and element.signedness == "u"):
        rewriter.replace(op, nn.Relu(op.x))
    elif isinstance(element, FloatType) and low == -math.inf:
        rewriter.replace(op, op.x)


def _is_largest(number: float, element: Type) -> bool:
    """Whether no element can exceed the number. The largest finite float does not
    qualify: inf can.
    """
    if isinstance(element, FloatType):
        return number == math.inf
    if isinstance(element, IntegerType):
        return number == (1 << (element.width - (element.signedness != "u"))) - 1
    return False


@rewrite(nn.Cast)
def cast_to_same(op: nn.Cast, rewriter: Rewriter) -> None:
    """cast(x) -> x where the element type stays"""
    if op.out.type is op.x.type:
        rewriter.replace(op, op.x)


@rewrite(nn.Cast)
def merge_casts(op: nn.Cast, rewriter: Rewriter) -> None:
    """cast(cast(x)) -> cast(x), if the type between represents every value"""
    inner = op.x.defined_by(nn.Cast)
    if inner is not None and _holds(inner.out.type.element_type, inner.x.type.element_type):
        rules = {"saturate": op.saturate, "round_mode": op.round_mode}
        rewriter.replace(op, nn.Cast(inner.x, out=op.out.type, **rules))


_PRECISION = {"f16": (11, 5), "bf16": (8, 8), "f32": (24, 8), "f64": (53, 11)}
"""The bits of the significand and of the exponent of each float type."""


def _holds(wide: Type, narrow: Type) -> bool:
    """Whether `wide` represents every value of `narrow`."""
    match wide, narrow:
        case FloatType(w), FloatType(n) if w in _PRECISION and n in _PRECISION:
            return all(a >= b for a, b in zip(_PRECISION[w], _PRECISION[n], strict=True))
        case FloatType(w), IntegerType(width) if w in _PRECISION:
            return width <= min(_PRECISION[w][0], 1 << (_PRECISION[w][1] - 1))
        case IntegerType(w, a), IntegerType(n, b):
            if n == 1:
                return True
            signed = a != "u"
            return w > 1 and (w >= n if a == b else w > n and signed)
    return False


@rewrite(nn.Where)
def where_decided(op: nn.Where, rewriter: Rewriter) -> None:
    """where(true, x, y) -> x"""
    value = constant_value(op.condition)
    if isinstance(value, DenseElements) and value.is_splat:
        chosen = op.lhs if value.values()[0] else op.rhs
        if chosen.type is op.out.type:
            rewriter.replace(op, chosen)


PATTERNS = (
    *IDENTITIES,
    undo_involution,
    repeat_idempotent,
    same_operands,
    constant_to_the_right,
    divide_by_power_of_two,
    clip_below_zero,
    cast_to_same,
    merge_casts,
    where_decided,
)
