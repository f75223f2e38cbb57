"""Quotients and remainders of integers, by how they round."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir.core import Value
from ...ir.declare import UNIT, attribute
from ...ir.diagnostics import NncError
from ...ir.lazy import np
from ...ir.rewriting import constant_value
from ...ir.traits import MovesElements, NoMemoryEffect
from ..folding import is_constant_number, number_attribute, signed, width_of
from .base import IntBinary
from .compare import CmpI, Select
from .integer import OrI


def truncated_quotient(a: int, b: int) -> int:
    """A / b rounded toward zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


class IntDivision(IntBinary, traits=(NoMemoryEffect,)):
    """A division or remainder: undefined for a divisor of zero, so not `Pure`."""

    undefined = "the least value is divided by -1"

    def is_undefined(self, a, b):
        """Which elements divide the least value by -1, whose quotient is out of range."""
        if self.is_unsigned:
            return False
        return (b == -1) & (a == -(1 << (width_of(self.lhs.type) - 1)))

    def is_speculatable(self) -> bool:
        """Whether the divisor is never 0 nor, where signed, -1: a constant, or a selection of one
        in their place.
        """
        unsafe = (0,) if self.is_unsigned else (0, -1)
        divisor = _before_moves(self.rhs)
        chosen = divisor.defined_by(Select)
        if chosen is None:
            return _is_none_of(divisor, unsafe)
        replaced = list(_compared_with(chosen.condition, chosen.false_value))
        left = [n for n in unsafe if not any(_is_number(one, n) for one in replaced)]
        return _is_none_of(chosen.true_value, unsafe) and not left

    def check_divisor(self, divisor) -> None:
        """Raise NncError where an element is zero."""
        if not np.all(divisor):
            raise NncError(f"'{self.name}' op divides by zero", self.loc)

    def evaluate(self, lhs, rhs):
        self.check_divisor(rhs)
        return super().evaluate(lhs, rhs)


def _before_moves(value: Value) -> Value:
    """The value before operations that only move its elements, such as a transpose."""
    while (op := value.defining_op) is not None and op.has_trait(MovesElements):
        value = op.operands[0]
    return value


def _is_none_of(value: Value, numbers: tuple[int, ...]) -> bool:
    """Whether a value is a constant none of whose elements, read as signed, is one of `numbers`."""
    width = width_of(value.type)
    return is_constant_number(constant_value(value), lambda v: signed(v, width) not in numbers)


def _is_number(value: Value, number: int) -> bool:
    """Whether a value is constant, and all of it one number."""
    width = width_of(value.type)
    return is_constant_number(constant_value(value), lambda v: signed(v, width) == number)


def _compared_with(condition: Value, value: Value) -> Iterator[Value]:
    """The values with which `condition` compares `value`.

    `condition` is `value == a`, or an `or` of such; it is true if `value` equals any of them.
    """
    op = condition.defining_op
    if isinstance(op, OrI):
        yield from _compared_with(op.lhs, value)
        yield from _compared_with(op.rhs, value)
    elif isinstance(op, CmpI) and op.predicate == "eq":
        yield from (other for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)) if one is value)


class _Quotient(IntDivision):
    """Base of the quotients. x / 1 is folded to x; an undefined one is not folded: x / 0 or, of
    signed integers, the least value / -1.
    """

    needs_width = True
    identity = 1
    example = "%0 = {name} %a, %b : i32"

    def compute(self, a: int, b: int, width: int) -> int | None:
        if b == 0 or (not self.is_unsigned and b == -1 and a == -(1 << (width - 1))):
            return None
        return self.quotient(a, b)

    def quotient(self, a: int, b: int) -> int:
        """The rounded quotient of Python ints; b is not 0."""
        raise NotImplementedError


class DivUI(_Quotient, name="arith.divui"):
    """The quotient of unsigned integers, rounded down.

    Source: upstream arith.divui.
    """

    isExact = attribute(UNIT)  # noqa: N815

    is_unsigned = True
    ufunc = "floor_divide"
    format = "$lhs `,` $rhs (`exact` $isExact^)? attr-dict `:` type($result)"
    example = "%0 = arith.divui %a, %b exact : i32"

    def quotient(self, a, b):
        return a // b


class DivSI(_Quotient, name="arith.divsi"):
    """The quotient of signed integers, rounded toward zero.

    Source: upstream arith.divsi.
    """

    isExact = attribute(UNIT)  # noqa: N815

    format = "$lhs `,` $rhs (`exact` $isExact^)? attr-dict `:` type($result)"

    def quotient(self, a, b):
        return truncated_quotient(a, b)

    def apply(self, a, b):
        floor = a // b
        return floor + ((floor < 0) & (floor * b != a))


class _CeilingQuotient(_Quotient):
    """Base of the quotients that are rounded up."""

    def quotient(self, a, b):
        return -(-a // b)

    def apply(self, a, b):
        return a // b + (a % b != 0)


class CeilDivUI(_CeilingQuotient, name="arith.ceildivui"):
    """The quotient of unsigned integers, rounded up.

    Source: upstream arith.ceildivui.
    """

    is_unsigned = True


class CeilDivSI(_CeilingQuotient, name="arith.ceildivsi"):
    """The quotient of signed integers, rounded toward positive infinity.

    Source: upstream arith.ceildivsi.
    """


class FloorDivSI(_Quotient, name="arith.floordivsi"):
    """The quotient of signed integers, rounded toward negative infinity.

    Source: upstream arith.floordivsi.
    """

    ufunc = "floor_divide"

    def quotient(self, a, b):
        return a // b


class _Remainder(IntDivision):
    """Base of the remainders."""

    def simplify(self, left, right):
        """X % 1 is 0."""
        return number_attribute(0, self.result.type) if self._is(right, 1) else None


class RemUI(_Remainder, name="arith.remui"):
    """The remainder of unsigned integers.

    Source: upstream arith.remui.
    """

    is_unsigned = True
    ufunc = "remainder"
    example = "%0 = arith.remui %a, %b : i32"

    @staticmethod
    def compute(a: int, b: int) -> int | None:
        return a % b if b else None


class RemSI(_Remainder, name="arith.remsi"):
    """The remainder of signed integers, with the sign of the dividend.

    Source: upstream arith.remsi.
    """

    ufunc = "fmod"
    example = "%0 = arith.remsi %a, %b : i32"

    @staticmethod
    def compute(a: int, b: int) -> int | None:
        return a - b * truncated_quotient(a, b) if b else None
