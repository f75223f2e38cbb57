"""Discrete Fourier transforms of the rows of a matrix.

A complex number is two terms, its real and its imaginary part. A transform of N elements is a
product with a matrix of N by N, or, where N has factors, a product for each of them (Cooley and
Tukey, 1965).
"""

from __future__ import annotations

from .words import *

Complex = tuple[Term, Term | None]
"""The real and the imaginary part, which is None for real numbers."""

WHOLE = 32
"""Transforms of at most this many elements are one product; a 32 x 32 matrix fits caches."""

MOST_TURNS = 1 << 28
"""The most elements of the matrix of one product; more do not fit into memory."""


def each(x: Complex, work: Callable[[Term], Term]) -> Complex:
    """`work` applied to both parts."""
    return work(x[0]), None if x[1] is None else work(x[1])


def along(x: Complex, axis: int, work: Callable[[Complex], Complex]) -> Complex:
    """`work` applied along an axis; it gets a matrix whose rows are x along this axis."""
    rank = x[0].rank
    if axis >= rank:
        raise x[0].n.error("the axis is that of the complex numbers' parts")
    order = [*(i for i in range(rank) if i != axis), axis]
    moved = each(x, lambda part: part.transpose(*order))
    found = on_rows(moved, work)
    return each(found, lambda part: part.transpose(*np.argsort(order).tolist()))


def on_rows(x: Complex, work: Callable[[Complex], Complex]) -> Complex:
    """`work` applied along the last dimension, to a matrix in which all others are merged."""
    before = x[0]
    lead = [(before.value, i) for i in range(before.rank - 1)]
    found = work(each(x, lambda part: part.flattened(before.rank - 1)))
    return each(found, lambda part: part.reshape(*lead, (part.value, 1)))


def fitted(x: Complex, count: Term) -> Complex:
    """The rows cut, or padded with zeros at the end, to `count` elements."""
    n, width = x[0].n, x[0].shape[1]
    known = n.known(count.value)
    if known is not None and width == int(known):
        return x
    here = extent(n, (x[0].value, 1))
    places = counting(n, count)
    inside = places < here
    return each(
        x,
        lambda part: inside.choose(part.gather(places.min(here - 1), 1), 0.0),
    )


def mirrored(x: Complex, count: Term) -> Complex:
    """A spectrum of `count` elements from its first half; the rest are mirrored conjugates."""
    n = x[0].n
    places = counting(n, count)
    beyond = places > count / 2
    source = beyond.choose(count - places, places)
    real = x[0].gather(source, 1)
    if x[1] is None:
        return real, None
    imaginary = x[1].gather(source, 1)
    return real, beyond.choose(-imaginary, imaginary)


def transformed(rows: Complex, size: Term | None, inverse: bool, half: bool = False) -> Complex:
    """The transforms of rows, which are cut or zero-padded to `size` elements if it is given.

    With `half`, a forward transform of real numbers gives only the first half of the spectrum, and
    the inverse transform takes such a half.
    """
    own, back = extent(rows[0].n, (rows[0].value, 1)), inverse and half
    if back:
        count = (own - 1) * 2 if size is None else size
        rows = mirrored(fitted(rows, count / 2 + 1), count)
    else:
        count = own if size is None else size
        rows = fitted(rows, count)
    bins = count / 2 + 1 if half and not inverse else count
    found = fourier(rows, count, bins, inverse)
    return (found[0], None) if back else found


def along_axes(
    x: Complex, axes: Sequence[tuple[int, Term | None]], inverse: bool, half: bool = False
) -> Complex:
    """Transforms along axes, each with its length or None for its extent.

    With `half`, the one along the last of the axes is of real numbers, or inverse, to them.
    """
    rows = [(axis, size, half and i == len(axes) - 1) for i, (axis, size) in enumerate(axes)]
    for axis, size, is_half in rows if inverse else reversed(rows):
        x = along(x, axis, lambda r, c=size, h=is_half: transformed(r, c, inverse, h))
    return x


