"""Canonicalization of arith: constants to the right and together, casts of casts, negations."""

from __future__ import annotations

from collections.abc import Callable

from ...dialects import arith
from ...dialects.folding import is_constant_number
from ...ir.attributes import Attribute
from ...ir.core import Value
from ...ir.declare import Op
from ...ir.dialect import registry
from ...ir.rewriting import Rewriter, constant_value, rewrite
from ...ir.traits import Commutative
from ...ir.types import element_type, i1

_COMMUTATIVE = tuple(
    op
    for op in registry.dialect("arith").ops.values()
    if op.has_trait(Commutative) and len(op.definition.operands) == 2
)


@rewrite(*_COMMUTATIVE)
def constant_to_right(op: Op, rewriter: Rewriter) -> None:
    """c + x -> x + c, for any commutative operation"""
    left, right = op.operands
    if constant_value(left) is not None and constant_value(right) is None:
        rewriter.set_operand(op, 0, right)
        rewriter.set_operand(op, 1, left)


_SWAPPED = {"slt": "sgt", "sle": "sge", "ult": "ugt", "ule": "uge"}
_SWAPPED |= {b: a for a, b in _SWAPPED.items()} | {"eq": "eq", "ne": "ne"}
_INVERTED = {"eq": "ne", "slt": "sge", "sle": "sgt", "ult": "uge", "ule": "ugt"}
_INVERTED |= {b: a for a, b in _INVERTED.items()}


@rewrite(arith.CmpI)
def compare_with_constant_on_right(op: arith.CmpI, rewriter: Rewriter) -> None:
    """c < x -> x > c"""
    if constant_value(op.lhs) is not None and constant_value(op.rhs) is None:
        rewriter.replace(op, arith.CmpI(_SWAPPED[op.predicate], op.rhs, op.lhs))


# -- constants of nested operations meet ---------------------------------------------------------


def _is_constant(*values: Value) -> bool:
    return all(constant_value(v) is not None for v in values)


def _combine(
    op: Op,
    op_class: type[Op],
    left: Value,
    right: Value,
    make: Callable[[Value], Op],
    rewriter: Rewriter,
) -> None:
    """Replace `op` by make(c), where c is the constant `op_class(left, right)` of two constants."""
    trial = op_class(left, right)
    folded = trial.fold()
    trial.drop_all_references()
    if folded is None:
        return
    (known,) = folded
    if isinstance(known, Attribute):
        constant = arith.materialize_constant(known, left.type, rewriter.loc)
        if constant is None:
            return
        known = rewriter.insert(constant).result
    rewriter.replace(op, make(known))


_ASSOCIATIVE = (
    arith.AddI,
    arith.MulI,
    arith.AndI,
    arith.OrI,
    arith.XOrI,
    arith.MaxSI,
    arith.MaxUI,
    arith.MinSI,
    arith.MinUI,
)


@rewrite(*_ASSOCIATIVE)
def combine_constants(op: arith.AddI, rewriter: Rewriter) -> None:
    """(x + c) + d -> x + (c + d), for any associative operation on integers"""
    kind = type(op)
    inner = op.lhs.defined_by(kind)
    if inner is not None and _is_constant(op.rhs, inner.rhs):
        _combine(op, kind, inner.rhs, op.rhs, lambda c: kind(inner.lhs, c), rewriter)


@rewrite(arith.AddI)
def add_after_subtract(op: arith.AddI, rewriter: Rewriter) -> None:
    """(x - c) + d -> x + (d - c), and (c - x) + d -> (c + d) - x"""
    add, subtract = arith.AddI, arith.SubI
    inner = op.lhs.defined_by(subtract)
    if inner is None or not _is_constant(op.rhs):
        return
    if _is_constant(inner.rhs):
        _combine(op, subtract, op.rhs, inner.rhs, lambda c: add(inner.lhs, c), rewriter)
    elif _is_constant(inner.lhs):
        _combine(op, add, inner.lhs, op.rhs, lambda c: subtract(c, inner.rhs), rewriter)


@rewrite(arith.SubI)
def subtract_after_add(op: arith.SubI, rewriter: Rewriter) -> None:
    """(x + c) - d -> x + (c - d), and d - (x + c) -> (d - c) - x"""
    add, subtract = arith.AddI, arith.SubI
    left, right = op.lhs.defined_by(add), op.rhs.defined_by(add)
    if left is not None and _is_constant(op.rhs, left.rhs):
        _combine(op, subtract, left.rhs, op.rhs, lambda c: add(left.lhs, c), rewriter)
    elif right is not None and _is_constant(op.lhs, right.rhs):
        _combine(op, subtract, op.lhs, right.rhs, lambda c: subtract(c, right.lhs), rewriter)


