"""Elementwise operators, on real and on complex numbers."""

from __future__ import annotations

from inspect import signature
from operator import and_, lshift, or_, pow, sub, xor

import ml_dtypes

from ...common import complex_functions
from ...common.bits import as_unsigned, bits_as
from ...common.complex_functions import Pairs
from ...common.complexes import Pair, by_parts, magnitude, pair, product, square_root, terms
from ...common.formulas import cbrt, isfinite, nextafter, round_half_away, width_of
from ...common.vocabulary import *
from ..layer import HloLayer, rows
from . import formulas


def real_or_complex(
    real: Callable[..., Any], complex: Callable[..., Pairs] | None = None
) -> Callable[..., Any]:
    """A converter that computes `real` of terms, or `complex` of (real, imaginary) terms.

    Floats of 8 bits or fewer are computed as f32, as XLA does: their types have no numbers for the
    constants of formulas, and some have no infinity.
    """

    def convert(n: HloLayer, *values: Any) -> Any:
        if not any(isinstance(v, Pair) for v in values):
            given = [Term(n, v) for v in values]
            element = given[0].element
            if not isinstance(element, FloatType) or width_of(given[0]) > 8 or real is nextafter:
                return real(*given).value
            found = real(*(v.cast(f32) for v in given))
            return cast(n, found.value, element) if found.element is f32 else found.value
        if complex is None:
            raise n.error("complex numbers are not supported here")
        return pair(*complex(*(terms(n, v) for v in values)))

    def unary(n: HloLayer, x: Any) -> Any:
        return convert(n, x)

    def binary(n: HloLayer, x: Any, y: Any) -> Any:
        return convert(n, x, y)

    return unary if len(signature(real).parameters) == 1 else binary


def function(op: Callable[[Value], Any]) -> Callable[[Term], Term]:
    """An op of one tensor as a formula."""
    return lambda x: x.function(op)


def _each(work: Callable[..., Term]) -> Callable[..., Pairs]:
    """A formula applied to both parts."""
    return lambda *values: (work(*(v[0] for v in values)), work(*(v[1] for v in values)))


FORMULAS: dict[str, tuple[Callable[..., Term], Callable[..., Pairs] | None]] = {
    "add": (formulas.add, _each(formulas.add)),
    "subtract": (sub, _each(sub)),
    "multiply": (formulas.multiply, product),
    "divide": (formulas.divide, complex_functions.quotient),
    "remainder": (formulas.remainder, None),
    "maximum": (formulas.maximum, None),
    "minimum": (formulas.minimum, None),
    "power": (pow, complex_functions.power),
    "atan2": (atan2, None),
    "and": (and_, None),
    "or": (or_, None),
    "xor": (xor, None),
    "shift_left": (lshift, None),
    "shift_right_logical": (formulas.shift_right_logical, None),
    "shift_right_arithmetic": (formulas.shift_right_arithmetic, None),
    "not": (lambda x: ~x, None),
    "negate": (formulas.negated, _each(formulas.negated)),
    "sign": (formulas.sign, complex_functions.sign),
    "cbrt": (cbrt, None),
    "ceil": (function(nn.Ceil), None),
    "floor": (function(nn.Floor), None),
    "cosine": (function(nn.Cos), complex_functions.cosine),
    "sine": (function(nn.Sin), complex_functions.sine),
    "tan": (function(nn.Tan), complex_functions.tan),
    "tanh": (function(nn.Tanh), complex_functions.tanh),
    "exponential": (function(nn.Exp), complex_functions.exp),
    "exponential_minus_one": (function(nn.Expm1), complex_functions.expm1),
    "log": (function(nn.Log), complex_functions.log),
    "log_plus_one": (function(nn.Log1p), complex_functions.log1p),
    "logistic": (function(nn.Sigmoid), complex_functions.logistic),
    "sqrt": (function(nn.Sqrt), square_root),
    "rsqrt": (function(nn.Rsqrt), complex_functions.rsqrt),
    "round_nearest_even": (function(nn.Round), None),
    "round_nearest_afz": (round_half_away, None),
    "is_finite": (isfinite, None),
    "popcnt": (formulas.popcnt, None),
    "count_leading_zeros": (formulas.count_leading_zeros, None),
}

