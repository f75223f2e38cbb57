"""Functions of complex numbers and their products, including sums of squares and norms."""

from __future__ import annotations

from ...common.complexes import Pair, pair, product, quotient, terms
from ...common.formulas import hypot
from ...common.rows import Rows
from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS, Row
from .complexes import conjugate, parts_of, spread_pair, to, truth
from .creation import created
from .elementwise import atan2
from .matrix_norms import linalg_norm
from .reductions import norm as real_norm
from .reductions import spread

Parts = tuple[Term, Term]


def _exp(a: Term, b: Term) -> Parts:
    length = a.function(nn.Exp)
    return length * b.function(nn.Cos), length * b.function(nn.Sin)


def _log(a: Term, b: Term) -> Parts:
    return hypot(a, b).function(nn.Log), Term(a.n, atan2(a.n, b.value, a.value))


def _sqrt(a: Term, b: Term) -> Parts:
    """The square root with a nonnegative real part; the larger part is computed first."""
    greater = ((hypot(a, b) + a.function(nn.Abs)) * 0.5).function(nn.Sqrt)
    less = b.function(nn.Abs) / greater.equals(0.0).choose(1.0, greater * 2.0)
    less = b.function(nn.Abs).equals(math.inf).choose(math.inf, less)
    right = a >= 0.0
    real, imag = right.choose(greater, less), right.choose(less, greater)
    return real, (b < 0.0).choose(-imag, imag)


def _sgn(a: Term, b: Term) -> Parts:
    size = hypot(a, b)
    size = size.equals(0.0).choose(1.0, size)
    return a / size, b / size


def _hyperbolic(x: Term) -> Parts:
    return x.function(nn.Sinh), x.function(nn.Cosh)


def _tanh(a: Term, b: Term) -> Parts:
    """The hyperbolic tangent; for abs(a) > 40 the real part is 1 (or -1)."""
    a = a.max(-40.0).min(40.0)
    sinh, cosh = _hyperbolic(a + a)
    below = cosh + (b + b).function(nn.Cos)
    return sinh / below, (b + b).function(nn.Sin) / below


def _tan(a: Term, b: Term) -> Parts:
    real, imag = _tanh(-b, a)
    return imag, -real


def _sinh(a: Term, b: Term) -> Parts:
    sinh, cosh = _hyperbolic(a)
    return sinh * b.function(nn.Cos), cosh * b.function(nn.Sin)


def _cosh(a: Term, b: Term) -> Parts:
    sinh, cosh = _hyperbolic(a)
    return cosh * b.function(nn.Cos), sinh * b.function(nn.Sin)


def _sin(a: Term, b: Term) -> Parts:
    sinh, cosh = _hyperbolic(b)
    return a.function(nn.Sin) * cosh, a.function(nn.Cos) * sinh


def _cos(a: Term, b: Term) -> Parts:
    sinh, cosh = _hyperbolic(b)
    return a.function(nn.Cos) * cosh, -(a.function(nn.Sin) * sinh)


def _reciprocal(a: Term, b: Term) -> Parts:
    return quotient((a.zeros() + 1.0, a.zeros()), (a, b))


def _sigmoid(a: Term, b: Term) -> Parts:
    real, imag = _exp(-a, -b)
    return _reciprocal(real + 1.0, imag)


def _turned(function: Any) -> Any:
    """-i * f(i * z)"""

    def turned(a: Term, b: Term) -> Parts:
        real, imag = function(-b, a)
        return imag, -real

    return turned


def _asinh(a: Term, b: Term) -> Parts:
    """log(z + sqrt(z**2 + 1)) in the right half plane; the left one is its negative."""
    left = a < 0.0
    a, b = left.choose(-a, a), left.choose(-b, b)
    square = product((a, b), (a, b))
    root = _sqrt(square[0] + 1.0, square[1])
    real, imag = _log(a + root[0], b + root[1])
    return left.choose(-real, real), left.choose(-imag, imag)


def _acos(a: Term, b: Term) -> Parts:
    real, imag = _turned(_asinh)(a, b)
    return math.pi / 2 - real, -imag


