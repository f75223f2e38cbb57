"""Complex numbers as pairs of real tensors, Fourier transforms, and frames of signals.

A converter `complex.NAME` is of the operator NAME with some operands being complex.
"""

from __future__ import annotations

from ...common.complexes import (
    Pair,
    as_complex,
    as_real,
    exponential,
    magnitude,
    pair,
    product,
    quotient,
    square_root,
    terms,
)
from ...common.formulas import atan2
from ...common.fourier import Complex, along_axes, each
from ...common.vocabulary import *
from ..layer import PaddleLayer, rows
from .elementwise import aligned
from .networks import matmul

Parts = tuple[Term, Term]


def parts_of(n: PaddleLayer, x: Any) -> Parts:
    """The real and the imaginary part; that of real numbers is 0."""
    if isinstance(x, Pair):
        return terms(n, x)
    real = Term(n, n.floating(x))
    return real, real.zeros()


@rows("complex")
def complex_(n: PaddleLayer, real: Value, imag: Value) -> Pair:
    a, b = (Term(n, v) for v in aligned(n, real, imag))
    return pair(a + b.zeros(), b + a.zeros())


rows.formulas(
    {
        "as_complex": lambda n, x: as_complex(n, x),
        "complex.as_real": lambda n, x: as_real(n, x),
        "complex.real": lambda n, x: x.real,
        "complex.imag": lambda n, x: x.imag,
        "conj": lambda n, x: x,
        "complex.conj": lambda n, x: Pair(x.real, n(nn.Neg(x.imag))),
        "complex.abs": lambda n, x: magnitude(terms(n, x)).value,
        "complex.angle": lambda n, x: atan2(*reversed(terms(n, x))).value,
    }
)


def _logarithm(x: Parts) -> Parts:
    return magnitude(x).function(nn.Log), atan2(x[1], x[0])


def _reciprocal(x: Parts) -> Parts:
    return quotient((x[0].zeros() + 1.0, x[0].zeros()), x)


def _sums(sign: int) -> Callable[[Parts, Parts], Parts]:
    return lambda x, y: (x[0] + y[0] * sign, x[1] + y[1] * sign)


def _function(make: Callable[..., Parts]) -> Callable:
    """A converter of a function of complex numbers."""
    return lambda n, *operands: pair(*make(*(parts_of(n, x) for x in operands)))


for _name, _make in {
    "exp": exponential,
    "log": _logarithm,
    "sqrt": square_root,
    "reciprocal": _reciprocal,
    "square": lambda x: product(x, x),
    "add": _sums(1),
    "subtract": _sums(-1),
    "multiply": product,
    "divide": quotient,
}.items():
    rows.add(dict.fromkeys((f"complex.{_name}", f"complex.{_name}_"), _function(_make)))


@rows("complex.scale", "complex.scale_")
def scaled(n: PaddleLayer, x: Pair, by: Value) -> Pair:
    real, imag = terms(n, x)
    bias, factor = n.float("bias"), Term(n, n.cast(as_scalar(n, by), real.element))
    if bias and not n.flag("bias_after_scale", True):
        real, bias = real + bias, 0.0
    return pair(real * factor + bias, imag * factor)


@rows("complex.matmul", "complex.bmm")
def product_of_matrices(n: PaddleLayer, x: Any, y: Any) -> Pair:
    (a, b), (c, d) = parts_of(n, x), parts_of(n, y)

    def times(left: Term, right: Term) -> Term:
        return Term(n, matmul(n, left.value, right.value))

    return pair(times(a, c) - times(b, d), times(a, d) + times(b, c))


def _same(n: PaddleLayer, x: Any, y: Any) -> Term:
    (a, b), (c, d) = parts_of(n, x), parts_of(n, y)
    return a.equals(c) & b.equals(d)


rows.formulas(
    {
        "complex.equal": lambda n, x, y: _same(n, x, y).value,
        "complex.not_equal": lambda n, x, y: (~_same(n, x, y)).value,
    }
)


@rows("complex.cast")
def cast(n: PaddleLayer, x: Pair) -> Any:
    """To other complex numbers, or to real ones by the real part."""
    element = n.element("dtype", x.type.element_type)
    if isinstance(element, ComplexType):
        return Pair(*(n.cast(part, element.element_type) for part in (x.real, x.imag)))
    return n.cast(x.real, element)


