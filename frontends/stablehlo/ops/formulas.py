"""Elementwise formulas: JAX's functions of real numbers."""

from __future__ import annotations

from ...common.formulas import width_of
from ...common.vocabulary import *


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
    """x / y; of integers and 0, all bits are set, as in XLA."""
    if not isinstance(x.element, IntegerType):
        return x / y
    none, low = y.equals(0), x.element.signedness != "u"
    return none.choose(-1 if low else 2**x.element.width - 1, x / none.choose(1, y))


def remainder(x: Term, y: Term) -> Term:
    """The remainder of x / y; x itself where an integer is divided by 0, as in XLA."""
    if not isinstance(x.element, IntegerType):
        return x.made(nn.Mod(x.value, y.value, fmod=True))
    none = y.equals(0)
    rest = x.made(nn.Mod(x.value, none.choose(1, y).value, fmod=True))
    return none.choose(x, rest)


def negated(x: Term) -> Term:
    return -x if isinstance(x.element, FloatType) else x.made(nn.Sub(x.other(0), x.value))


def sign(x: Term) -> Term:
    if isinstance(x.element, IntegerType) and x.element.signedness == "u":
        return x.min(1)
    found = x.function(nn.Sign)
    if not isinstance(x.element, FloatType):
        return found
    return x.equals(0.0).choose(x, found)  # -0 remains


def square(x: Term) -> Term:
    return x * x


# -- functions -------------------------------------------------------------------------------------


def popcnt(x: Term) -> Term:
    """The number of 1 bits, counted in pairs of bits, then in fours, then in bytes."""
    x, back = _unsigned(x)
    width = width_of(x)
    whole = (1 << width) - 1
    if width > 1:
        x = x - ((x >> 1) & (whole // 3))
    if width > 2:
        x = (x & (whole // 5)) + ((x >> 2) & (whole // 5))
    if width > 4:
        x = (x + (x >> 4)) & (whole // 17)
    for step in (8, 16, 32):
        if step < width:
            x = x + (x >> step)
    return back(x & (2 * width - 1))


def count_leading_zeros(x: Term) -> Term:
    """The number of leading 0 bits: width - the ones after all bits below the highest are set."""
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


def shift_right_logical(x: Term, y: Term) -> Term:
    (bits, back), (by, _) = _unsigned(x), _unsigned(y)
    return back(bits >> by)


def shift_right_arithmetic(x: Term, y: Term) -> Term:
    element: Any = x.element
    if element.signedness != "u":
        return x >> y
    signed = IntegerType(element.width)
    return (x.cast(signed) >> y.cast(signed)).cast(element)
