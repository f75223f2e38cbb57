"""Rewrite rules as a table: algebra that is written as algebra.

x = Var("x")
add, mul = term(arith.AddI), term(arith.MulI)

IDENTITIES = rules(
    rule("add-zero", add(x, 0) >> x),
    rule("mul-one", mul(x, 1) >> x),
)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .attributes import Attribute, BoolAttr, DenseElements, FloatAttr, IntegerAttr
from .core import Operation, Value
from .rewriting import Pattern, Rewriter, constant_number, materialize
from .traits import Commutative
from .types import FloatType, ShapedType, Type, element_type


@dataclass(frozen=True)
class Term:
    """A pattern expression: an operation class applied to terms, variables and numbers."""

    op_class: type[Operation]
    args: tuple[Any, ...]

    def __rshift__(self, other: Any) -> tuple[Term, Any]:
        return self, other


@dataclass(frozen=True)
class Var:
    """Stands for any value; the same name stands for the same value."""

    name: str


def term(op_class: type[Operation]) -> Callable[..., Term]:
    """A name for an operation in rules: `add = term(arith.AddI)`; `add(x, 0) >> x`."""
    return lambda *args: Term(op_class, args)


def rule(name: str, sides: tuple[Term, Any], doc: str = "") -> Pattern:
    """A pattern `left >> right`.

    A number on the left matches a scalar or splat constant of that value (sign of zero
    included), on the right it makes one of the root's type. Operands of a commutative
    operation match in either order. On the right stand variables, numbers and terms.
    """
    left, right = sides

    def apply(op: Operation, rewriter: Rewriter) -> None:
        bound = _match(left, op)
        if bound is not None:
            replacement = _build(right, bound, op, rewriter)
            if replacement is not None and replacement.type is op.result.type:
                rewriter.replace(op, replacement)

    return Pattern(name, (left.op_class,), apply, doc or f"{_show(left)} -> {_show(right)}")


def rules(*patterns: Pattern) -> tuple[Pattern, ...]:
    """A table of rules; their names must differ."""
    names = Counter(p.name for p in patterns)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise TypeError(f"rules with the same name: {', '.join(twice)}")
    return patterns


def _show(side: Any) -> str:
    match side:
        case Term(op_class, args):
            return f"{op_class.name}({', '.join(_show(a) for a in args)})"
        case Var(name):
            return name
    return str(side)


def _match(pattern: Term, op: Operation) -> dict[str, Value] | None:
    orders = [op._operands]
    if op.has_trait(Commutative) and len(op._operands) == 2:
        orders.append(op._operands[::-1])
    for operands in orders:
        bound: dict[str, Value] = {}
        if len(operands) == len(pattern.args) and all(
            _match_value(p, v, bound) for p, v in zip(pattern.args, operands, strict=True)
        ):
            return bound
    return None


def _match_value(pattern: Any, value: Value, bound: dict[str, Value]) -> bool:
    match pattern:
        case Var(name):
            return bound.setdefault(name, value) is value
        case Term(op_class):
            inner = value.defined_by(op_class)
            found = _match(pattern, inner) if inner is not None else None
            if found is None or any(bound.get(k, v) is not v for k, v in found.items()):
                return False
            bound.update(found)
            return True
    number = constant_number(value)
    return number is not None and number == pattern and str(float(number)) == str(float(pattern))


def _build(side: Any, bound: dict[str, Value], op: Operation, rewriter: Rewriter) -> Value | None:
    match side:
        case Var(name):
            return bound[name]
        case Term(op_class, args):
            operands: list[Any] = [_build(a, bound, op, rewriter) for a in args]
            if None in operands:
                return None
            return rewriter.insert(op_class(*operands)).result
    attribute = number_attribute(side, op.result.type)
    constant = materialize(attribute, op.result.type, op)
    return rewriter.insert(constant).result if constant is not None else None


def number_attribute(number: int | float | bool, type: Type) -> Attribute:
    """A constant attribute of a scalar or shaped type."""
    if isinstance(type, ShapedType):
        return DenseElements.splat(number, type)
    if isinstance(number, bool):
        return BoolAttr(number)
    scalar = element_type(type)
    return (
        FloatAttr(number, type) if isinstance(scalar, FloatType) else IntegerAttr(int(number), type)
    )
