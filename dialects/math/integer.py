"""Functions of integers, and questions about floats."""

from __future__ import annotations

import math

from ...ir.constraints import BoolLike, FloatLike
from ...ir.rewriting import constant_value
from ...ir.traits import Elementwise
from ...ir.types import FLOAT_KINDS
from ..arith.attributes import FASTMATH
from ..arith.base import IntBinary, as_signed, as_type
from ..arith.compare import TruthOp
from ..folding import fold_elementwise, is_constant_number, signed, unsigned, width_of
from ..vocabulary import *


class _IntUnary(Op, traits=(Pure, Elementwise)):
    """An integer to another of its type."""

    operand: Operand = operand(SignlessIntegerLike)
    result: Result = result(Same("operand"))

    format = "$operand attr-dict `:` type($result)"

    compute: Callable[[int, int], int]

    example = "%0 = {name} %a : i32"
    """The result from the unsigned bits and the width."""

    def fold(self):
        if self.has_trait(Idempotent) and self.operand.defined_by(type(self)):
            return [self.operand]
        folded = fold_elementwise(self._on_bits, [constant_value(self.operand)], self.result.type)
        return None if folded is None else [folded]

    def _on_bits(self, value: int) -> int:
        width = width_of(self.operand.type)
        return self.compute(unsigned(value, width), width)

    def evaluate(self, x):
        width = width_of(self.result.type)
        compute = np.frompyfunc(lambda v: signed(self._on_bits(int(v)), width), 1, 1)
        return as_type(compute(x), self.result.type)


class AbsI(_IntUnary, name="math.absi", traits=(Idempotent,)):
    """The absolute value; that of the least value is itself.

    Source: upstream math.absi.
    """

    @staticmethod
    def compute(bits: int, width: int) -> int:
        return abs(signed(bits, width))


class CtLz(_IntUnary, name="math.ctlz"):
    """The number of zero bits above the highest set bit.

    Source: upstream math.ctlz.
    """

    @staticmethod
    def compute(bits: int, width: int) -> int:
        return width - bits.bit_length()


class CtTz(_IntUnary, name="math.cttz"):
    """The number of zero bits below the lowest set bit.

    Source: upstream math.cttz.
    """

    @staticmethod
    def compute(bits: int, width: int) -> int:
        return (bits & -bits).bit_length() - 1 if bits else width


class CtPop(_IntUnary, name="math.ctpop"):
    """The number of set bits.

    Source: upstream math.ctpop.
    """

    @staticmethod
    def compute(bits: int, width: int) -> int:
        return bits.bit_count()


class IPowI(IntBinary, name="math.ipowi", traits=(NoMemoryEffect,)):
    """A signed integer to the power of another, modulo 2 to the width.

    A negative power of anything but 1 and -1 is 0; that of 0 is undefined.
    Source: upstream math.ipowi.
    """

    needs_width = True
    identity = 1

    @staticmethod
    def compute(base: int, power: int, width: int) -> int | None:
        if power >= 0:
            return pow(base, power, 1 << width)
        match base:
            case 0:
                return None
            case 1 | -1:
                return base if power % 2 else 1
        return 0

    def is_speculatable(self) -> bool:
        """Whether the power is a constant that is not negative."""
        width = width_of(self.lhs.type)
        return is_constant_number(constant_value(self.rhs), lambda v: signed(v, width) >= 0)

    def apply(self, a, b):
        width = width_of(self.lhs.type)

        def one(base: int, power: int) -> int:
            value = self.compute(int(base), int(power), width)
            if value is None:
                raise NncError("'math.ipowi' op raises zero to a negative power", self.loc)
            return signed(value, width)

        return np.frompyfunc(one, 2, 1)(a, b)

    def evaluate(self, lhs, rhs):
        return as_type(self.apply(as_signed(lhs), as_signed(rhs)), self.result.type)


class _Question(TruthOp):
    """Base of the tests of a float, such as whether it is NaN or infinite; the result is i1."""

    operand: Operand = operand(FloatLike)
    fastmath = attribute(FASTMATH, default="none")
    result: Result = result(BoolLike)

    format = "$operand attr-dict `:` type($operand)"

    compute: Callable[[float], bool]

    example = "%0 = {name} %a : f32"

    def fold(self):
        folded = fold_elementwise(
            lambda v: int(self.compute(v)), [constant_value(self.operand)], self.result.type
        )
        return None if folded is None else [folded]


class IsFinite(_Question, name="math.isfinite"):
    """Whether a float is neither infinite nor NaN.

    Source: upstream math.isfinite.
    """

    compute = staticmethod(math.isfinite)

    def evaluate(self, x):
        return np.isfinite(x)


class IsInf(_Question, name="math.isinf"):
    """Whether a float is an infinity.

    Source: upstream math.isinf.
    """

    compute = staticmethod(math.isinf)

    def evaluate(self, x):
        return np.isinf(x)


class IsNan(_Question, name="math.isnan"):
    """Whether a float is NaN.

    Source: upstream math.isnan.
    """

    compute = staticmethod(math.isnan)

    def evaluate(self, x):
        return np.isnan(x)


class IsNormal(_Question, name="math.isnormal"):
    """Whether a float is neither zero, subnormal, infinite nor NaN.

    Source: upstream math.isnormal.
    """

    @property
    def _smallest(self) -> float:
        kind = element_type(self.operand.type).kind  # type: ignore[attr-defined]
        return math.ldexp(1.0, 1 - FLOAT_KINDS[kind][3])

    def compute(self, value: float) -> bool:  # type: ignore[override]
        return math.isfinite(value) and abs(value) >= self._smallest

    def evaluate(self, x):
        return np.isfinite(x) & (np.abs(x.astype(np.float64)) >= self._smallest)
