"""Elementwise operators of complex numbers, by the operator's name.

A result is a pair of terms, or one term where it is real.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ir.core import Value
from ..common import complex_functions as functions
from ..common.complex_functions import Pairs
from ..common.complexes import Pair, constant_pair, exponential, pair, product, square_root, terms
from ..common.complexes import is_complex as is_complex_type
from ..common.terms import Term


def is_complex(x: Any) -> bool:
    """Whether a value is complex: a pair, or a constant of complex elements."""
    return isinstance(x, Pair) or (isinstance(x, Value) and is_complex_type(x.type))


def complex_of(n: Any, x: Any) -> Pair:
    """A complex tensor; the imaginary part of real numbers is 0."""
    if isinstance(x, Pair):
        return x
    if not is_complex_type(x.type):
        return Pair(x, Term(n, x).zeros().value)
    return constant_pair(n, x)


def or_complex(real: Callable[..., Any]) -> Callable[..., Any]:
    """A converter that applies a function of `FUNCTIONS` if an operand is complex, else `real`."""

    def convert(n: Any, *values: Any) -> Any:
        if not any(map(is_complex, values)):
            return real(n, *values)
        work = FUNCTIONS.get(n.kind)
        if work is None:
            raise n.error("complex numbers are not supported")
        found = work(*(terms(n, complex_of(n, v)) for v in values))
        return pair(*found) if isinstance(found, tuple) else found.value

    return convert


def _is_zero(x: Pairs) -> Term:
    return x[0].equals(0.0) & x[1].equals(0.0)


def _zero_where(where: Term, x: Pairs) -> Pairs:
    return where.choose(0.0, x[0]), where.choose(0.0, x[1])


def _sum(x: Pairs, y: Pairs) -> Pairs:
    return x[0] + y[0], x[1] + y[1]


def _difference(x: Pairs, y: Pairs) -> Pairs:
    return x[0] - y[0], x[1] - y[1]


def _squared_difference(x: Pairs, y: Pairs) -> Pairs:
    """The difference times its conjugate."""
    real, imag = _difference(x, y)
    found = real * real + imag * imag
    return found, found.zeros()


def _reciprocal(x: Pairs) -> Pairs:
    one = x[0].zeros() + 1.0
    return functions.quotient((one, one.zeros()), x)


def _power(x: Pairs, y: Pairs) -> Pairs:
    """x**y; 1 where both are 0."""
    real, imag = exponential(product(functions.log(x), y))
    return (_is_zero(x) & _is_zero(y)).choose(1.0, real), imag


def _equal(x: Pairs, y: Pairs) -> Term:
    return x[0].equals(y[0]) & x[1].equals(y[1])


FUNCTIONS: dict[str, Callable[..., Pairs | Term]] = {
    "Acos": functions.acos,
    "Acosh": functions.acosh,
    "Add": _sum,
    "AddV2": _sum,
    "Asin": functions.asin,
    "Asinh": functions.asinh,
    "Atan": functions.atan,
    "Atanh": functions.atanh,
    "Cos": functions.cosine,
    "Cosh": functions.cosh,
    "Div": functions.quotient,
    "DivNoNan": lambda x, y: _zero_where(_is_zero(y), functions.quotient(x, y)),
    "Equal": _equal,
    "Exp": exponential,
    "Expm1": functions.expm1,
    "Inv": _reciprocal,
    "Log": functions.log,
    "Log1p": functions.log1p,
    "Mul": product,
    "MulNoNan": lambda x, y: _zero_where(_is_zero(y), product(x, y)),
    "NotEqual": lambda x, y: ~_equal(x, y),
    "Pow": _power,
    "RealDiv": functions.quotient,
    "Reciprocal": _reciprocal,
    "Rsqrt": functions.rsqrt,
    "Sigmoid": functions.logistic,
    "Sign": functions.sign,
    "Sin": functions.sine,
    "Sinh": functions.sinh,
    "Sqrt": square_root,
    "Square": lambda x: product(x, x),
    "SquaredDifference": _squared_difference,
    "Sub": _difference,
    "Tan": functions.tan,
    "Tanh": functions.tanh,
    "Xdivy": lambda x, y: _zero_where(_is_zero(x), functions.quotient(x, y)),
    "Xlog1py": lambda x, y: _zero_where(_is_zero(x), product(x, functions.log1p(y))),
    "Xlogy": lambda x, y: _zero_where(_is_zero(x), product(x, functions.log(y))),
}