def _acosh(a: Term, b: Term) -> Parts:
    """log(z + sqrt(z + 1) * sqrt(z - 1))"""
    root = product(_sqrt(a + 1.0, b), _sqrt(a - 1.0, b))
    return _log(a + root[0], b + root[1])


def _atanh(a: Term, b: Term) -> Parts:
    (c, d), (e, f) = _log(a + 1.0, b), _log(1.0 - a, -b)
    return (c - e) * 0.5, (d - f) * 0.5


def _sinc(a: Term, b: Term) -> Parts:
    none = a.equals(0.0) & b.equals(0.0)
    a, b = a * math.pi, b * math.pi
    real, imag = quotient(_sin(a, b), (none.choose(1.0, a), b))
    return none.choose(1.0, real), none.choose(0.0, imag)


def _scaled_log(factor: float) -> Any:
    def log(a: Term, b: Term) -> Parts:
        real, imag = _log(a, b)
        return real * factor, imag * factor

    return log


_FUNCTIONS = {
    "sqrt": _sqrt,
    "rsqrt": lambda a, b: _reciprocal(*_sqrt(a, b)),
    "square": lambda a, b: product((a, b), (a, b)),
    "reciprocal": _reciprocal,
    "log": _log,
    "log2": _scaled_log(1 / math.log(2)),
    "log10": _scaled_log(1 / math.log(10)),
    "log1p": lambda a, b: _log(a + 1.0, b),
    "expm1": lambda a, b: (_exp(a, b)[0] - 1.0, _exp(a, b)[1]),
    "sgn": _sgn,
    "sin": _sin,
    "cos": _cos,
    "tan": _tan,
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": _tanh,
    "sigmoid": _sigmoid,
    "silu": lambda a, b: product((a, b), _sigmoid(a, b)),
    "asinh": _asinh,
    "arcsinh": _asinh,
    "asin": _turned(_asinh),
    "arcsin": _turned(_asinh),
    "acos": _acos,
    "arccos": _acos,
    "acosh": _acosh,
    "arccosh": _acosh,
    "atanh": _atanh,
    "arctanh": _atanh,
    "atan": _turned(_atanh),
    "arctan": _turned(_atanh),
    "sinc": _sinc,
    "exp2": lambda a, b: _exp(a * math.log(2), b * math.log(2)),
}


def _row(function: Any) -> Row:
    return lambda n, self: pair(*function(*terms(n, self)))


ROWS.add({f"complex.{name}": _row(function) for name, function in _FUNCTIONS.items()})


@ROWS("complex.float_power")
def float_power(n: AtenLayer, self: Any, exponent: Any) -> Pair:
    wide = (to(n, x, ComplexType(f64)) if isinstance(x, Pair) else x for x in (self, exponent))
    return power(n, *wide)


@ROWS("complex.pow")
def power(n: AtenLayer, self: Any, exponent: Any) -> Pair:
    """A complex power; 0 to a power is 0, but 0 to the power of 0 is 1."""
    (a, b), (c, d) = parts_of(n, self, exponent)
    if isinstance(exponent, int) and 0 < exponent < 5:
        found = (a, b)
        for _ in range(exponent - 1):
            found = product(found, (a, b))
        return pair(*found)
    if exponent in (0.5, -1):
        return pair(*(_sqrt if exponent == 0.5 else _reciprocal)(a, b))
    real, imag = _exp(*product(_log(a, b), (c, d)))
    none = hypot(a, b).equals(0.0)
    ones = (c.equals(0.0) & d.equals(0.0)).cast(real.element)
    return pair(none.choose(ones, real), none.choose(0.0, imag))


@ROWS("complex.rsub")
def rsub(n: AtenLayer, self: Any, other: Any, alpha: Any = 1) -> Pair:
    (a, b), (c, d) = parts_of(n, self, other)
    a, b = product((a, b), *parts_of(n, complex(alpha)))
    return spread_pair(n, c - a, d - b, self, other)


