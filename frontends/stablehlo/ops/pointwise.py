"""What works element by element, on real and on complex numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.numpy_types import type_to_numpy
from ....ir.types import ComplexType, FloatType, IntegerType, TensorType, i1
from ...common.complexes import Pair, by_parts, pair, product, terms
from ...common.shapes import reshape
from ...common.terms import Term
from ..layer import HloLayer
from ..rows import rows

Pairs = tuple[Term, Term]


def real_or_complex(
    real: Callable[..., Any], complex: Callable[..., Pairs] | None = None
) -> Callable[..., Any]:
    """A converter of formulas: of terms, and of pairs of them for complex numbers."""

    def convert(n: HloLayer, *values: Any) -> Any:
        if not any(isinstance(v, Pair) for v in values):
            return real(*(Term(n, v) for v in values)).value
        if complex is None:
            raise n.error("complex numbers are not supported here")
        return pair(*complex(*(terms(n, v) for v in values)))

    def unary(n: HloLayer, x: Any) -> Any:
        return convert(n, x)

    def binary(n: HloLayer, x: Any, y: Any) -> Any:
        return convert(n, x, y)

    return unary if real.__code__.co_argcount == 1 else binary


def function(op: Callable[[Value], Any]) -> Callable[[Term], Term]:
    """An op of one tensor as a formula."""
    return lambda x: x.function(op)


def _is_bool(x: Term) -> bool:
    return x.element is i1


# -- arithmetic ------------------------------------------------------------------------------------


def add(x: Term, y: Term) -> Term:
    return x | y if _is_bool(x) else x + y


def multiply(x: Term, y: Term) -> Term:
    return x & y if _is_bool(x) else x * y


def maximum(x: Term, y: Term) -> Term:
    return x | y if _is_bool(x) else x.max(y)


def minimum(x: Term, y: Term) -> Term:
    return x & y if _is_bool(x) else x.min(y)


def divide(x: Term, y: Term) -> Term:
    return x / y


def remainder(x: Term, y: Term) -> Term:
    return x.made(nn.Mod(x.value, y.value, fmod=True))


def quotient(x: Pairs, y: Pairs) -> Pairs:
    scale = y[0] * y[0] + y[1] * y[1]
    real, imag = product(x, (y[0], -y[1]))
    return real / scale, imag / scale


def negated(x: Term) -> Term:
    return -x if isinstance(x.element, FloatType) else x.made(nn.Sub(x.other(0), x.value))


def sign(x: Term) -> Term:
    if isinstance(x.element, IntegerType) and x.element.signedness == "u":
        return x.min(1)
    return x.function(nn.Sign)


def power(x: Term, y: Term) -> Term:
    return x**y


def square(x: Term) -> Term:
    return x * x


# -- functions -------------------------------------------------------------------------------------


def exponential_minus_one(x: Term) -> Term:
    """exp(x) - 1, near 0 by 2 tanh(x / 2) / (1 - tanh(x / 2)), which keeps its digits."""
    half = (x * 0.5).function(nn.Tanh)
    near = half * 2.0 / (1.0 - half)
    small = x.function(nn.Abs) < 0.5
    return small.choose(near, x.function(nn.Exp) - 1.0)


def log_plus_one(x: Term) -> Term:
    """log(1 + x), near 0 by 2 atanh(x / (2 + x))."""
    ratio = x / (x + 2.0)
    near = ratio.function(nn.Atanh) * 2.0
    small = x.function(nn.Abs) < 0.25
    return small.choose(near, (x + 1.0).function(nn.Log))


def cbrt(x: Term) -> Term:
    magnitude = x.function(nn.Abs)
    root = magnitude ** (1.0 / 3.0)
    better = root - (root * root * root - magnitude) / (root * root * 3.0)
    usable = (magnitude > 0.0) & (magnitude < math.inf)
    return usable.choose(better, magnitude) * x.function(nn.Sign)


def round_afz(x: Term) -> Term:
    """To the nearest integer, halves away from zero."""
    magnitude = x.function(nn.Abs)
    low = magnitude.function(nn.Floor)
    up = (magnitude - low) >= 0.5
    return up.choose(low + 1.0, low) * x.function(nn.Sign)


def atan2(y: Term, x: Term) -> Term:
    """The angle, by the arc tangent of the smaller over the greater."""
    ay, ax = y.function(nn.Abs), x.function(nn.Abs)
    great, small = ax.max(ay), ax.min(ay)
    ratio = (great > 0.0).choose(small / great, 0.0)
    same = great.equals(math.inf) & small.equals(math.inf)
    angle = same.choose(1.0, ratio).function(nn.Atan)
    angle = (ay > ax).choose(math.pi / 2 - angle, angle)
    angle = _is_negative(x).choose(math.pi - angle, angle)
    angle = _is_negative(y).choose(-angle, angle)
    missing = ~(x.equals(x) & y.equals(y))
    return missing.choose(math.nan, angle)


def width_of(x: Term) -> int:
    """The bits of an element."""
    element: Any = x.element
    return element.width


def bits_of(x: Term) -> Term:
    """The bits of floats as integers."""
    integers = TensorType(x.shape, IntegerType(width_of(x)))
    return x.made(nn.Bitcast(x.value, out=integers))


def _is_negative(x: Term) -> Term:
    """Whether the sign is minus, that of -0 too."""
    return bits_of(x) < 0


def is_finite(x: Term) -> Term:
    return x.function(nn.Abs) < math.inf


def popcnt(x: Term) -> Term:
    """Bits counted in pairs, in fours, in bytes."""
    x, back = _unsigned(x)
    width = width_of(x)
    whole = (1 << width) - 1
    ones = [whole // 3, whole // 5, whole // 17]
    x = x - ((x >> 1) & ones[0])
    x = (x & ones[1]) + ((x >> 2) & ones[1])
    x = (x + (x >> 4)) & ones[2]
    for step in (8, 16, 32):
        if step < width:
            x = x + (x >> step)
    return back(x & (2 * width - 1))


def count_leading_zeros(x: Term) -> Term:
    """Width minus the ones when all bits below the highest one are set."""
    x, back = _unsigned(x)
    step = 1
    while step < width_of(x):
        x = x | (x >> step)
        step *= 2
    ones = popcnt(x)
    return back(width_of(x) - ones)


def _unsigned(x: Term) -> tuple[Term, Callable[[Term], Term]]:
    """The bits as an unsigned number, and the way back."""
    element: Any = x.element
    if element.signedness == "u" or element is i1:
        return x, lambda y: y
    unsigned = IntegerType(element.width, "u")
    return x.cast(unsigned), lambda y: y.cast(element)


def shift_left(x: Term, y: Term) -> Term:
    return x << y


def shift_right_logical(x: Term, y: Term) -> Term:
    (bits, back), (by, _) = _unsigned(x), _unsigned(y)
    return back(bits >> by)


def shift_right_arithmetic(x: Term, y: Term) -> Term:
    element: Any = x.element
    if element.signedness != "u":
        return x >> y
    signed = IntegerType(element.width)
    return (x.cast(signed) >> y.cast(signed)).cast(element)


# -- complex numbers -------------------------------------------------------------------------------


def magnitude(x: Pairs) -> Term:
    """The absolute value, scaled so that squares do not overflow."""
    a, b = (part.function(nn.Abs) for part in x)
    great, small = a.max(b), a.min(b)
    ratio = (great > 0.0).choose(small / great, 0.0)
    return great * (ratio * ratio + 1.0).function(nn.Sqrt)


def complex_exp(x: Pairs) -> Pairs:
    size = x[0].function(nn.Exp)
    return size * x[1].function(nn.Cos), size * x[1].function(nn.Sin)


def complex_log(x: Pairs) -> Pairs:
    return magnitude(x).function(nn.Log), atan2(x[1], x[0])


def complex_sqrt(x: Pairs) -> Pairs:
    """The root with a real part that is not negative."""
    size = magnitude(x)
    great = ((size + x[0].function(nn.Abs)) * 0.5).function(nn.Sqrt)
    small = (great > 0.0).choose(x[1].function(nn.Abs) * 0.5 / great, 0.0)
    right = x[0] >= 0.0
    real, imag = right.choose(great, small), right.choose(small, great)
    return real, _is_negative(x[1]).choose(-imag, imag)


def complex_rsqrt(x: Pairs) -> Pairs:
    root = complex_sqrt(x)
    scale = root[0] * root[0] + root[1] * root[1]
    return root[0] / scale, -root[1] / scale


def complex_power(x: Pairs, y: Pairs) -> Pairs:
    zero = magnitude(x).equals(0.0)
    real, imag = complex_exp(product(complex_log(x), y))
    return zero.choose(0.0, real), zero.choose(0.0, imag)


def complex_sine(x: Pairs) -> Pairs:
    sine, cosine = x[0].function(nn.Sin), x[0].function(nn.Cos)
    return sine * x[1].function(nn.Cosh), cosine * x[1].function(nn.Sinh)


def complex_cosine(x: Pairs) -> Pairs:
    sine, cosine = x[0].function(nn.Sin), x[0].function(nn.Cos)
    return cosine * x[1].function(nn.Cosh), -(sine * x[1].function(nn.Sinh))


def complex_tanh(x: Pairs) -> Pairs:
    double = x[0] * 2.0, x[1] * 2.0
    scale = double[0].function(nn.Cosh) + double[1].function(nn.Cos)
    return double[0].function(nn.Sinh) / scale, double[1].function(nn.Sin) / scale


def complex_tan(x: Pairs) -> Pairs:
    real, imag = complex_tanh((-x[1], x[0]))
    return imag, -real


def complex_sign(x: Pairs) -> Pairs:
    size = magnitude(x)
    zero = size.equals(0.0)
    return zero.choose(0.0, x[0] / size), zero.choose(0.0, x[1] / size)


def _logistic(x: Pairs) -> Pairs:
    real, imag = complex_exp((-x[0], -x[1]))
    one = real * 0.0 + 1.0
    return quotient((one, one * 0.0), (real + 1.0, imag))


def _each(work: Callable[..., Term]) -> Callable[..., Pairs]:
    """Both parts alike."""
    return lambda *values: (work(*(v[0] for v in values)), work(*(v[1] for v in values)))


FORMULAS: dict[str, tuple[Callable[..., Term], Callable[..., Pairs] | None]] = {
    "add": (add, _each(add)),
    "subtract": (lambda x, y: x - y, _each(lambda x, y: x - y)),
    "multiply": (multiply, product),
    "divide": (divide, quotient),
    "remainder": (remainder, None),
    "maximum": (maximum, None),
    "minimum": (minimum, None),
    "power": (power, complex_power),
    "atan2": (atan2, None),
    "and": (lambda x, y: x & y, None),
    "or": (lambda x, y: x | y, None),
    "xor": (lambda x, y: x ^ y, None),
    "shift_left": (shift_left, None),
    "shift_right_logical": (shift_right_logical, None),
    "shift_right_arithmetic": (shift_right_arithmetic, None),
    "not": (lambda x: ~x, None),
    "negate": (negated, _each(negated)),
    "sign": (sign, complex_sign),
    "cbrt": (cbrt, None),
    "ceil": (function(nn.Ceil), None),
    "floor": (function(nn.Floor), None),
    "cosine": (function(nn.Cos), complex_cosine),
    "sine": (function(nn.Sin), complex_sine),
    "tan": (function(nn.Tan), complex_tan),
    "tanh": (function(nn.Tanh), complex_tanh),
    "exponential": (function(nn.Exp), complex_exp),
    "exponential_minus_one": (exponential_minus_one, None),
    "log": (function(nn.Log), complex_log),
    "log_plus_one": (log_plus_one, None),
    "logistic": (function(nn.Sigmoid), _logistic),
    "sqrt": (function(nn.Sqrt), complex_sqrt),
    "rsqrt": (function(nn.Rsqrt), complex_rsqrt),
    "round_nearest_even": (function(nn.Round), None),
    "round_nearest_afz": (round_afz, None),
    "is_finite": (is_finite, None),
    "popcnt": (popcnt, None),
    "count_leading_zeros": (count_leading_zeros, None),
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


@rows("stablehlo.imag")
def imag(n: HloLayer, x: Any) -> Value:
    return x.imag if isinstance(x, Pair) else n(nn.Sub(x, x))


@rows("stablehlo.complex")
def complex_of(n: HloLayer, x: Value, y: Value) -> Pair:
    return Pair(x, y)


@rows("chlo.conj")
def conj(n: HloLayer, x: Any) -> Any:
    return Pair(x.real, n(nn.Neg(x.imag))) if isinstance(x, Pair) else x


@rows("stablehlo.convert")
def convert(n: HloLayer, x: Any) -> Any:
    element: Any = n.out().element_type
    if isinstance(element, ComplexType):
        part = element.element_type
        if isinstance(x, Pair):
            return Pair(n.cast(x.real, part), n.cast(x.imag, part))
        whole = Term(n, n.cast(x, part))
        return pair(whole, whole - whole)
    return cast(n, x.real if isinstance(x, Pair) else x, element)


def cast(n: HloLayer, x: Value, element: Any) -> Value:
    """Elements of another type; floats beyond an integer type's range become its ends."""
    given = x.type.element_type
    if isinstance(given, FloatType) and isinstance(element, IntegerType) and element is not i1:
        x = _within(n, x, element)
    return n.cast(x, element, saturate=False)