@rewrite(arith.SubI)
def subtract_after_subtract(op: arith.SubI, rewriter: Rewriter) -> None:
    """(x - c) - d -> x - (c + d), (c - x) - d -> (c - d) - x, d - (x - c) -> (d + c) - x"""
    add, subtract = arith.AddI, arith.SubI
    left, right = op.lhs.defined_by(subtract), op.rhs.defined_by(subtract)
    if left is not None and _is_constant(op.rhs, left.rhs):
        _combine(op, add, left.rhs, op.rhs, lambda c: subtract(left.lhs, c), rewriter)
    elif left is not None and _is_constant(op.rhs, left.lhs):
        _combine(op, subtract, left.lhs, op.rhs, lambda c: subtract(c, left.rhs), rewriter)
    elif right is not None and _is_constant(op.lhs, right.rhs):
        _combine(op, add, op.lhs, right.rhs, lambda c: subtract(c, right.lhs), rewriter)


# -- casts of casts ------------------------------------------------------------------------------


@rewrite(arith.ExtSI, arith.ExtUI)
def merge_extensions(op: arith.ExtSI, rewriter: Rewriter) -> None:
    """ext(ext(x)) -> the inner ext of x, if both are of one kind or the inner one extends with
    zeros
    """
    inner = op.input.defining_op
    if not isinstance(inner, arith.ExtSI | arith.ExtUI):
        return
    if isinstance(inner, arith.ExtUI) or type(inner) is type(op):
        rewriter.replace(op, type(inner)(inner.input, out=op.out.type))


@rewrite(arith.TruncI)
def merge_truncations(op: arith.TruncI, rewriter: Rewriter) -> None:
    """trunc(trunc(x)) -> trunc(x)"""
    if inner := op.input.defined_by(arith.TruncI):
        rewriter.replace(op, arith.TruncI(inner.input, out=op.out.type))


@rewrite(arith.TruncI)
def truncate_extension(op: arith.TruncI, rewriter: Rewriter) -> None:
    """trunc(ext(x)) -> ext(x) or trunc(x), depending on the widths"""
    inner = op.input.defining_op
    if not isinstance(inner, arith.ExtSI | arith.ExtUI):
        return
    source, target = (element_type(t).width for t in (inner.input.type, op.out.type))
    if source < target:
        rewriter.replace(op, type(inner)(inner.input, out=op.out.type))
    elif source > target:
        rewriter.replace(op, arith.TruncI(inner.input, out=op.out.type))


@rewrite(arith.Bitcast)
def merge_bitcasts(op: arith.Bitcast, rewriter: Rewriter) -> None:
    """bitcast(bitcast(x)) -> bitcast(x)"""
    if inner := op.input.defined_by(arith.Bitcast):
        rewriter.replace(op, arith.Bitcast(inner.input, out=op.out.type))


# -- negations -----------------------------------------------------------------------------------


def _negated(value: Value) -> Value | None:
    """The x of a value `x xor true`; None for other values."""
    inner = value.defined_by(arith.XOrI)
    if inner is None or element_type(value.type) is not i1:
        return None
    is_true = is_constant_number(constant_value(inner.rhs), lambda v: v == 1)
    return inner.lhs if is_true else None


@rewrite(arith.XOrI)
def negate_comparison(op: arith.XOrI, rewriter: Rewriter) -> None:
    """not (x < y) -> x >= y"""
    inner = op.lhs.defined_by(arith.CmpI)
    if inner is not None and _negated(op.result) is not None:
        rewriter.replace(op, arith.CmpI(_INVERTED[inner.predicate], inner.lhs, inner.rhs))


@rewrite(arith.Select)
def select_of_negation(op: arith.Select, rewriter: Rewriter) -> None:
    """select(not c, x, y) -> select(c, y, x)"""
    if (condition := _negated(op.condition)) is not None:
        rewriter.replace(op, arith.Select(condition, op.false_value, op.true_value))


@rewrite(arith.Select)
def select_of_select(op: arith.Select, rewriter: Rewriter) -> None:
    """select(c, select(c, x, _), select(c, _, y)) -> select(c, x, y)"""
    yes, no = op.true_value.defined_by(arith.Select), op.false_value.defined_by(arith.Select)
    if yes is not None and yes.condition is op.condition:
        rewriter.set_operand(op, 1, yes.true_value)
    if no is not None and no.condition is op.condition:
        rewriter.set_operand(op, 2, no.false_value)


@rewrite(arith.SubF)
def subtract_negation(op: arith.SubF, rewriter: Rewriter) -> None:
    """x - (-y) -> x + y, which rounds in the same way"""
    if inner := op.rhs.defined_by(arith.NegF):
        rewriter.replace(op, arith.AddF(op.lhs, inner.operand, op.properties.get("fastmath")))


@rewrite(arith.MulF, arith.DivF)
def cancel_negations(op: arith.MulF, rewriter: Rewriter) -> None:
    """(-x) * (-y) -> x * y, and likewise for the quotient"""
    left, right = op.lhs.defined_by(arith.NegF), op.rhs.defined_by(arith.NegF)
    if left is not None and right is not None:
        rewriter.replace(op, type(op)(left.operand, right.operand, op.properties.get("fastmath")))


PATTERNS = [
    constant_to_right,
    compare_with_constant_on_right,
    combine_constants,
    add_after_subtract,
    subtract_after_add,
    subtract_after_subtract,
    merge_extensions,
    merge_truncations,
    truncate_extension,
    merge_bitcasts,
    negate_comparison,
    select_of_negation,
    select_of_select,
    subtract_negation,
    cancel_negations,
]
