"""Formulas of elements that several formats have as operators."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from ...dialects import nn
from ...ir.core import Value
from ...ir.types import FloatType, IntegerType, TensorType, i32
from .layer import Layer
from .shapes import merge
from .terms import Term


def hypot(x: Term, y: Term) -> Term:
    """sqrt(x² + y²), in which no square overflows; infinite where x or y is."""
    a, b = x.function(nn.Abs), y.function(nn.Abs)
    great, small = a.max(b), a.min(b)
    share = small / great
    found = great * (share * share + 1.0).function(nn.Sqrt)
    found = great.equals(0.0).choose(great, found)
    return (a.equals(math.inf) | b.equals(math.inf)).choose(math.inf, found)


def divisor(x: Term) -> Term:
    """x as a divisor: if it has integers, the program fails where one of them is 0."""
    known = x.n.array(x.value)
    if isinstance(x.element, FloatType) or (known is not None and known.all()):
        return x
    return assured(x, ~x.equals(0), "an integer is divided by 0")


def assured(x: Term, holds: Term, text: str) -> Term:
    """x; the program fails with the message `text` unless the condition holds everywhere."""
    known = x.n.known(holds.value)
    if known is not None and known.all():
        return x
    faults = (~holds).cast(i32)
    if faults.rank:
        faults = faults.largest(*range(faults.rank))
    # Less than 1, not equal to 0, as the largest of no elements is the least integer.
    return x.made(nn.Assume(x.value, (faults < 1).value, text))


def floor_div(x: Term, y: Term) -> Term:
    """A quotient, rounded down."""
    if isinstance(x.element, FloatType):
        return (x / y).function(nn.Floor)
    y = divisor(y)
    quotient = x / y
    if isinstance(x.element, IntegerType) and x.element.signedness == "u":
        return quotient
    below = ~(quotient * y).equals(x) & ((x < 0) ^ (y < 0))
    return quotient - below.cast(x.element)


def floor_of_quotient(a: Term, b: Term) -> Term:
    """a // b of floats as in Python, by the remainder: 1.0 // 0.1 is 9, and inf // b is NaN."""
    rest = a.made(nn.Mod(a.value, b.value, fmod=True))
    found = (a - rest) / b
    below = ~rest.equals(0.0) & ((b < 0.0) ^ (rest < 0.0))
    found = below.choose(found - 1.0, found)
    whole = found.function(nn.Floor)
    whole = (found - whole > 0.5).choose(whole + 1.0, whole)
    negative = is_negative(a) ^ is_negative(b)
    zero = negative.choose(-(a * 0.0).function(nn.Abs), (a * 0.0).function(nn.Abs))
    whole = found.equals(0.0).choose(zero, whole)
    return b.equals(0.0).choose(a / b, whole)


def combined(n: Layer, op: Callable[[Value, Value], Any], values: Sequence[Value]) -> Value:
    """The values combined by an op from the first to the last: op(op(a, b), c), .."""
    return reduce(lambda total, value: n(op(total, value)), values)


def polynomial(x: Term, coefficients: Sequence[float]) -> Term:
    """The polynomial with these coefficients, the highest power first."""
    first, second, *rest = coefficients
    return reduce(lambda found, c: found * x + c, rest, x * first + second)


def kron(x: Term, y: Term) -> Term:
    """The Kronecker product: blocks of y, each multiplied by an element of x."""
    rank = max(x.rank, y.rank)
    x, y = x.spread(rank - x.rank, 0), y.spread(rank - y.rank, 0)
    wide = x.reshape(*(e for i in range(rank) for e in ((x.value, i), 1)))
    tall = y.reshape(*(e for i in range(rank) for e in (1, (y.value, i))))
    pairs = [(2 * i, 2 * i + 2) for i in range(rank)]
    return Term(x.n, merge(x.n, (wide * tall).value, pairs))


def cbrt(x: Term) -> Term:
    """The cube root, with the sign of x: a power, and a step of Newton's method."""
    magnitude = x.function(nn.Abs)
    root = magnitude ** (1.0 / 3.0)
    better = root - (root * root * root - magnitude) / (root * root * 3.0)
    usable = (magnitude > 0.0) & (magnitude < math.inf)
    return usable.choose(better, magnitude) * x.function(nn.Sign)


def atan2(y: Term, x: Term) -> Term:
    """The angle of the point (x, y), by the arc tangent of the smaller over the greater."""
    ay, ax = y.function(nn.Abs), x.function(nn.Abs)
    great, small = ax.max(ay), ax.min(ay)
    ratio = (great > 0.0).choose(small / great, 0.0)
    same = great.equals(math.inf) & small.equals(math.inf)
    angle = same.choose(1.0, ratio).function(nn.Atan)
    angle = (ay > ax).choose(math.pi / 2 - angle, angle)
    angle = is_negative(x).choose(math.pi - angle, angle)
    angle = is_negative(y).choose(-angle, angle)
    missing = ~(x.equals(x) & y.equals(y))
    return missing.choose(math.nan, angle)


def width_of(x: Term) -> int:
    """The number of bits of an element."""
    element: Any = x.element
    return element.width


def bits_of(x: Term) -> Term:
    """The bits of floats as integers."""
    integers = TensorType(x.shape, IntegerType(width_of(x)))
    return x.made(nn.Bitcast(x.value, out=integers))


def is_negative(x: Term) -> Term:
    """Whether the sign is minus, that of -0 too."""
    return bits_of(x) < 0


def power_of_two_below(x: Term) -> Term:
    """The greatest power of two that is not more than a positive float; 1 for 0 and subnormals."""
    mantissa = {16: 10, 32: 23, 64: 52}[width_of(x)]
    exponent = (bits_of(x) >> mantissa) << mantissa
    found = x.made(nn.Bitcast(exponent.value, out=x.value.type))
    return found.equals(0.0).choose(1.0, found)