def _within(n: HloLayer, x: Value, element: IntegerType) -> Value:
    """The floats in the range of an integer type; NaN as 0."""
    info: Any = _limits(element)
    kind = type_to_numpy(x.type.element_type)
    low, high = float(info[0]), float(info[1])
    if int(np.asarray(high).astype(kind)) > info[1]:
        high = float(np.nextafter(np.asarray(high, kind), np.asarray(0, kind)))
    term = Term(n, x)
    term = term.max(low).min(high)
    return term.equals(term).choose(term, 0.0).value


def _limits(element: IntegerType) -> tuple[int, int]:
    if element.signedness == "u":
        return 0, (1 << element.width) - 1
    return -(1 << element.width - 1), (1 << element.width - 1) - 1


RELATIONS = {
    "EQ": nn.Equal,
    "LT": nn.Less,
    "LE": nn.LessEqual,
    "GT": nn.Greater,
    "GE": nn.GreaterEqual,
}


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


@rows("stablehlo.clamp")
def clamp(n: HloLayer, low: Value, x: Value, high: Value) -> Value:
    return n(nn.Min(n(nn.Max(x, low)), high))


@rows("stablehlo.reduce_precision")
def reduce_precision(n: HloLayer, x: Value) -> Value:
    bits = n.op.exponent_bits.value, n.op.mantissa_bits.value
    for kind, own in {"bf16": (8, 7), "f16": (5, 10), "f32": (8, 23), "f64": (11, 52)}.items():
        if bits == own:
            return n.cast(n.cast(x, FloatType(kind)), x.type.element_type)
    raise n.error(f"there is no float of {bits[0]} exponent and {bits[1]} mantissa bits")


