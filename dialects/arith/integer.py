"""Integer arithmetic: sums, products, quotients, bits, shifts, minima and maxima."""

from __future__ import annotations

import operator

from ...ir.constraints import BoolLike, Same, SignlessIntegerLike
from ...ir.declare import UNIT, Op, Operand, Result, attribute, operand, result
from ...ir.rewriting import constant_value
from ...ir.traits import Commutative, Elementwise, Idempotent, Pure
from ...ir.types import i1, with_shape_of
from ..folding import fold_elementwise, number_attribute, signed, unsigned, width_of
from .base import (
    IntBinary,
    IntBinaryWithOverflow,
    IntDivision,
    as_type,
    as_unsigned,
)

# -- sums and products -----------------------------------------------------------------------


class AddI(IntBinaryWithOverflow, name="arith.addi", traits=(Commutative,)):
    """The sum modulo 2 to the width.

    Source: upstream arith.addi.
    """

    compute = staticmethod(operator.add)
    ufunc = "add"
    identity = 0
    example = "%0 = arith.addi %a, %b overflow<nsw, nuw> : vector<4xi32>"

    def simplify(self, left, right):
        """(a - b) + b and b + (a - b) are a."""
        for one, other in ((self.lhs, self.rhs), (self.rhs, self.lhs)):
            if (inner := one.defined_by(SubI)) and inner.rhs is other:
                return inner.lhs
        return None


class SubI(IntBinaryWithOverflow, name="arith.subi"):
    """The difference modulo 2 to the width.

    Source: upstream arith.subi.
    """

    compute = staticmethod(operator.sub)
    ufunc = "subtract"
    identity = 0
    of_equals = 0
    example = "%0 = arith.subi %a, %b : i64"

    def simplify(self, left, right):
        """(a + b) - b is a, and (a + b) - a is b."""
        if inner := self.lhs.defined_by(AddI):
            if inner.rhs is self.rhs:
                return inner.lhs
            if inner.lhs is self.rhs:
                return inner.rhs
        return None


class MulI(IntBinaryWithOverflow, name="arith.muli", traits=(Commutative,)):
    """The product modulo 2 to the width.

    Source: upstream arith.muli.
    """

    compute = staticmethod(operator.mul)
    ufunc = "multiply"
    identity = 1
    absorbing = 0
    example = "%0 = arith.muli %a, %b : index"


class _Extended(Op, traits=(Pure, Elementwise, Commutative)):
    """Two integers to the low and the high part of an exact result."""

    def result_names(self) -> list[str]:
        """Those of the declaration."""
        return [part.name for part in self.definition.results]

    def fold(self):
        constants = [constant_value(v) for v in self.operands]
        if any(c is None for c in constants):
            return None
        parts = [
            fold_elementwise(lambda *row, n=n: self._exact(*row)[n], constants, result.type)
            for n, result in enumerate(self.results)
        ]
        return None if any(p is None for p in parts) else parts

    def _exact(self, a: int, b: int) -> tuple[int, int]:
        """Both parts from attribute values."""
        raise NotImplementedError

    def evaluate(self, lhs, rhs):
        import numpy as np

        both = np.frompyfunc(lambda a, b: self._exact(int(a), int(b)), 2, 2)
        return tuple(
            as_type(_wrapped(part, result.type), result.type)
            for part, result in zip(both(lhs, rhs), self.results, strict=True)
        )


def _wrapped(values, type):
    """Python ints in the signed range of the type, so that NumPy can hold them."""
    import numpy as np

    width = width_of(type)
    return np.frompyfunc(lambda v: signed(v, width), 1, 1)(values)