def fourier(x: Complex, count: Term, bins: Term, inverse: bool) -> Complex:
    """The first `bins` elements of the transforms of rows of `count` elements."""
    n, sign = x[0].n, 1 if inverse else -1
    size, wanted = n.known(count.value), n.known(bins.value)
    if size is None or wanted is None:
        steps = (counting(n, count).spread(0, 1) * counting(n, bins)) % count
        angle = steps.cast(f64) * (sign * 2 * math.pi / count.cast(f64))
        turns = (angle.function(f).cast(x[0].element) for f in (nn.Cos, nn.Sin))
        found = _product(x, *turns)
    else:
        found = _transform(x, int(size), int(wanted), sign)
    if x[1] is None:
        found = found[0], _without_rounding(found[1], count, bins)
    return each(found, lambda part: part / count.cast(part.element)) if inverse else found


def _without_rounding(imaginary: Term | None, count: Term, bins: Term) -> Term:
    """The imaginary part of transforms of real numbers, which is 0 in the first and middle bin.

    The sign of a tiny number there would decide between angles of pi and -pi.
    """
    assert imaginary is not None
    is_real = ((counting(count.n, bins) * 2) % count).equals(0)
    return is_real.choose(0.0, imaginary)


def _transform(x: Complex, size: int, bins: int, sign: int) -> Complex:
    """Transforms of rows of `size` elements along the last dimension.

    With size = a * b, the input's index is b * i + j and the result's is p + a * q. Transforms of
    `a` elements take i to p, each result is multiplied by e**(sign * 2 pi i j p / size), and
    transforms of `b` elements take j to q (Cooley and Tukey).
    """
    a = _factor(size)
    if size <= WHOLE or a == 1:
        if size * bins > MOST_TURNS:
            raise x[0].n.error(f"a transform of {size} elements, which have no factors")
        return _product(x, *_turns(x[0], size, np.arange(size), np.arange(bins), sign))
    b = size // a
    x = each(x, lambda part: _split(part, a, b))
    real, imaginary = _transform(x, a, a, sign)
    turns = _turns(real, size, np.arange(b), np.arange(a), sign)
    x = _times(real, imaginary, *turns)
    x = _transform(each(x, lambda part: part.mT), b, b, sign)
    whole = each(x, lambda part: _joined(part.mT, size))
    return each(whole, lambda part: part if bins == size else part.part(-1, 0, bins))


def _factor(size: int) -> int:
    """The largest factor of `size` that is not above its square root."""
    return next(f for f in range(math.isqrt(max(size, 1)), 0, -1) if size % f == 0)


def _split(x: Term, a: int, b: int) -> Term:
    """[.., a * b] as [.., b, a]: element b * i + j becomes element [j, i]."""
    return x.reshape(*((x.value, i) for i in range(x.rank - 1)), a, b).mT


def _joined(x: Term, size: int) -> Term:
    return x.reshape(*((x.value, i) for i in range(x.rank - 2)), size)


def _turns(like: Term, size: int, rows, columns, sign: int) -> tuple[Term, Term]:
    """The cosine and sine of sign * 2 pi * row * column / size: matrices [rows, columns]."""
    angle = sign * 2 * np.pi / size * (np.outer(rows, columns) % size)
    kind = type_to_numpy(like.element)
    cosine, sine = (constant(like.n, f(angle).astype(kind)) for f in (np.cos, np.sin))
    return cosine, sine


def _product(x: Complex, cosine: Term, sine: Term) -> Complex:
    real, imaginary = x
    if imaginary is None:
        return real @ cosine, real @ sine
    return real @ cosine - imaginary @ sine, real @ sine + imaginary @ cosine


def _times(real: Term, imaginary: Term | None, cosine: Term, sine: Term) -> Complex:
    assert imaginary is not None
    return real * cosine - imaginary * sine, real * sine + imaginary * cosine