rows.add({f"stablehlo.{name}": real_or_complex(*pair_) for name, pair_ in FORMULAS.items()})


# -- what is no formula of equal types -------------------------------------------------------------


@rows("stablehlo.abs")
def absolute(n: HloLayer, x: Any) -> Value:
    if isinstance(x, Pair):
        return magnitude(terms(n, x)).value
    element = x.type.element_type
    if isinstance(element, IntegerType) and element.signedness == "u":
        return x
    return n(nn.Abs(x))


@rows("stablehlo.real")
def real(n: HloLayer, x: Any) -> Value:
    return x.real if isinstance(x, Pair) else x


rows.formulas(
    {
        "stablehlo.imag": lambda n, x: x.imag if isinstance(x, Pair) else n(nn.Sub(x, x)),
        "stablehlo.complex": lambda n, x, y: Pair(x, y),
        "chlo.conj": lambda n, x: Pair(x.real, n(nn.Neg(x.imag))) if isinstance(x, Pair) else x,
        "stablehlo.clamp": lambda n, low, x, high: n(nn.Min(n(nn.Max(x, low)), high)),
        "stablehlo.map": lambda n, *inputs: n.region(0, *inputs)[0],
        "stablehlo.optimization_barrier": lambda n, *inputs: list(inputs),
    }
)


@rows("stablehlo.convert")
def convert(n: HloLayer, x: Any) -> Any:
    element: Any = n.out().element_type
    if isinstance(element, ComplexType):
        part = element.element_type
        if isinstance(x, Pair):
            return Pair(n.cast(x.real, part), n.cast(x.imag, part))
        whole = Term(n, n.cast(x, part))
        return pair(whole, whole.zeros())
    return cast(n, x.real if isinstance(x, Pair) else x, element)


def cast(n: HloLayer, x: Value, element: Any) -> Value:
    """Elements of another type; floats beyond an integer type's range become its ends, NaN 0."""
    given = x.type.element_type
    if isinstance(given, FloatType) and isinstance(element, IntegerType) and element is not i1:
        return _saturated(n, x, element)
    if isinstance(element, FloatType) and element.kind == "f8E8M0FNU":
        return _power_of_two(n, x, element)
    return n.cast(x, element, saturate=False)


def _power_of_two(n: HloLayer, x: Value, element: FloatType) -> Value:
    """Numbers rounded to the nearest powers of two, at least 2**-127; NaN if they are <= 0."""
    given = x.type.element_type
    term = Term(n, x if given in (f32, f64) else n.cast(x, f32))
    positive = (term > 0.0).choose(term.max(2.0**-127), float("nan"))
    return n.cast(positive.value, element, saturate=False, round_mode="nearest")


def _saturated(n: HloLayer, x: Value, element: IntegerType) -> Value:
    """Floats as integers. An end of the range may lie between two floats, or beyond them all."""
    low, high = map(int, limits_of(element))
    kind = type_to_numpy(x.type.element_type)
    largest = float(ml_dtypes.finfo(kind).max)
    bottom, top = max(low, -largest), min(high, largest)
    nearest = np.asarray(float(top)).astype(kind)
    if float(nearest) > top:  # `int` of a bfloat16 has 64 bits
        top = float(np.nextafter(nearest, np.asarray(0, kind)))
    term = Term(n, x)
    inside = term.max(float(bottom)).min(float(top))
    inside = term.equals(term).choose(inside, 0.0)
    found = Term(n, n.cast(inside.value, element, saturate=False))
    if top < high:
        found = (term > float(top)).choose(high, found)
    if bottom > low:
        found = (term < float(bottom)).choose(low, found)
    return found.value