@rows("stablehlo.bitcast_convert")
def bitcast_convert(n: HloLayer, x: Value) -> Value:
    given, out = x.type, n.out()
    if given.rank == out.rank:
        return n(nn.Bitcast(x, out=out))
    if given.rank < out.rank:
        return _bits_apart(n, x, out)
    return _bits_together(n, x, out)


def _as_unsigned(n: HloLayer, x: Value) -> Term:
    width = x.type.element_type.width
    return Term(n, n(nn.Bitcast(x, out=TensorType(x.type.shape, IntegerType(width, "u")))))


def _bits_apart(n: HloLayer, x: Value, out: TensorType) -> Value:
    """Elements as several narrower ones in a new last dimension, lowest bits first."""
    whole, width = _as_unsigned(n, x).spread(0, 1), out.element_type.width
    shifts = np.arange(out.shape[-1] or 1) * width
    kind = type_to_numpy(whole.element)
    parts = whole >> Term(n, n.constant(shifts.astype(kind)))
    narrow = parts.cast(IntegerType(width, "u"))
    return n(nn.Bitcast(narrow.value, out=out))


def _bits_together(n: HloLayer, x: Value, out: TensorType) -> Value:
    """The elements of the last dimension as a wider one."""
    width, wide = x.type.element_type.width, IntegerType(out.element_type.width, "u")
    parts = _as_unsigned(n, x).cast(wide)
    shifts = (np.arange(x.type.shape[-1]) * width).astype(type_to_numpy(wide))
    whole = (parts << Term(n, n.constant(shifts))).sum(-1 % x.type.rank)
    return n(nn.Bitcast(whole.value, out=out))


@rows("stablehlo.map")
def map_(n: HloLayer, *inputs: Any) -> Any:
    return n.region(0, *inputs)[0]


@rows("stablehlo.optimization_barrier")
def optimization_barrier(n: HloLayer, *inputs: Any) -> list[Any]:
    return list(inputs)


@rows("stablehlo.batch_norm_inference")
def batch_norm_inference(
    n: HloLayer, x: Value, scale: Value, offset: Value, mean: Value, variance: Value
) -> Value:
    at = n.op.feature_index

    def placed(value: Value) -> Term:
        return Term(n, reshape(n, value, [1] * at + [(value, 0)] + [1] * (x.type.rank - 1 - at)))

    inverse = (placed(variance) + n.op.epsilon.value).function(nn.Rsqrt)
    return ((Term(n, x) - placed(mean)) * (inverse * placed(scale)) + placed(offset)).value