# -- transforms ------------------------------------------------------------------------------------


def _scale(
    n: PaddleLayer, x: Complex, axes: Sequence[int], forward: bool, last: int = 0
) -> tuple[Term, Term]:
    """(the factor of a transform, the number of elements that are transformed).

    `last` is the length of the last transform if it is not that of x.
    """
    norm, count = n.text("normalization", "backward"), Term(n, n.constant(1.0, x[0].element))
    for axis in axes[:-1] if last else axes:
        count = count * extent(n, (x[0].value, axis)).cast(count.element)
    count = count * float(last) if last else count
    power = {"ortho": 0.5, "backward": 0.0 if forward else 1.0}.get(norm, 1.0 if forward else 0.0)
    return 1.0 / count**power, count


@rows("fft_c2c", "complex.fft_c2c", "fft_r2c")
def transform(n: PaddleLayer, x: Any) -> Pair:
    """Transforms of complex numbers, or of real ones; inverse ones of these are conjugated."""
    forward, half = n.flag("forward", True), n.kind == "fft_r2c" and n.flag("onesided")
    given: Complex = terms(n, x) if isinstance(x, Pair) else (Term(n, n.floating(x)), None)
    axes = normalize_axes(n, n.ints("axes"), given[0].rank)
    factor, _ = _scale(n, given, axes, forward)
    sizes = [(axis, None) for axis in axes]
    found = along_axes(given if forward else _conjugate(given), sizes, False, half)
    real, imag = found if forward else _conjugate(found)
    assert imag is not None
    return pair(real * factor, imag * factor)


def _conjugate(x: Complex) -> Complex:
    return x[0], None if x[1] is None else -x[1]


@rows("complex.fft_c2r")
def transform_to_real(n: PaddleLayer, x: Pair) -> Value:
    """The transform of half a spectrum to real numbers; a forward one is of the conjugate."""
    forward, given = n.flag("forward"), terms(n, x)
    axes = normalize_axes(n, n.ints("axes"), given[0].rank)
    last = n.int("last_dim_size") or 2 * (n.extent(x.real, axes[-1]) - 1)
    factor, count = _scale(n, given, axes, forward, last)
    given = _conjugate(given) if forward else given
    sizes = [None] * (len(axes) - 1) + [constant(n, last, i64)]
    found = along_axes(given, list(zip(axes, sizes, strict=True)), True, True)
    return each(found, lambda part: part * (factor * count))[0].value


# -- frames ----------------------------------------------------------------------------------------


@rows("frame")
def frame(n: PaddleLayer, x: Value) -> Value:
    """Overlapping frames: [.., L] -> [.., size, frames], or by axis 0, [L, ..] -> [frames, size,
    ..].
    """
    size, hop, t = n.int("frame_length"), n.int("hop_length"), Term(n, x)
    axis = 0 if n.int("axis", -1) == 0 else t.rank - 1
    if size < 1 or hop < 1:
        raise n.error(f"frames of {size} elements at distances of {hop}")
    starts = counting(n, (extent(n, (x, axis)) - size) / hop + 1) * hop
    inside = constant(n, np.arange(size))
    if n.int("axis", -1) == 0:
        return t.gather(starts.spread(0, 1) + inside, 0).value
    return t.gather(inside.spread(0, 1) + starts, axis).value


@rows("overlap_add")
def overlap_add(n: PaddleLayer, x: Value) -> Value:
    """The sums of overlapping frames, the inverse of `frame` but for what frames share."""
    hop, t = n.int("hop_length"), Term(n, x)
    first = n.int("axis", -1) == 0
    if first:
        t = t.transpose(*range(2, t.rank), 1, 0)
    size, count = (n.extent(t.value, t.rank - i) for i in (2, 1))
    total = (count - 1) * hop + size
    lead = [(t.value, i) for i in range(t.rank - 2)]
    whole = t.spread(1, 0)
    ranges = [(0, t.rank - 1), (t.rank - 1, t.rank), (t.rank, t.rank + 1)]
    columns = merge(n, whole.value, ranges)
    line = folded(n, columns, (1, total), (1, size), (1, hop), (1, 1), (0,) * 4)
    found = Term(n, line).reshape(*lead, total)
    return (found.transpose(found.rank - 1, *range(found.rank - 1)) if first else found).value