@ROWS("complex.addcmul", "complex.addcdiv")
def addcmul(n: AtenLayer, self: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> Pair:
    (a, b), x, y, factor = parts_of(n, self, tensor1, tensor2, value)
    made = product(x, y) if "addcmul" in n.kind else quotient(x, y)
    real, imag = product(made, factor)
    return spread_pair(n, a + real, b + imag, self, tensor1, tensor2)


@ROWS("complex.lerp")
def lerp(n: AtenLayer, self: Any, end: Any, weight: Any) -> Pair:
    (a, b), (c, d), share = parts_of(n, self, end, weight)
    real, imag = product((c - a, d - b), share)
    return spread_pair(n, a + real, b + imag, self, end)


@ROWS("complex.logaddexp")
def logaddexp(n: AtenLayer, self: Any, other: Any) -> Pair:
    """log(exp(a) + exp(b)), with the greater real part taken out; the angle is not wrapped."""
    (a, b), (c, d) = parts_of(n, self, other)
    first = a >= c
    most, angle = first.choose(a, c), first.choose(b, d)
    real, imag = _exp(first.choose(c, a) - most, first.choose(d, b) - angle)
    real, imag = _log(real + 1.0, imag)
    return pair(real + most, imag + angle)


def _of_truth(name: str) -> Row:
    """A converter of an operator on truth values: whether elements are not zero."""

    def row(n: AtenLayer, self: Any, other: Any = None, **how: Any) -> Any:
        if other is not None:
            how["other"] = truth(n, other) if isinstance(other, Pair) else other
        real: Any = Rows.find(ROWS, f"aten.{name}")
        return real(n, truth(n, self) if isinstance(self, Pair) else self, **how)

    return row


_TRUTHS = """
logical_and logical_or logical_xor logical_not any all nonzero nonzero_numpy nonzero_static argwhere
count_nonzero
"""
ROWS.add({f"complex.{name}": _of_truth(name) for name in _TRUTHS.split()})


@ROWS("complex.isreal")
def isreal(n: AtenLayer, self: Pair) -> Value:
    return Term(n, self.imag).equals(0.0).value


@ROWS("complex.isclose")
def isclose(
    n: AtenLayer, self: Any, other: Any, rtol=1e-5, atol=1e-8, equal_nan: bool = False
) -> Value:
    (a, b), (c, d) = parts_of(n, self, other)
    near = hypot(a - c, b - d) <= hypot(c, d) * rtol + atol
    return (near | (a.equals(c) & b.equals(d))).value


@ROWS("complex.dist")
def dist(n: AtenLayer, self: Any, other: Any, p: Any = 2) -> Value:
    (a, b), (c, d) = parts_of(n, self, other)
    return real_norm(n, hypot(a - c, b - d).value, p)


@ROWS("complex.eq", "complex.ne")
def equal(n: AtenLayer, self: Any, other: Any) -> Value:
    (a, b), (c, d) = parts_of(n, self, other)
    same = a.equals(c) & b.equals(d)
    return (~same if n.kind.startswith("aten.ne") else same).value


@ROWS("complex.where")
def where(n: AtenLayer, condition: Value, self: Any, other: Any) -> Pair:
    chosen = Term(n, condition)
    (a, b), (c, d) = parts_of(n, self, other)
    return pair(chosen.choose(a, c), chosen.choose(b, d))


@ROWS("complex.masked_fill")
def masked_fill(n: AtenLayer, self: Any, mask: Value, value: Any) -> Pair:
    return where(n, mask, value, self)


_LIKE = "zeros_like ones_like full_like empty_like zero fill"


@ROWS(*(f"complex.{name}" for name in _LIKE.split()))
def filled_like(
    n: AtenLayer, self: Pair, fill_value: Any = None, value: Any = None, dtype: Any = None
) -> Any:
    own = ComplexType(self.type.element_type) if dtype is None else dtype
    value = fill_value if value is None else value
    if isinstance(value, Pair | Value):
        return Pair(*(n.expand(part.value, n.shape(self.real)) for part in parts_of(n, value)[0]))
    return created(n, n.shape(self.real), float("ones" in n.kind) if value is None else value, own)


@ROWS(*(f"complex.new_{name}" for name in ("zeros", "ones", "full", "empty")))
def filled_new(
    n: AtenLayer, self: Pair, size: Any, fill_value: Any = None, dtype: Any = None
) -> Any:
    own = ComplexType(self.type.element_type) if dtype is None else dtype
    value = float("ones" in n.kind) if fill_value is None else fill_value
    return created(n, size, value, own)


@ROWS("complex.mH", "complex.adjoint", "complex.matrix_H")
def conjugate_transpose(n: AtenLayer, self: Pair) -> Pair:
    rank = self.type.rank
    parts = (swapped(n, part, rank - 2, rank - 1) for part in (self.real, self.imag))
    return conjugate(n, Pair(*parts))


# -- reductions ------------------------------------------------------------------------------------


@ROWS("complex.prod")
def prod(
    n: AtenLayer, self: Pair, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Pair:
    """The product along a dimension: halves are multiplied until one element is left."""
    (a, b), axis = terms(n, self), 0
    if dim is None:
        a, b = a.flat(), b.flat()
    else:
        axis = n.axis(dim, self.type.rank)
    count = n.int(n.size(a.value, axis))
    while count > 1:
        half = count // 2
        first, second = ((x.part(axis, 0, half), x.part(axis, half, 2 * half)) for x in (a, b))
        made = product((first[0], second[0]), (first[1], second[1]))
        rest = (x.part(axis, 2 * half, count) for x in (a, b))
        a, b = (joined([x, y], axis) for x, y in zip(made, rest, strict=True))
        count -= half
    whole = keepdim and dim is not None
    return pair(*(x if whole else x.column(0, axis) for x in (a, b)))


@ROWS("complex.cumprod")
def cumprod(n: AtenLayer, self: Pair, dim: int, dtype: Any = None) -> Pair:
    """Running products, over twice as many elements in each step."""
    if not self.type.rank:
        return self
    parts, axis = terms(n, self), n.axis(dim, self.type.rank)
    count, step = n.int(n.size(self.real, axis)), 1
    while step < count:
        rest = [x.part(axis, step, count) for x in parts]
        before = [x.part(axis, 0, count - step) for x in parts]
        made = product((rest[0], rest[1]), (before[0], before[1]))
        first, second = (
            joined([x.part(axis, 0, step), y], axis) for x, y in zip(parts, made, strict=True)
        )
        parts, step = (first, second), 2 * step
    return pair(*parts)


@ROWS("complex.var_mean", "complex.std_mean")
def complex_variance_and_mean(n: AtenLayer, self: Pair, **how: Any) -> list:
    """Complex variance and mean, by the real converter on each part."""
    (v, mean), (w, turned) = (spread(n, part, **how) for part in (self.real, self.imag))
    a, b = Term(n, v), Term(n, w)
    return [(a + b if ".var" in n.kind else hypot(a, b)).value, Pair(mean, turned)]


@ROWS("complex.var", "complex.std")
def complex_variance(n: AtenLayer, self: Pair, **how: Any) -> Value:
    """The variance of complex numbers: the sum of both parts' variances."""
    real, imag = (Term(n, spread(n, part, **how)) for part in (self.real, self.imag))
    return (real + imag).value if ".var" in n.kind else hypot(real, imag).value


@ROWS("complex.norm", "complex.linalg_vector_norm", "complex.linalg_norm")
def norm(n: AtenLayer, self: Pair, **how: Any) -> Value:
    """The norm of the elements' absolute values, which is the vector or Frobenius norm."""
    row = linalg_norm if "linalg_norm" in n.kind else real_norm
    return row(n, hypot(*terms(n, self)).value, **how)


@ROWS("complex.isnan", "complex.isinf", "complex.isfinite")
def is_kind(n: AtenLayer, self: Pair) -> Value:
    """Whether either part, or both, fulfil the operator's condition."""
    row: Any = ROWS.find(n.kind)
    a, b = (Term(n, row(n, part)) for part in (self.real, self.imag))
    return (a & b if "isfinite" in n.kind else a | b).value
