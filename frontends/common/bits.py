"""Elements as the bits that they are stored in."""

from __future__ import annotations

from .words import *


def bits_as(n: Layer, x: Value, element: Type) -> Value:
    """The bits of x as elements of another type.

    Shapes: wider elements [..] become narrower ones [.., parts], lowest bits first; narrower
    [.., parts] become wider [..], with as many parts as make one.
    """
    own, width = _width(x.type.element_type), _width(element)
    if own == width:
        return n(nn.Bitcast(x, out=TensorType(x.type.shape, element)))
    return _apart(n, x, element, own // width) if own > width else _together(n, x, element)


def as_unsigned(n: Layer, x: Value) -> Term:
    """The bits of x as unsigned integers; booleans as they are."""
    width = _width(x.type.element_type)
    return Term(n, x) if width == 1 else Term(n, bits_as(n, x, IntegerType(width, "u")))


def _apart(n: Layer, x: Value, element: Type, count: int) -> Value:
    """Elements as several narrower ones in a new last dimension, lowest bits first."""
    whole, width = as_unsigned(n, x).spread(0, 1), _width(element)
    shifts = np.arange(count) * width
    parts = whole >> Term(n, n.constant(shifts.astype(type_to_numpy(whole.element))))
    if width == 1:  # a cast to i1 says which numbers are not 0, others cut off the bits above
        return (parts & 1).cast(i1).value
    return bits_as(n, parts.cast(IntegerType(width, "u")).value, element)


def _together(n: Layer, x: Value, element: Type) -> Value:
    """The elements of the last dimension as a wider one. Raises NncError if they do not fill it."""
    own, width = _width(x.type.element_type), _width(element)
    if x.type.rank == 0 or n.extent(x, x.type.rank - 1) * own != width:
        raise n.error(f"'{x.type}' has no {width} bits in its last dimension")
    parts = as_unsigned(n, x).cast(IntegerType(width, "u"))
    shifts = (np.arange(width // own) * own).astype(type_to_numpy(parts.element))
    whole = (parts << Term(n, n.constant(shifts))).sum(x.type.rank - 1)
    return bits_as(n, whole.value, element)


def _width(element: Type) -> int:
    """An element's width in bits; `nn.bitcast` counts a boolean as a byte."""
    return 1 if element is i1 else nn.bit_width(element)
