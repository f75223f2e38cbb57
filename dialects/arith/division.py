"""Quotients and remainders of integers, by how they round."""

from __future__ import annotations

from ...ir.declare import UNIT, attribute
from ..folding import number_attribute
from .base import IntDivision


def truncated_quotient(a: int, b: int) -> int:
    """A / b rounded toward zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


class _Quotient(IntDivision):
    """A quotient: x / 1 is x, and x / 0 stays as it is. Signed: so does the least value / -1."""

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


class CeilDivUI(_Quotient, name="arith.ceildivui"):
    """The quotient of unsigned integers, rounded up.

    Source: upstream arith.ceildivui.
    """

    is_unsigned = True

    def quotient(self, a, b):
        return -(-a // b)

    def apply(self, a, b):
        return a // b + (a % b != 0)


class CeilDivSI(_Quotient, name="arith.ceildivsi"):
    """The quotient of signed integers, rounded toward positive infinity.

    Source: upstream arith.ceildivsi.
    """

    def quotient(self, a, b):
        return -(-a // b)

    def apply(self, a, b):
        return a // b + (a % b != 0)


class FloorDivSI(_Quotient, name="arith.floordivsi"):
    """The quotient of signed integers, rounded toward negative infinity.

    Source: upstream arith.floordivsi.
    """

    ufunc = "floor_divide"

    def quotient(self, a, b):
        return a // b


class RemUI(IntDivision, name="arith.remui"):
    """The remainder of unsigned integers.

    Source: upstream arith.remui.
    """

    is_unsigned = True
    ufunc = "remainder"
    example = "%0 = arith.remui %a, %b : i32"

    @staticmethod
    def compute(a: int, b: int) -> int | None:
        return a % b if b else None

    def simplify(self, left, right):
        """X % 1 is 0."""
        return number_attribute(0, self.result.type) if self._is(right, 1) else None


class RemSI(IntDivision, name="arith.remsi"):
    """The remainder of signed integers, with the sign of the dividend.

    Source: upstream arith.remsi.
    """

    ufunc = "fmod"
    example = "%0 = arith.remsi %a, %b : i32"

    @staticmethod
    def compute(a: int, b: int) -> int | None:
        return a - b * truncated_quotient(a, b) if b else None

    def simplify(self, left, right):
        """X % 1 is 0."""
        return number_attribute(0, self.result.type) if self._is(right, 1) else None