RELATIONS = named("EQ=Equal LT=Less LE=LessEqual GT=Greater GE=GreaterEqual")


@rows("stablehlo.compare")
def compare(n: HloLayer, x: Any, y: Any) -> Value:
    direction = n.op.comparison_direction
    if isinstance(x, Pair):
        equal = n(nn.And(n(nn.Equal(x.real, y.real)), n(nn.Equal(x.imag, y.imag))))
        return equal if direction == "EQ" else n(nn.Not(equal))
    if n.op.compare_type == "TOTALORDER" and isinstance(x.type.element_type, FloatType):
        x, y = (total_order(Term(n, v)).value for v in (x, y))
    if x.type.element_type is i1 and direction not in ("EQ", "NE"):
        x, y = (n.cast(v, IntegerType(8)) for v in (x, y))
    if direction == "NE":
        return n(nn.Not(n(nn.Equal(x, y))))
    return n(RELATIONS[direction](x, y))


def total_order(x: Term) -> Term:
    """Integers that are ordered as floats are totally: -NaN, -inf, .. -0, 0, .. inf, NaN."""
    bits = bits_of(x)
    return (bits < 0).choose(bits ^ ((1 << width_of(x) - 1) - 1), bits)


@rows("stablehlo.select")
@by_parts
def select(n: HloLayer, pred: Value, x: Value, y: Value) -> Value:
    return n(nn.Where(pred, x, y))


_WIDTHS = {"bf16": (8, 7), "f16": (5, 10), "f32": (8, 23), "f64": (11, 52)}
"""The bits of exponents and mantissas."""


@rows("stablehlo.reduce_precision")
def reduce_precision(n: HloLayer, x: Value) -> Value:
    """x rounded to a float of fewer bits; what is too large becomes infinite, what is subnormal 0.

    Source: XLA's EmitReducePrecisionIR.
    """
    own = _WIDTHS.get(str(x.type.element_type))
    if own is None:
        raise n.error(f"elements of '{x.type}' are not supported")
    exponent_bits, mantissa_bits = n.op.exponent_bits.value, n.op.mantissa_bits.value
    bits, lost = as_unsigned(n, x), own[1] - mantissa_bits
    if lost > 0:  # to the nearest, of two to the even one
        odd = (bits >> lost) & 1
        bits = (bits + odd + ((1 << (lost - 1)) - 1)) >> lost << lost
    if exponent_bits < own[0]:
        sign = bits & (1 << sum(own))
        exponent = (bits >> own[1]) & ((1 << own[0]) - 1)
        bias, reduced = ((1 << (width - 1)) - 1 for width in (own[0], exponent_bits))
        infinite = sign | (((1 << own[0]) - 1) << own[1])
        bits = (exponent <= bias - reduced).choose(sign, bits)
        bits = (exponent > bias + reduced).choose(infinite, bits)
    found = bits.made(nn.Bitcast(bits.value, out=x.type))
    given = Term(n, x)
    return given.equals(given).choose(found, given).value  # NaN stays


@rows("stablehlo.bitcast_convert")
def bitcast_convert(n: HloLayer, x: Value) -> Value:
    return bits_as(n, x, n.out().element_type)


@rows("stablehlo.batch_norm_inference")
def batch_norm_inference(
    n: HloLayer, x: Value, scale: Value, offset: Value, mean: Value, variance: Value
) -> Value:
    at = n.op.feature_index

    def placed(value: Value) -> Term:
        return Term(n, reshape(n, value, [1] * at + [(value, 0)] + [1] * (x.type.rank - 1 - at)))

    inverse = (placed(variance) + n.op.epsilon.value).function(nn.Rsqrt)
    return ((Term(n, x) - placed(mean)) * (inverse * placed(scale)) + placed(offset)).value
