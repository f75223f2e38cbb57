"""Functions of several floats, or with several results."""

from __future__ import annotations

import math
from fractions import Fraction

from ...ir.constraints import FloatLike
from ...ir.rewriting import constant_value
from ...ir.traits import Elementwise
from ...ir.types import f64
from ..arith.attributes import FASTMATH
from ..arith.base import FloatBinary, round_to
from ..folding import fold_elementwise, is_constant_number, round_exactly
from ..vocabulary import *
from .unary import where_defined


class Atan2(FloatBinary, name="math.atan2"):
    """The angle of the point (rhs, lhs), between -pi and pi.

    Source: upstream math.atan2.
    """

    compute = staticmethod(math.atan2)
    ufunc = "arctan2"


class CopySign(FloatBinary, name="math.copysign"):
    """The first number with the sign of the second.

    Source: upstream math.copysign.
    """

    compute = staticmethod(math.copysign)
    ufunc = "copysign"


class PowF(FloatBinary, name="math.powf"):
    """The first number to the power of the second.

    Source: upstream math.powf.
    """

    compute = where_defined(math.pow)
    identity = 1.0

    def apply(self, a, b):
        """The result on NumPy values."""
        from ...ir.comprehension_numpy import power

        return power(a, b)


class FPowI(Op, name="math.fpowi", traits=(Pure, Elementwise)):
    """A float to the power of a signed integer.

    Source: upstream math.fpowi.
    """

    lhs: Operand = operand(FloatLike)
    rhs: Operand = operand(SignlessIntegerLike)
    fastmath = attribute(FASTMATH, default="none")
    result: Result = result(Same("lhs"))

    format = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs) `,` type($rhs)"
    example = "%0 = math.fpowi %a, %n : f32, i32"

    def fold(self):
        """X to the power of 1 is x; constants are computed."""
        left, right = constant_value(self.lhs), constant_value(self.rhs)
        if is_constant_number(right, lambda n: n == 1):
            return [self.lhs]
        compute = where_defined(lambda a, n: math.pow(a, n)).__func__
        folded = fold_elementwise(compute, (left, right), self.result.type)
        return None if folded is None else [folded]

    def evaluate(self, x, n):
        with np.errstate(all="ignore"):
            power = np.power(x.astype(np.float64), n.astype(np.float64))
        return round_to(power, self.result.type)

    def verify_op(self) -> None:
        lhs, rhs = self.lhs.type, self.rhs.type
        shapes = [t.shape if isinstance(t, ShapedType) else None for t in (lhs, rhs)]
        if shapes[0] != shapes[1]:
            raise self.error("requires the same shape for all operands and results")


def fused_multiply_add(a, b, c):
    """The sum a * b + c of NumPy f64 arrays, rounded once.

    The exact product and sum are kept as pairs of f64; their low parts are added with
    rounding to odd. Source: Boldo and Melquiond, "Emulation of a FMA and correctly rounded
    sums: proved algorithms using rounding to odd" (2008).
    """
    high, low = _two_product(a, b)
    sum_high, sum_low = _two_sum(c, low)
    v_high, v_low = _two_sum(high, sum_high)
    exact = v_high + _odd_sum(sum_low, v_low)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    result = np.where(finite, exact, a * b + c)
    # Pairs of f64 overflow, or the low part of the product is too small for one.
    tiny = (np.abs(high) < 2.0**-900) & (a != 0) & (b != 0)
    hard = finite & (tiny | ~np.isfinite(exact))
    if np.any(hard):
        exactly = np.frompyfunc(_exact_multiply_add_f64, 3, 1)
        given = (np.where(hard, x, 0.0) for x in (a, b, c))
        result = np.where(hard, np.asarray(exactly(*given), np.float64), result)
    return result


def _exact_multiply_add_f64(a: Any, b: Any, c: Any) -> float:
    return exact_multiply_add(float(a), float(b), float(c), f64)


def exact_multiply_add(a: float, b: float, c: float, type: FloatType) -> float:
    """The sum a * b + c, rounded once to the type."""
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c  # the sign of a zero
    return round_exactly(exact, type)


def _two_sum(a, b):
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a, b):
    product = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _split(a):
    scaled = a * 134217729.0  # 2**27 + 1
    high = scaled - (scaled - a)
    return high, a - high


def _odd_sum(a, b):
    total, error = _two_sum(a, b)
    total = np.asarray(total, np.float64)
    even = (total.view(np.int64) & 1) == 0
    toward = np.where(error > 0, np.inf, -np.inf)
    return np.where((error != 0) & even, np.nextafter(total, toward), total)


class Fma(Op, name="math.fma", traits=(Pure, Elementwise)):
    """a * b + c, rounded once.

    Source: upstream math.fma.
    """

    a: Operand = operand(FloatLike)
    b: Operand = operand(Same("a"))
    c: Operand = operand(Same("a"))
    fastmath = attribute(FASTMATH, default="none")
    result: Result = result(Same("a"))

    format = "$a `,` $b `,` $c (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
    example = "%0 = math.fma %a, %b, %c : vector<8xf32>"

    def fold(self):
        constants = [constant_value(v) for v in self.operands]
        folded = fold_elementwise(self._compute, constants, self.result.type)
        return None if folded is None else [folded]

    def _compute(self, a: float, b: float, c: float) -> float:
        return exact_multiply_add(a, b, c, element_type(self.result.type))  # type: ignore[arg-type]

    def evaluate(self, a, b, c):
        with np.errstate(all="ignore"):
            a, b, c = (np.asarray(x, np.float64) for x in (a, b, c))
            if element_type(self.result.type).width == 64:  # type: ignore[attr-defined]
                return fused_multiply_add(a, b, c)[()]
            # The product is exact in f64; the sum is rounded to odd, then to the type.
            product = a * b
            total = product + c
            odd = np.where(np.isfinite(total), _odd_sum(product, c), total)
            return round_to(odd[()], self.result.type)


class ClampF(Op, name="math.clampf", traits=(Pure, Elementwise)):
    """A float limited to the interval from `min` to `max`: the nearest number in it.

    Source: upstream math.clampf.
    """

    value: Operand = operand(FloatLike)
    min: Operand = operand(Same("value"))
    max: Operand = operand(Same("value"))
    fastmath = attribute(FASTMATH, default="none")
    result: Result = result(Same("value"))

    format = (
        "$value `to` ` ` `[` $min `,` $max `]` (`fastmath` `` $fastmath^)? "
        "attr-dict `:` type($result)"
    )
    example = "%0 = math.clampf %a to [%b, %c] : f32"

    def evaluate(self, value, low, high):
        return np.minimum(np.maximum(value, low), high)


class SinCos(Op, name="math.sincos", traits=(Pure, Elementwise)):
    """The sine and the cosine of an angle in radians.

    Source: upstream math.sincos.
    """

    operand: Operand = operand(FloatLike)
    fastmath = attribute(FASTMATH, default="none")
    sin: Result = result(Same("operand"))
    cos: Result = result(Same("operand"))

    format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($operand)"
    example = "%sin, %cos = math.sincos %a : f32"

    def result_names(self) -> list[str]:
        """`%sin` and `%cos`."""
        return ["sin", "cos"]

    def fold(self):
        constant = constant_value(self.operand)
        parts = [
            fold_elementwise(where_defined(f).__func__, [constant], self.sin.type)
            for f in (math.sin, math.cos)
        ]
        return None if any(p is None for p in parts) else parts

    def evaluate(self, x):
        with np.errstate(all="ignore"):
            return np.sin(x), np.cos(x)
