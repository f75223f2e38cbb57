"""Complex tensors as pairs of real ones, since `nn` has no complex elements.

A complex input or output becomes a real one with a last dimension of two elements, the real and the
imaginary part. Callers in Python may give complex arrays, and get them; see `COMPLEX_OUTPUTS` in
`dialects/marks.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps

from .formulas import is_negative
from .words import *


@dataclass(frozen=True)
class Pair:
    """A complex tensor as its real and its imaginary part."""

    real: Value
    imag: Value

    @property
    def type(self) -> TensorType:
        """The type of either part."""
        return self.real.type  # type: ignore[return-value]


def is_complex(type: Type) -> bool:
    """Whether a type is that of a complex tensor."""
    return isinstance(type, TensorType) and isinstance(type.element_type, ComplexType)


def caller_type(type: Type) -> Type:
    """The type that callers see of an input or output: complex [..] becomes real [.., 2]."""
    if not is_complex(type):
        return type
    assert isinstance(type, TensorType)
    return TensorType((*type.shape, 2), type.element_type.element_type)


def by_parts(convert: Callable[..., Any]) -> Callable[..., Any]:
    """Extend a converter that only moves elements to complex operands: it converts each part.

    A real operand of floats has an imaginary part of zeros; other real operands, such as indices,
    are the same for both parts.
    """

    @wraps(convert)
    def converted(n: Layer, *values: Any, **named: Any) -> Any:
        if not has_pairs([values, named]):
            return convert(n, *values, **named)
        real, imag = (
            convert(n, *_part(n, list(values), part), **_part(n, named, part))
            for part in ("real", "imag")
        )
        return _paired(real, imag)

    return converted


def has_pairs(value: Any) -> bool:
    """Whether there is a complex tensor among nested values."""
    if isinstance(value, list | tuple):
        return any(map(has_pairs, value))
    return isinstance(value, Pair) or (isinstance(value, dict) and has_pairs([*value.values()]))


_FILLS = ("value", "fill_value")
"""Arguments that become elements of the result: a real one gets an imaginary part of 0."""


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float)


def _part(n: Layer, value: Any, part: str) -> Any:
    if isinstance(value, list | tuple):
        return [_part(n, one, part) for one in value]
    if isinstance(value, dict):
        return {
            key: 0.0 if part == "imag" and key in _FILLS and _is_real(one) else _part(n, one, part)
            for key, one in value.items()
        }
    if isinstance(value, Pair | complex):
        return getattr(value, part)
    if isinstance(value, ComplexType):
        return value.element_type
    if part == "imag" and isinstance(value, Value):
        is_float = isinstance(value.type, TensorType) and isinstance(
            value.type.element_type, FloatType
        )
        return Term(n, value).zeros().value if is_float else value
    return value


def _paired(real: Any, imag: Any) -> Any:
    if isinstance(real, list | tuple):
        return [_paired(a, b) for a, b in zip(real, imag, strict=True)]
    return None if real is None else Pair(real, imag)


def flat_parts(values: Sequence[Any]) -> list[Value]:
    """The values as tensors in a list; a complex one gives its real and its imaginary part."""
    found: list[Value] = []
    for value in values:
        found += [value.real, value.imag] if isinstance(value, Pair) else [value]
    return found


def paired_like(values: Sequence[Value], pattern: Sequence[Any]) -> list[Any]:
    """The inverse of `flat_parts`: two values become one where the pattern has a complex tensor."""
    rest = iter(values)
    return [Pair(next(rest), next(rest)) if isinstance(p, Pair) else next(rest) for p in pattern]


def as_complex(n: Layer, x: Value) -> Pair:
    """A real tensor [.., 2] as a complex one [..]."""
    term = Term(n, x)
    return Pair(term.column(0).value, term.column(1).value)


def as_real(n: Layer, x: Pair) -> Value:
    """A complex tensor [..] as a real one [.., 2]."""
    return joined([Term(n, part).spread(0, 1) for part in (x.real, x.imag)], -1).value


def constant_pair(n: Layer, x: Value) -> Pair:
    """A constant of complex elements. Raises NncError for other values."""
    known = n.array(x)
    if known is None:
        raise n.error("complex numbers as an input are not supported")
    element = x.type.element_type.element_type
    return Pair(*(n.constant(np.array(part), element) for part in (np.real(known), np.imag(known))))


def terms(n: Layer, x: Pair) -> tuple[Term, Term]:
    """The real and the imaginary part as terms."""
    return Term(n, x.real), Term(n, x.imag)


def product(a: tuple[Term, Term], b: tuple[Term, Term]) -> tuple[Term, Term]:
    """The product of two complex numbers."""
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def quotient(x: tuple[Term, Term], y: tuple[Term, Term]) -> tuple[Term, Term]:
    """The quotient of two complex numbers by Smith's method, in which no square overflows."""
    (a, b), (c, d) = x, y
    wide = c.function(nn.Abs) >= d.function(nn.Abs)
    great, small = wide.choose(c, d), wide.choose(d, c)
    ratio = small / great
    scale = 1.0 / (great + small * ratio)
    real = wide.choose(a + b * ratio, a * ratio + b) * scale
    imag = wide.choose(b - a * ratio, b * ratio - a) * scale
    none = c.equals(0.0) & d.equals(0.0)
    zero = c.function(nn.Abs)
    return none.choose(a / zero, real), none.choose(b / zero, imag)


