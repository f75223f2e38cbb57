"""Elementary functions of floats."""

from __future__ import annotations

import math

from ..arith.base import FloatUnary, round_to
from ..vocabulary import *


def where_defined(function: Callable[..., float]) -> staticmethod:
    """A function of Python's math module, with None where it raises: that is left to run time."""

    def compute(*numbers: float) -> float | None:
        try:
            return function(*numbers)
        except (ValueError, OverflowError, ZeroDivisionError):
            return None

    return staticmethod(compute)


class _ElementByElement(FloatUnary):
    """A function that NumPy lacks: Python's, element by element, in f64."""

    def apply(self, x):
        function = np.frompyfunc(self.compute, 1, 1)
        return round_to(
            np.asarray(function(x.astype(np.float64)), np.float64)[()], self.result.type
        )


def half_away_from_zero(x: float) -> float:
    """The nearest integer, halves away from zero, zeros with their sign."""
    if not math.isfinite(x):
        return x
    whole = math.trunc(x)
    away = whole + (1 if x > 0 else -1) if abs(x - whole) >= 0.5 else whole
    return math.copysign(away, x)


def _to_integral(function: Callable[[float], int]) -> staticmethod:
    """A rounding that keeps infinities, NaN and the sign of zeros."""
    return staticmethod(lambda x: math.copysign(function(x), x) if math.isfinite(x) else x)


# -- signs and roundings -------------------------------------------------------------------------


class AbsF(FloatUnary, name="math.absf", traits=(Idempotent,)):
    """The number without its sign.

    Source: upstream math.absf.
    """

    compute = staticmethod(math.fabs)
    ufunc = "abs"


class Ceil(FloatUnary, name="math.ceil", traits=(Idempotent,)):
    """The least integral number that is not less.

    Source: upstream math.ceil.
    """

    compute = _to_integral(math.ceil)
    ufunc = "ceil"


class Floor(FloatUnary, name="math.floor", traits=(Idempotent,)):
    """The greatest integral number that is not greater.

    Source: upstream math.floor.
    """

    compute = _to_integral(math.floor)
    ufunc = "floor"


class Trunc(FloatUnary, name="math.trunc", traits=(Idempotent,)):
    """The integral number next toward zero.

    Source: upstream math.trunc.
    """

    compute = _to_integral(math.trunc)
    ufunc = "trunc"


class RoundEven(FloatUnary, name="math.roundeven", traits=(Idempotent,)):
    """The nearest integral number, halves to even.

    Source: upstream math.roundeven.
    """

    compute = _to_integral(round)
    ufunc = "rint"


class Round(FloatUnary, name="math.round", traits=(Idempotent,)):
    """The nearest integral number, halves away from zero.

    Source: upstream math.round.
    """

    compute = staticmethod(half_away_from_zero)

    def apply(self, x):
        whole = np.trunc(x)
        away = (np.abs(x - whole) >= 0.5).astype(x.dtype)
        return np.copysign(np.abs(whole) + away, x).astype(x.dtype)


# -- roots ---------------------------------------------------------------------------------------


class Sqrt(FloatUnary, name="math.sqrt"):
    """The square root; NaN for negative numbers.

    Source: upstream math.sqrt.
    """

    compute = where_defined(math.sqrt)
    ufunc = "sqrt"


class Rsqrt(FloatUnary, name="math.rsqrt"):
    """One over the square root.

    Source: upstream math.rsqrt.
    """

    compute = where_defined(lambda x: 1.0 / math.sqrt(x))

    def apply(self, x):
        wide = x.astype(np.float64)
        return round_to(1.0 / np.sqrt(wide), self.result.type)


class Cbrt(FloatUnary, name="math.cbrt"):
    """The cube root.

    Source: upstream math.cbrt.
    """

    compute = where_defined(math.cbrt)
    ufunc = "cbrt"


# -- exponentials and logarithms -----------------------------------------------------------------


class Exp(FloatUnary, name="math.exp"):
    """e to the power of the number.

    Source: upstream math.exp.
    """

    compute = where_defined(math.exp)
    ufunc = "exp"


