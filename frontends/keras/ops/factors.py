"""More of `keras.ops`: matrix factorizations, determinants, slice updates."""

from __future__ import annotations

from ...common import linear_algebra
from ...common.vocabulary import *
from ..layer import KerasLayer, layer
from .functions import add, axes_of, operand


def _matrix(n: KerasLayer) -> Term:
    return Term(n, n.floating(n.tensor()))


@layer("ops.SVD")
def svd(n: KerasLayer) -> Value | list[Value]:
    a, whole = _matrix(n), n.option("compute_uv", True)
    u, values, v = linear_algebra.svd(a)
    if not whole:
        return values.value
    rows, columns = a.shape[-2:]
    if n.option("full_matrices", True) and (rows is None or rows != columns):
        raise n.error("'full_matrices' is not supported but of square ones")
    return [u.value, values.value, v.mT.value]


@layer("ops.Logdet", "ops.Slogdet")
def logarithm_of_determinant(n: KerasLayer) -> Value | list[Value]:
    a = _matrix(n)
    found = linear_algebra.lu(a)
    pivots = Term(n, diagonal(n, found.both.value, 0, a.rank - 2, a.rank - 1))
    size = pivots.function(nn.Abs).function(nn.Log).sum(a.rank - 2)
    if n.kind == "ops.Logdet":
        return size.value
    signs = reduced(n, pivots.function(nn.Sign).value, nn.ReduceProd, (a.rank - 2,))
    return [(Term(n, signs) * found.sign).value, size.value]


@layer("ops.SliceUpdate")
def slice_update(n: KerasLayer) -> Value:
    """A tensor with another one written into it at a known position."""
    x, starts = n.tensor(), n.argument(1, "start_indices")
    part = operand(n, n.argument(2, "updates"), x.type.element_type)
    known = [v for v in starts if isinstance(v, int)] if isinstance(starts, list | tuple) else []
    own = part.shape
    if len(known) != x.type.rank or None in own:
        raise n.error("where the part is written, and its extents, must be known")
    places = np.stack(np.indices(own), -1) + np.array(known)  # type: ignore[arg-type]
    return n(nn.ScatterNd(x, n.constant(places, i64), part.value, reduction="none"))


def _nan_spread(root: bool) -> Callable[[KerasLayer], Value]:
    """A converter of the variance, or its root, of the elements that are not NaN."""

    def convert(n: KerasLayer) -> Value:
        x = _matrix(n)
        axes = axes_of(n, x.value, n.argument(1, "axis"))
        keep = bool(n.argument(2, "keepdims", False))
        here = ~x.function(nn.IsNan)
        count = here.cast(x.element)
        mean = here.choose(x, 0.0).sum(*axes, keep=True) / count.sum(*axes, keep=True)
        apart = here.choose(x - mean, 0.0)
        found = (apart * apart).sum(*axes, keep=keep) / count.sum(*axes, keep=keep)
        return (found.function(nn.Sqrt) if root else found).value

    return convert


def _size(n: KerasLayer) -> Value:
    """The number of elements."""
    shape = shape_vector(n, [(n.tensor(), i) for i in range(n.tensor().type.rank)])
    return n.cast(reduced(n, shape, nn.ReduceProd, (0,)), i32)


add({"Nanvar": _nan_spread(root=False), "Nanstd": _nan_spread(root=True), "Size": _size})
