"""Integer arithmetic: sums, products, quotients, bits, shifts, minima and maxima."""

from __future__ import annotations

import operator

from ..folding import width_of
from ..vocabulary import *
from .base import (
    IntBinary,
    IntBinaryWithOverflow,
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

    def result_names(self) -> list[str | None]:
        """`c4_vscale` for a constant times `vector.vscale`, as upstream."""
        for factor, other in ((self.lhs, self.rhs), (self.rhs, self.lhs)):
            scale, constant = other.defining_op, factor.defining_op
            if scale is not None and scale.name == "vector.vscale" and constant is not None:
                value = constant.properties.get("value")
                if constant.name == "arith.constant" and isinstance(value, IntegerAttr):
                    return [f"c{value.value}_vscale"]
        return [None]


# -- bits ----------------------------------------------------------------------------------------


class AndI(IntBinary, name="arith.andi", traits=(Pure, Commutative, Idempotent)):
    """Bitwise and.

    Source: upstream arith.andi.
    """

    compute = staticmethod(operator.and_)
    ufunc = "bitwise_and"
    identity = "ones"
    absorbing = 0

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
        return np.right_shift(a, as_unsigned(b, self.lhs.type).astype(a.dtype))

    undefined = "a shift by the width or more"

    def is_undefined(self, a, b):
        """Where the distance is not below the width, or bits are lost against `exact`."""
        far = as_unsigned(b, self.lhs.type) >= width_of(self.lhs.type)
        if not self.isExact:
            return far
        return far | ((self.apply(a, b) << as_unsigned(b, self.lhs.type).astype(a.dtype)) != a)


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

    def is_undefined(self, a, b):
        """Where the distance is not below the width, or the result wraps against the flags."""
        far = as_unsigned(b, self.lhs.type) >= width_of(self.lhs.type)
        return far | super().is_undefined(a, b)


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

    example = "%0 = {name} %a, %b : i32"


class MaxSI(_MinMax, name="arith.maxsi"):
    """The larger of two signed integers.

    Source: upstream arith.maxsi.
    """

    compute = staticmethod(max)
    ufunc = "maximum"
    identity = "signed_min"
    absorbing = "signed_max"


class MaxUI(_MinMax, name="arith.maxui"):
    """The larger of two unsigned integers.

    Source: upstream arith.maxui.
    """

    is_unsigned = True
    compute = staticmethod(max)
    ufunc = "maximum"
    identity = 0
    absorbing = "ones"


class MinSI(_MinMax, name="arith.minsi"):
    """The smaller of two signed integers.

    Source: upstream arith.minsi.
    """

    compute = staticmethod(min)
    ufunc = "minimum"
    identity = "signed_max"
    absorbing = "signed_min"


class MinUI(_MinMax, name="arith.minui"):
    """The smaller of two unsigned integers.

    Source: upstream arith.minui.
    """

    is_unsigned = True
    compute = staticmethod(min)
    ufunc = "minimum"
    identity = "ones"
    absorbing = 0
