"""Floating-point arithmetic: IEEE operations, rounded to nearest even."""

from __future__ import annotations

import math
import operator

from ...ir.rewriting import constant_value
from ..vocabulary import *
from .base import FloatBinary, FloatUnary


class NegF(FloatUnary, name="arith.negf", traits=(Involution,)):
    """The number with its sign flipped, also of zeros and NaNs.

    Source: upstream arith.negf.
    """

    compute = staticmethod(operator.neg)
    ufunc = "negative"


class AddF(FloatBinary, name="arith.addf", traits=(Commutative,)):
    """The sum. x + 0.0 is not folded to x, since -0.0 + 0.0 is 0.0.

    Source: upstream arith.addf.
    """

    compute = staticmethod(operator.add)
    ufunc = "add"
    identity = -0.0
    example = "%0 = arith.addf %a, %b fastmath<nnan,contract> : vector<4xf32>"


class SubF(FloatBinary, name="arith.subf"):
    """The difference.

    Source: upstream arith.subf.
    """

    compute = staticmethod(operator.sub)
    ufunc = "subtract"
    identity = 0.0
    example = "%0 = arith.subf %a, %b : f64"


class MulF(FloatBinary, name="arith.mulf", traits=(Commutative,)):
    """The product. x * 0.0 is folded to 0.0 only with the flags nnan and nsz.

    Otherwise infinity * 0.0 is NaN, and -1.0 * 0.0 is -0.0. Source: upstream arith.mulf.
    """

    compute = staticmethod(operator.mul)
    ufunc = "multiply"
    identity = 1.0

    def fold(self):
        """With nnan and nsz, x * 0.0 is 0.0."""
        if self.fastmath_allows("nnan", "nsz"):
            for value in (constant_value(self.lhs), constant_value(self.rhs)):
                if self._is(value, 0.0):
                    return [value]
        return super().fold()


def ieee_divide(a: float, b: float) -> float:
    """A / b, where Python would raise for b = 0."""
    if b:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


class DivF(FloatBinary, name="arith.divf"):
    """The quotient.

    Source: upstream arith.divf.
    """

    compute = staticmethod(ieee_divide)
    ufunc = "divide"
    identity = 1.0
    example = "%0 = arith.divf %a, %b fastmath<fast> : f32"


class RemF(FloatBinary, name="arith.remf"):
    """The remainder, with the sign of the dividend, as C's fmod.

    Source: upstream arith.remf.
    """

    ufunc = "fmod"

    @staticmethod
    def compute(a: float, b: float) -> float:
        if math.isinf(a) or b == 0:
            return math.nan
        return math.fmod(a, b)


def larger(a: float, b: float) -> float:
    """The larger number, where -0.0 < 0.0; neither is NaN."""
    return a + b if a == b == 0 else max(a, b)


def smaller(a: float, b: float) -> float:
    """The smaller number, where -0.0 < 0.0; neither is NaN."""
    return -(-a + -b) if a == b == 0 else min(a, b)


def _apply_larger(a, b, of_nan):
    return np.where((a == 0) & (b == 0), a + b, of_nan(a, b))[()].astype(a.dtype)


def _apply_smaller(a, b, of_nan):
    return np.where((a == 0) & (b == 0), -(-a + -b), of_nan(a, b))[()].astype(a.dtype)


class _MinMaxF(FloatBinary, traits=(Commutative, Idempotent)):
    """The smaller or the larger of two floats, where -0.0 < 0.0."""

    example = "%0 = {name} %a, %b : f32"


class MaximumF(_MinMaxF, name="arith.maximumf"):
    """The larger number; NaN if one is NaN.

    Source: upstream arith.maximumf.
    """

    identity = -math.inf

    @staticmethod
    def compute(a: float, b: float) -> float:
        return math.nan if math.isnan(a) or math.isnan(b) else larger(a, b)

    def apply(self, a, b):
        return _apply_larger(a, b, np.maximum)


class MaxNumF(_MinMaxF, name="arith.maxnumf"):
    """The larger number. If one is NaN, the result is the other one; NaN only if both are.

    Source: upstream arith.maxnumf.
    """

    identity = math.nan

    @staticmethod
    def compute(a: float, b: float) -> float:
        if math.isnan(a) or math.isnan(b):
            return b if math.isnan(a) else a
        return larger(a, b)

    def apply(self, a, b):
        return _apply_larger(a, b, np.fmax)


class MinimumF(_MinMaxF, name="arith.minimumf"):
    """The smaller number; NaN if one is NaN.

    Source: upstream arith.minimumf.
    """

    identity = math.inf

    @staticmethod
    def compute(a: float, b: float) -> float:
        return math.nan if math.isnan(a) or math.isnan(b) else smaller(a, b)

    def apply(self, a, b):
        return _apply_smaller(a, b, np.minimum)


class MinNumF(_MinMaxF, name="arith.minnumf"):
    """The smaller number. If one is NaN, the result is the other one; NaN only if both are.

    Source: upstream arith.minnumf.
    """

    identity = math.nan

    @staticmethod
    def compute(a: float, b: float) -> float:
        if math.isnan(a) or math.isnan(b):
            return b if math.isnan(a) else a
        return smaller(a, b)

    def apply(self, a, b):
        return _apply_smaller(a, b, np.fmin)
