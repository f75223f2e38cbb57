"""Matrix products, factorizations and solutions in `keras.ops`, and images as matrices."""

from __future__ import annotations

from ...common import arrays, linear_algebra
from ...common.vocabulary import *
from ..layer import KerasLayer, layer
from .functions import add, two
from .numeric import of_two


@layer("ops.Outer")
def outer(n: KerasLayer) -> Value:
    a, b = two(n)
    return (a.flat().spread(0, 1) * b.flat()).value


def _vdot(a: Term, b: Term) -> Term:
    return arrays.inner(a.flat(), b.flat())


add({
    "Inner": of_two(arrays.inner),
    "Dot": of_two(arrays.dot),
    "Vdot": of_two(_vdot),
    "Kron": of_two(arrays.kron),
})  # fmt: skip


@layer("ops.Cross")
def cross(n: KerasLayer) -> Value:
    a, b = two(n)
    axis = n.argument(5, "axis")
    return arrays.cross(a, b, normalize_axis(n, -1 if axis is None else axis, a.rank)).value


def _matrix(n: KerasLayer, place: int = 0) -> Term:
    return Term(n, n.floating(n.tensor(place)))


def _inverse(n: KerasLayer) -> Value:
    a = _matrix(n)
    return linear_algebra.solve(a, linear_algebra.identity_like(a)).value


@layer("ops.Cholesky")
def cholesky(n: KerasLayer) -> Value:
    found = linear_algebra.cholesky(_matrix(n))
    return (found.mT if n.argument(1, "upper", False) else found).value


@layer("ops.Solve", "ops.SolveTriangular")
def solve(n: KerasLayer) -> Value:
    a, b = _matrix(n), _matrix(n, 1)
    vector = b.rank == a.rank - 1
    b = b.spread(0, 1) if vector else b
    if n.kind == "ops.Solve":
        found = linear_algebra.solve(a, b)
    else:
        found = linear_algebra.solve_triangular(a, b, not n.argument(2, "lower", False))
    return (found.column(0) if vector else found).value


@layer("ops.Eigh")
def eigh(n: KerasLayer) -> list[Value]:
    return [v.value for v in linear_algebra.eigh(_matrix(n))]


@layer("ops.Qr")
def qr(n: KerasLayer) -> list[Value]:
    a = _matrix(n)
    q, r = linear_algebra.qr(a)
    columns = a.shape[-1]
    if n.argument(1, "mode", "reduced") == "reduced" and columns and (q.shape[-1] or 0) > columns:
        q, r = q.part(-1, 0, columns), r.part(-2, 0, columns)
    return [q.value, r.value]


add({"Inv": _inverse, "Det": lambda n: n(nn.Determinant(_matrix(n).value))})


def _is_first(n: KerasLayer) -> bool:
    return n.config.get("data_format", n.keyword("data_format")) == "channels_first"


@layer("ops.RGBToGrayscale")
def grayscale(n: KerasLayer) -> Value:
    x = _matrix(n)
    axis = x.rank - 3 if _is_first(n) else x.rank - 1
    shape = [3 if i == axis else 1 for i in range(x.rank)]
    parts = constant(n, np.reshape([0.2989, 0.5870, 0.1140], shape), x.element)
    return (x * parts).sum(axis, keep=True).value


@layer("ops.DepthToSpace", "ops.SpaceToDepth")
def blocks(n: KerasLayer) -> Value:
    x, first = n.tensor(), _is_first(n)
    size = int(n.argument(1, "block_size", n.config.get("block_size")))
    order = (0, 3, 1, 2)
    x = x if first else n(nn.Transpose(x, permutation=order))
    op = nn.DepthToSpace if n.kind == "ops.DepthToSpace" else nn.SpaceToDepth
    found = n(op(x, block=size))
    return found if first else n(nn.Transpose(found, permutation=(0, 2, 3, 1)))