class Exp2(FloatUnary, name="math.exp2"):
    """2 to the power of the number.

    Source: upstream math.exp2.
    """

    compute = where_defined(math.exp2)
    ufunc = "exp2"


class ExpM1(FloatUnary, name="math.expm1"):
    """e to the power of the number, minus one, accurate near zero.

    Source: upstream math.expm1.
    """

    compute = where_defined(math.expm1)
    ufunc = "expm1"


class Log(FloatUnary, name="math.log"):
    """The natural logarithm.

    Source: upstream math.log.
    """

    compute = where_defined(math.log)
    ufunc = "log"


class Log10(FloatUnary, name="math.log10"):
    """The logarithm to base 10.

    Source: upstream math.log10.
    """

    compute = where_defined(math.log10)
    ufunc = "log10"


class Log1p(FloatUnary, name="math.log1p"):
    """The natural logarithm of one plus the number, accurate near zero.

    Source: upstream math.log1p.
    """

    compute = where_defined(math.log1p)
    ufunc = "log1p"


class Log2(FloatUnary, name="math.log2"):
    """The logarithm to base 2.

    Source: upstream math.log2.
    """

    compute = where_defined(math.log2)
    ufunc = "log2"


# -- trigonometric and hyperbolic functions, and their inverses ------------------------------------


class Sin(FloatUnary, name="math.sin"):
    """The sine; angles are in radians here and below.

    Source: upstream math.sin.
    """

    compute = where_defined(math.sin)
    ufunc = "sin"


class Cos(FloatUnary, name="math.cos"):
    """The cosine.

    Source: upstream math.cos.
    """

    compute = where_defined(math.cos)
    ufunc = "cos"


class Tan(FloatUnary, name="math.tan"):
    """The tangent.

    Source: upstream math.tan.
    """

    compute = where_defined(math.tan)
    ufunc = "tan"


class Asin(FloatUnary, name="math.asin"):
    """The inverse of the sine: the angle, in radians, that has this sine.

    Source: upstream math.asin.
    """

    compute = where_defined(math.asin)
    ufunc = "arcsin"


class Acos(FloatUnary, name="math.acos"):
    """The angle of a cosine.

    Source: upstream math.acos.
    """

    compute = where_defined(math.acos)
    ufunc = "arccos"


class Atan(FloatUnary, name="math.atan"):
    """The angle of a tangent.

    Source: upstream math.atan.
    """

    compute = where_defined(math.atan)
    ufunc = "arctan"


class Sinh(FloatUnary, name="math.sinh"):
    """The hyperbolic sine.

    Source: upstream math.sinh.
    """

    compute = where_defined(math.sinh)
    ufunc = "sinh"


class Cosh(FloatUnary, name="math.cosh"):
    """The hyperbolic cosine.

    Source: upstream math.cosh.
    """

    compute = where_defined(math.cosh)
    ufunc = "cosh"


class Tanh(FloatUnary, name="math.tanh"):
    """The hyperbolic tangent.

    Source: upstream math.tanh.
    """

    compute = where_defined(math.tanh)
    ufunc = "tanh"


class Asinh(FloatUnary, name="math.asinh"):
    """The inverse of the hyperbolic sine.

    Source: upstream math.asinh.
    """

    compute = where_defined(math.asinh)
    ufunc = "arcsinh"


class Acosh(FloatUnary, name="math.acosh"):
    """The inverse of the hyperbolic cosine.

    Source: upstream math.acosh.
    """

    compute = where_defined(math.acosh)
    ufunc = "arccosh"


class Atanh(FloatUnary, name="math.atanh"):
    """The inverse of the hyperbolic tangent.

    Source: upstream math.atanh.
    """

    compute = where_defined(math.atanh)
    ufunc = "arctanh"


# -- error functions -----------------------------------------------------------------------------


class Erf(_ElementByElement, name="math.erf"):
    """The error function.

    Source: upstream math.erf.
    """

    compute = where_defined(math.erf)
    example = "%0 = math.erf %a : f32"


class Erfc(_ElementByElement, name="math.erfc"):
    """One minus the error function, accurate where that is small.

    Source: upstream math.erfc.
    """

    compute = where_defined(math.erfc)
    example = "%0 = math.erfc %a : f32"