def exponential(x: tuple[Term, Term]) -> tuple[Term, Term]:
    """e**x; for infinities and NaN it is what C defines.

    The result of a real number is real. If the real part is infinite, the result's magnitude is
    known even where the imaginary part is NaN or infinite.
    """
    (a, b), size = x, x[0].function(nn.Exp)
    real, imag = size * b.function(nn.Cos), size * b.function(nn.Sin)
    is_lost = (b - b).function(nn.IsNan)
    real = (is_lost & a.function(nn.IsInf)).choose(size, real)
    imag = (is_lost & a.equals(-math.inf)).choose(0.0, imag)
    is_real = b.equals(0.0)
    return is_real.choose(size, real), is_real.choose(b, imag)


def great_and_ratio(x: tuple[Term, Term]) -> tuple[Term, Term]:
    """The larger of the two parts' absolute values, and the ratio of the smaller to the larger.

    The ratio is 0 where the larger one is 0 or infinite.
    """
    a, b = (part.function(nn.Abs) for part in x)
    great, small = a.max(b), a.min(b)
    is_end = great.equals(0.0) | great.equals(math.inf)
    return great, is_end.choose(0.0, small / great)


def magnitude(x: tuple[Term, Term]) -> Term:
    """The absolute value, scaled so that squares do not overflow."""
    great, ratio = great_and_ratio(x)
    return great * (ratio * ratio + 1.0).function(nn.Sqrt)


def square_root(x: tuple[Term, Term]) -> tuple[Term, Term]:
    """The square root with a real part that is not negative; both parts are infinite if x[1] is."""
    great, ratio = great_and_ratio(x)
    a, b = (part.function(nn.Abs) for part in x)
    none = great.equals(0.0)
    share = (none | great.equals(math.inf)).choose(1.0, a / great)
    mean = ((ratio * ratio + 1.0).function(nn.Sqrt) + share) * 0.5
    size = great.function(nn.Sqrt) * mean.function(nn.Sqrt)
    rest = none.choose(0.0, b.equals(math.inf).choose(math.inf, b * 0.5 / size))
    left = x[0] < 0.0
    real, imag = left.choose(rest, size), left.choose(size, rest)
    return real, is_negative(x[1]).choose(-imag, imag)


def pair(real: Term, imag: Term) -> Pair:
    """Terms as a complex tensor."""
    return Pair(real.value, imag.value)


def real_matrix(n: Layer, x: Pair) -> Term:
    """[[A, -B], [B, A]], which acts on stacked real and imaginary parts as A + Bi does."""
    a, b = terms(n, x)
    return joined([joined([a, -b], -1), joined([b, a], -1)], -2)


def stacked_parts(x: Term) -> Pair:
    """The complex matrix whose real parts are the upper half of the rows of x [B.., 2 * M, K]."""
    rows, axis = x.shape[-2], x.rank - 2
    if rows is not None:
        return pair(x.part(axis, 0, rows // 2), x.part(axis, rows // 2, rows))
    half = extent(x.n, (x.value, axis)) / 2
    upper = counting(x.n, half)
    return pair(x.gather(upper, axis), x.gather(upper + half, axis))
