"""Eigenvalues and singular values by Jacobi's rotations, of all columns in disjoint pairs at once.

Columns 2i and 2i+1 are a pair; after each step the columns change places, so that in a sweep, of
one step less than there are columns, each pair has met, and the columns are in order again.

Source: Golub and Van Loan, Matrix Computations, 8.5 (parallel ordering) and 8.6.3 (one-sided)
"""

from __future__ import annotations

from ...common.loops import Iteration, while_loop
from ...common.vocabulary import *
from ..layer import HloLayer, rows
from .indexing import known_shape

SWEEPS = {False: 10, True: 14}
"""So many are enough for numbers of 32 and of 64 bits."""


def _order(count: int) -> np.ndarray:
    """Which column comes to each place: all but the first go around, as in a tournament."""
    first, second = list(range(0, count, 2)), list(range(1, count, 2))
    first, second = [0, *second[:1], *first[1:-1]], [*second[1:], *first[1:][-1:]]
    return np.array([first, second]).T.reshape(-1) if count > 2 else np.arange(count)


def _turned(x: Term, angle: tuple[Term, Term]) -> Term:
    """The columns of x rotated pair by pair, and moved on to their next places."""
    count = x.shape[-1] or 0
    cosine, sine = angle
    own = constant(x.n, np.arange(count) // 2)
    sign = constant(x.n, np.where(np.arange(count) % 2, 1.0, -1.0)).cast(x.element)
    other = x.gather(constant(x.n, np.arange(count) ^ 1), 1)
    found = x * cosine.gather(own) + other * (sine.gather(own) * sign)
    return found.gather(constant(x.n, _order(count)), 1)


def _angle(p: Term, q: Term, between: Term) -> tuple[Term, Term]:
    """Cosines and sines that make the matrices [[p, between], [between, q]] diagonal."""
    none = between.equals(0.0)
    tau = (q - p) / (none.choose(1.0, between) * 2.0)
    size = 1.0 / (tau.function(nn.Abs) + (tau * tau + 1.0).function(nn.Sqrt))
    tangent = none.choose(0.0, (tau < 0.0).choose(-size, size))
    cosine = 1.0 / (tangent * tangent + 1.0).function(nn.Sqrt)
    return cosine, tangent * cosine


def _padded(x: Term, *axes: int) -> Term:
    """With a column and perhaps a row of zeros, where there is an odd number."""
    pads = [0] * (2 * x.rank)
    for axis in axes:
        pads[x.rank + axis] = (x.shape[axis] or 0) % 2
    return x.made(nn.Pad(x.value, None, pads=pads)) if any(pads) else x


def _swept(n: HloLayer, step: Callable[..., list[Term]], states: list[Term]) -> list[Term]:
    """The states after all sweeps of a step that rotates their columns."""
    count = states[-1].shape[-1] or 0
    steps = SWEEPS[states[-1].element is f64] * max(count - 1, 1)

    def iteration(number: Value, flag: Value, given: list[Value]) -> Iteration:
        return Iteration([x.value for x in step(*(Term(n, x) for x in given))])

    found, _ = while_loop(n, iteration, [x.value for x in states], n.constant(steps, i64))
    return [Term(n, x) for x in found]


def _sorted(values: Term, largest: bool) -> tuple[Term, Term]:
    """The values in order, and where they stood."""
    n, shape = values.n, values.shape
    out, where = TensorType(shape, values.element), TensorType(shape, i64)
    count = n.constant(shape, i64)
    found = n(nn.TopK(values.value, count, axis=0, largest=largest, out=out, indices=where))
    return Term(n, found[0]), Term(n, found[1])


def _matrix(n: HloLayer, a: Value) -> Term:
    if len(known_shape(n, a)) != 2 or 0 in a.type.shape:
        raise n.error("decompositions of several matrices at once are not supported")
    return Term(n, a)


def _unit(x: Term) -> Term:
    """The unit matrix with as many columns as x."""
    return constant(x.n, np.eye(x.shape[-1] or 0)).cast(x.element)


@rows("custom_call @lapack_ssyevd_ffi", "custom_call @lapack_dsyevd_ffi")
def syevd(n: HloLayer, a: Value) -> list[Value]:
    """Eigenvectors as columns, and eigenvalues, the least one first."""
    x = _matrix(n, a)
    count = x.shape[0] or 0
    places = np.arange(count)
    below = constant(n, places[:, None] >= places)
    uplo = chr(dict(n.op.attributes["mhlo.backend_config"].items())["uplo"].value)
    x = below.choose(x, x.transpose(1, 0)) if uplo == "L" else below.choose(x.transpose(1, 0), x)
    x = _padded(x, 0, 1)
    size = x.shape[0] or 0
    first = np.arange(0, size, 2)

    def step(x: Term, vectors: Term) -> list[Term]:
        flat = x.flat()
        at = (first * (size + 1), (first + 1) * (size + 1), first * (size + 1) + 1)
        angle = _angle(*(flat.gather(constant(n, places)) for places in at))
        turned = _turned(_turned(x, angle).transpose(1, 0), angle)
        return [turned, _turned(vectors, angle)]

    x, vectors = _swept(n, step, [x, _unit(x)])
    values = x.flat().gather(constant(n, places * (size + 1)))
    values, order = _sorted(values, False)
    vectors = vectors.part(0, 0, count).gather(order, 1)
    return [vectors.value, values.value, n.constant(0, n.out(2).element_type)]


@rows("custom_call @lapack_sgesdd_ffi", "custom_call @lapack_dgesdd_ffi")
def gesdd(n: HloLayer, a: Value) -> list[Value]:
    """Singular values, the largest one first, and the vectors that belong to them."""
    x = _matrix(n, a)
    is_wide = (x.shape[0] or 0) < (x.shape[1] or 0)
    x = x.transpose(1, 0) if is_wide else x
    count = x.shape[1] or 0
    x = _padded(x, 1)
    first = np.arange(0, x.shape[1] or 0, 2)

    def step(x: Term, vectors: Term) -> list[Term]:
        p, q = x.gather(constant(n, first), 1), x.gather(constant(n, first + 1), 1)
        angle = _angle((p * p).sum(0), (q * q).sum(0), (p * q).sum(0))
        return [_turned(x, angle), _turned(vectors, angle)]

    x, vectors = _swept(n, step, [x, _unit(x)])
    sizes = (x * x).sum(0).function(nn.Sqrt).part(0, 0, count)
    sizes, order = _sorted(sizes, True)
    left = x.gather(order, 1) / sizes.equals(0.0).choose(1.0, sizes)
    right = vectors.part(0, 0, count).gather(order, 1)
    u, v = (right, left) if is_wide else (left, right)
    found = [Term(n, a), sizes, u, v.transpose(1, 0)]
    for i in (2, 3):
        shape = n.out(i).shape
        if found[i].shape != shape:
            if n.op.results[i].users:
                raise n.error("more singular vectors than the matrix has rows and columns")
            found[i] = constant(n, np.zeros(shape)).cast(x.element)
    return [*(x.value for x in found), n.constant(0, n.out(4).element_type)]