class AddUIExtended(_Extended, name="arith.addui_extended"):
    """The sum of unsigned integers and whether it wrapped.

    Source: upstream arith.addui_extended.
    """

    lhs: Operand = operand(SignlessIntegerLike)
    rhs: Operand = operand(Same("lhs"))
    sum: Result = result(Same("lhs"))
    overflow: Result = result(BoolLike)

    format = "$lhs `,` $rhs attr-dict `:` type($sum) `,` type($overflow)"
    example = "%sum, %overflow = arith.addui_extended %a, %b : i32, i1"

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """The operands' type, and i1 in its shape."""
        return [operand_types[0], with_shape_of(operand_types[0], i1)]

    def fold(self):
        right = constant_value(self.rhs)
        if right is not None and right == number_attribute(0, self.rhs.type):
            false = number_attribute(0, self.overflow.type)
            return None if false is None else [self.lhs, false]
        return super().fold()

    def _exact(self, a: int, b: int) -> tuple[int, int]:
        width = width_of(self.lhs.type)
        total = unsigned(a, width) + unsigned(b, width)
        return total, total >> width


class _MulExtended(_Extended):
    """The exact product of two integers as two of their width."""

    lhs: Operand = operand(SignlessIntegerLike)
    rhs: Operand = operand(Same("lhs"))
    low: Result = result(Same("lhs"))
    high: Result = result(Same("lhs"))

    format = "$lhs `,` $rhs attr-dict `:` type($lhs)"


class MulSIExtended(_MulExtended, name="arith.mulsi_extended"):
    """The product of signed integers: its low half and its high half.

    Source: upstream arith.mulsi_extended.
    """

    example = "%low, %high = arith.mulsi_extended %a, %b : i32"

    def _exact(self, a: int, b: int) -> tuple[int, int]:
        width = width_of(self.lhs.type)
        product = signed(a, width) * signed(b, width)
        return product, product >> width


class MulUIExtended(_MulExtended, name="arith.mului_extended"):
    """The product of unsigned integers: its low half and its high half.

    Source: upstream arith.mului_extended.
    """

    example = "%low, %high = arith.mului_extended %a, %b : vector<4xi32>"

    def _exact(self, a: int, b: int) -> tuple[int, int]:
        width = width_of(self.lhs.type)
        product = unsigned(a, width) * unsigned(b, width)
        return product, product >> width


# -- quotients and remainders ------------------------------------------------------------------


