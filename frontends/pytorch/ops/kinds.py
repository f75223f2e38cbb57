"""Predicates on elements: sign, infinities, and equality."""

from __future__ import annotations

from ...common import formulas
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
    return formulas.copysign(*(Term(n, v) for v in n.promoted_floating(self, other))).value


@ROWS("aten.nextafter")
def nextafter(n: AtenLayer, self: Value, other: Value) -> Value:
    return formulas.nextafter(*(Term(n, v) for v in n.promoted(self, other))).value


@ROWS("aten.isposinf", "aten.isneginf")
def is_one_infinity(n: AtenLayer, self: Value) -> Value:
    end = math.inf if "pos" in n.kind else -math.inf
    return Term(n, n.floating(self)).equals(end).value


@ROWS("aten.isreal")
def isreal(n: AtenLayer, self: Value) -> Value:
    return n.filled(n.constant(True, i1), n.shape(self))


@ROWS("aten.isfinite", batched="elements")
def isfinite(n: AtenLayer, self: Value) -> Value:
    return formulas.isfinite(Term(n, n.floating(self))).value


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
    pair = n.promoted(one, test_element if test_elements is None else test_elements)
    same = formulas.isin(*(Term(n, v) for v in pair))
    return (~same if invert else same).value


@ROWS("aten.sign", "aten.sgn", batched="elements")
def sign(n: AtenLayer, self: Value) -> Value:
    """-1, 0 or 1; 0 for NaN."""
    x = Term(n, self)
    if isinstance(x.element, IntegerType):
        return self if x.element is i1 else n(nn.Sign(self))
    return ((x > 0.0).cast(x.element) - (x < 0.0).cast(x.element)).value


@ROWS("aten.signbit", batched="elements")
def signbit(n: AtenLayer, self: Value) -> Value:
    """Whether the sign bit is set, also of zeros."""
    x = Term(n, self)
    if not isinstance(x.element, FloatType):
        return (x.cast(i64) < 0).value
    return is_negative(x).value


@ROWS("aten.heaviside", batched="elements")
def heaviside(n: AtenLayer, self: Value, values: Value) -> Value:
    """0 below 0, 1 above, and `values` at 0."""
    return formulas.heaviside(*(Term(n, v) for v in n.promoted(self, values)), of_nan=0.0).value


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
    near = formulas.isclose(a, b, rtol, atol, equal_nan)
    return (formulas.all_of(near) if "allclose" in n.kind else near).value


@ROWS("aten.equal")
def equal(n: AtenLayer, self: Value, other: Value) -> Value:
    """Whether two tensors have the same shape and elements."""
    if self.type.shape != other.type.shape:
        return n.constant(False, i1)
    a, b = (Term(n, v) for v in n.promoted(self, other))
    return formulas.all_of(a.equals(b)).value
