"""What kind of number each element is: its sign, infinities, and whether it equals another."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS


@ROWS("aten.isnan", batched="elements")
def isnan(n: AtenLayer, self: Value) -> Value:
    return n(nn.IsNan(n.floating(self)))


@ROWS("aten.isinf", batched="elements")
def isinf(n: AtenLayer, self: Value) -> Value:
    return n(nn.IsInf(n.floating(self)))


@ROWS("aten.copysign", batched="elements")
def copysign(n: AtenLayer, self: Any, other: Any) -> Value:
    """The size of one with the sign of the other, that of zeros too."""
    lhs, rhs = (Term(n, v) for v in n.promoted_floating(self, other))
    size = lhs.function(nn.Abs)
    return is_negative(rhs).choose(-size, size).value


@ROWS("aten.nextafter")
def nextafter(n: AtenLayer, self: Value, other: Value) -> Value:
    """The number beside one on the way to another: bits grow with the distance from zero."""
    x, y = (Term(n, v) for v in n.promoted(self, other))
    bits, width = bits_of(x), x.element.width  # type: ignore[attr-defined]
    away = (y > x).equals(x > 0.0)
    least = (y < 0.0).choose(constant(n, -(2 ** (width - 1)) + 1, bits.element), 1)
    bits = x.equals(0.0).choose(least, away.choose(bits + 1, bits - 1))
    found = bits.made(nn.Bitcast(bits.value, out=TensorType(bits.shape, x.element)))
    found = x.equals(y).choose(y, found)
    return (x.function(nn.IsNan) | y.function(nn.IsNan)).choose(math.nan, found).value


@ROWS("aten.isposinf", "aten.isneginf")
def is_one_infinity(n: AtenLayer, self: Value) -> Value:
    end = math.inf if "pos" in n.kind else -math.inf
    return Term(n, n.floating(self)).equals(end).value


@ROWS("aten.isreal")
def isreal(n: AtenLayer, self: Value) -> Value:
    return n.filled(n.constant(True, i1), n.shape(self))


@ROWS("aten.isfinite", batched="elements")
def isfinite(n: AtenLayer, self: Value) -> Value:
    x = n.floating(self)
    return n(nn.Not(n(nn.Or(n(nn.IsNan(x)), n(nn.IsInf(x))))))


@ROWS("aten.isin")
def isin(
    n: AtenLayer,
    elements: Any = None,
    test_elements: Any = None,
    element: Any = None,
    test_element: Any = None,
    assume_unique: bool = False,  # only a hint
    invert: bool = False,
) -> Value:
    one = element if elements is None else elements
    lhs, rhs = n.promoted(one, test_element if test_elements is None else test_elements)
    found = Term(n, lhs).spread(0, 1).equals(Term(n, rhs).flat()).cast(i64)
    same = found.sum(lhs.type.rank) > 0
    return (~same if invert else same).value


@ROWS("aten.sign", "aten.sgn", batched="elements")
def sign(n: AtenLayer, self: Value) -> Value:
    """-1, 0 or 1; 0 of what is no number."""
    x = Term(n, self)
    if isinstance(x.element, IntegerType):
        return self if x.element is i1 else n(nn.Sign(self))
    return ((x > 0.0).cast(x.element) - (x < 0.0).cast(x.element)).value


@ROWS("aten.signbit", batched="elements")
def signbit(n: AtenLayer, self: Value) -> Value:
    """Whether the sign is negative, that of zeros too."""
    x = Term(n, self)
    if not isinstance(x.element, FloatType):
        return (x.cast(i64) < 0).value
    return is_negative(x).value


@ROWS("aten.heaviside", batched="elements")
def heaviside(n: AtenLayer, self: Value, values: Value) -> Value:
    """0 below 0, 1 above, and at 0 a value."""
    x, y = (Term(n, v) for v in n.promoted(self, values))
    return x.equals(0).choose(y, (x > 0).cast(x.element)).value


@ROWS("aten.isclose", "aten.allclose")
def isclose(
    n: AtenLayer,
    self: Value,
    other: Value,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> Value:
    a, b = (Term(n, v) for v in n.promoted_floating(self, other))
    size = b.function(nn.Abs)
    near = ((a - b).function(nn.Abs) <= size * rtol + atol) & (size < math.inf)
    near = near | a.equals(b)
    if equal_nan:
        near = near | (a.function(nn.IsNan) & b.function(nn.IsNan))
    return _everywhere(near) if "allclose" in n.kind else near.value


@ROWS("aten.equal")
def equal(n: AtenLayer, self: Value, other: Value) -> Value:
    """Whether two tensors have one shape and the same elements."""
    if self.type.shape != other.type.shape:
        return n.constant(False, i1)
    a, b = (Term(n, v) for v in n.promoted(self, other))
    return _everywhere(a.equals(b))


def _everywhere(holds: Term) -> Value:
    misses = (~holds).cast(i64)
    return misses.sum(*range(misses.rank)).equals(0).value