def truncated_quotient(a: int, b: int) -> int:
    """A / b rounded toward zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


class _Quotient(IntDivision):
    """A quotient: x / 1 is x, and x / 0 stays as it is. Signed: so does the least value / -1."""

    needs_width = True
    identity = 1

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
    example = "%0 = arith.divsi %a, %b : i32"

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
    example = "%0 = arith.ceildivui %a, %b : i32"

    def quotient(self, a, b):
        return -(-a // b)

    def apply(self, a, b):
        return a // b + (a % b != 0)


class CeilDivSI(_Quotient, name="arith.ceildivsi"):
    """The quotient of signed integers, rounded toward positive infinity.

    Source: upstream arith.ceildivsi.
    """

    example = "%0 = arith.ceildivsi %a, %b : i32"

    def quotient(self, a, b):
        return -(-a // b)

    def apply(self, a, b):
        return a // b + (a % b != 0)


class FloorDivSI(_Quotient, name="arith.floordivsi"):
    """The quotient of signed integers, rounded toward negative infinity.

    Source: upstream arith.floordivsi.
    """

    ufunc = "floor_divide"
    example = "%0 = arith.floordivsi %a, %b : i32"

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


# -- bits ----------------------------------------------------------------------------------------


class AndI(IntBinary, name="arith.andi", traits=(Pure, Commutative, Idempotent)):
    """Bitwise and.

    Source: upstream arith.andi.
    """

    compute = staticmethod(operator.and_)
    ufunc = "bitwise_and"
    identity = "ones"
    absorbing = 0
    example = "%0 = arith.andi %a, %b : i32"

    def simplify(self, left, right):
        """X & (x & y) is x & y."""
        return _nested(self)


class OrI(IntBinary, name="arith.ori", traits=(Pure, Commutative, Idempotent)):
    """Bitwise or.

    Source: upstream arith.ori.
    """

    compute = staticmethod(operator.or_)
    ufunc = "bitwise_or"
    identity = 0
    absorbing = "ones"
    example = "%0 = arith.ori %a, %b : i32"

    def simplify(self, left, right):
        """X | (x | y) is x | y."""
        return _nested(self)


def _nested(op: IntBinary):
    """The inner of two equal idempotent operations that share an operand."""
    for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if (inner := one.defined_by(type(op))) and other in (inner.lhs, inner.rhs):
            return one
    return None


class XOrI(IntBinary, name="arith.xori", traits=(Pure, Commutative)):
    """Bitwise exclusive or.

    Source: upstream arith.xori.
    """

    compute = staticmethod(operator.xor)
    ufunc = "bitwise_xor"
    identity = 0
    of_equals = 0
    example = "%0 = arith.xori %a, %b : i32"

    def simplify(self, left, right):
        """(x ^ y) ^ y is x."""
        for one, other in ((self.lhs, self.rhs), (self.rhs, self.lhs)):
            if inner := one.defined_by(XOrI):
                if inner.rhs is other:
                    return inner.lhs
                if inner.lhs is other:
                    return inner.rhs
        return None


# -- shifts ----------------------------------------------------------------------------------------


class _RightShift(IntBinary, traits=(Pure,)):
    """A shift to lower bits; by the width or more it is poison."""

    isExact = attribute(UNIT)  # noqa: N815

    format = "$lhs `,` $rhs (`exact` $isExact^)? attr-dict `:` type($result)"
    needs_width = True
    identity = 0

    @staticmethod
    def compute(a: int, b: int, width: int) -> int | None:
        return a >> b if 0 <= b < width else None

    def apply(self, a, b):
        import numpy as np

        return np.right_shift(a, as_unsigned(b).astype(a.dtype))


class ShLI(IntBinaryWithOverflow, name="arith.shli"):
    """A shift to higher bits, filling with zeros; by the width or more it is poison.

    Source: upstream arith.shli.
    """

    needs_width = True
    identity = 0
    ufunc = "left_shift"
    example = "%0 = arith.shli %a, %b overflow<nuw> : i32"

    @staticmethod
    def compute(a: int, b: int, width: int) -> int | None:
        return a << b if 0 <= b < width else None


class ShRUI(_RightShift, name="arith.shrui"):
    """A shift to lower bits, filling with zeros; by the width or more it is poison.

    Source: upstream arith.shrui.
    """

    is_unsigned = True
    example = "%0 = arith.shrui %a, %b exact : i32"


class ShRSI(_RightShift, name="arith.shrsi"):
    """A shift to lower bits, filling with the sign; by the width or more it is poison.

    Source: upstream arith.shrsi.
    """

    example = "%0 = arith.shrsi %a, %b : i32"


# -- minima and maxima ----------------------------------------------------------------------


class _MinMax(IntBinary, traits=(Pure, Commutative, Idempotent)):
    """The smaller or the larger of two integers."""


class MaxSI(_MinMax, name="arith.maxsi"):
    """The larger of two signed integers.

    Source: upstream arith.maxsi.
    """

    compute = staticmethod(max)
    ufunc = "maximum"
    identity = "signed_min"
    absorbing = "signed_max"
    example = "%0 = arith.maxsi %a, %b : i32"


class MaxUI(_MinMax, name="arith.maxui"):
    """The larger of two unsigned integers.

    Source: upstream arith.maxui.
    """

    is_unsigned = True
    compute = staticmethod(max)
    ufunc = "maximum"
    identity = 0
    absorbing = "ones"
    example = "%0 = arith.maxui %a, %b : i32"


class MinSI(_MinMax, name="arith.minsi"):
    """The smaller of two signed integers.

    Source: upstream arith.minsi.
    """

    compute = staticmethod(min)
    ufunc = "minimum"
    identity = "signed_max"
    absorbing = "signed_min"
    example = "%0 = arith.minsi %a, %b : i32"


class MinUI(_MinMax, name="arith.minui"):
    """The smaller of two unsigned integers.

    Source: upstream arith.minui.
    """

    is_unsigned = True
    compute = staticmethod(min)
    ufunc = "minimum"
    identity = "ones"
    absorbing = 0
    example = "%0 = arith.minui %a, %b : i32"
