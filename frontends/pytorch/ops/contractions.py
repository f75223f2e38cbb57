"""Tensor products along given dimensions, and sums of embeddings."""

from __future__ import annotations

from ...common import arrays
from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS
from .products import convolved
from .reductions import norm


@ROWS("aten.tensordot")
def tensordot(
    n: AtenLayer, self: Value, other: Value, dims_self: list[int], dims_other: list[int]
) -> Value:
    """The sums of products along pairs of dimensions; the others of both are concatenated.

    A dimension of extent 1 is broadcast to its partner's extent.
    """
    for x, y in zip(dims_self, dims_other, strict=True):
        if self.type.shape[x] == 1:
            other = Term(n, other).sum(n.axis(y, other.type.rank), keep=True).value
        elif other.type.shape[y] == 1:
            self = Term(n, self).sum(n.axis(x, self.type.rank), keep=True).value
    lhs, rhs = (Term(n, v) for v in n.promoted(self, other))
    pairs = ([n.axis(d, x.rank) for d in dims] for x, dims in ((lhs, dims_self), (rhs, dims_other)))
    return arrays.tensordot(lhs, rhs, *pairs).value


@ROWS("aten.inner")
def inner(n: AtenLayer, self: Value, other: Value) -> Value:
    return arrays.inner(*(Term(n, v) for v in n.promoted(self, other))).value


@ROWS("aten.kron")
def kron(n: AtenLayer, self: Value, other: Value) -> Value:
    return arrays.kron(*(Term(n, v) for v in n.promoted(self, other))).value


@ROWS("aten.linalg_vecdot")
def vecdot(n: AtenLayer, x: Value, y: Value, dim: int = -1) -> Value:
    a, b = (Term(n, v) for v in n.promoted(x, y))
    both = a * b
    return both.sum(n.axis(dim, both.rank)).value


@ROWS("aten.bilinear")
def bilinear(
    n: AtenLayer, input1: Value, input2: Value, weight: Value, bias: Value | None = None
) -> Value:
    """x1 [.., I] and x2 [.., J] by a weight [O, I, J] -> [.., O]"""
    w = Term(n, weight)
    rows = Term(n, input1).flattened(input1.type.rank - 1)
    between = Term(n, tensordot(n, rows.value, weight, [-1], [1]))  # [N, O, J]
    other = Term(n, input2).flattened(input2.type.rank - 1)
    own = [(other.value, i) for i in range(2)]
    found = (between * other.reshape(own[0], 1, own[1])).sum(2)
    if bias is not None:
        found = found + Term(n, bias)
    return n.reshape(found.value, [*n.shape(input1)[:-1], n.size(w.value, 0)])


@ROWS("aten._trilinear")
def trilinear(
    n: AtenLayer,
    i1: Value,
    i2: Value,
    i3: Value,
    expand1: list[int],
    expand2: list[int],
    expand3: list[int],
    sumdim: list[int],
    unroll_dim: int = 1,
) -> Value:
    """The products of three tensors, each with dimensions inserted at `expand1`, `expand2` or
    `expand3`, summed over `sumdim`.
    """
    parts = []
    for value, added in ((i1, expand1), (i2, expand2), (i3, expand3)):
        own = iter(dims(value))
        rank = value.type.rank + len(added)
        shape = [1 if i in added else next(own) for i in range(rank)]
        parts.append(Term(n, value).reshape(*shape))
    return (parts[0] * parts[1] * parts[2]).sum(*sumdim).value


@ROWS("aten.conv_tbc")
def conv_tbc(n: AtenLayer, self: Value, weight: Value, bias: Value, pad: int = 0) -> Value:
    """x [T, B, C], weight [K, C, O] -> [T, B, O]"""
    x, w = transposed(n, self, [1, 2, 0]), transposed(n, weight, [2, 1, 0])
    return transposed(n, convolved(n, x, w, bias, padding=[pad]), [2, 0, 1])


@ROWS("aten.embedding_renorm")
def embedding_renorm(
    n: AtenLayer, self: Value, indices: Value, max_norm: Any, norm_type: Any
) -> Value:
    """The weight with the indexed rows scaled down to at most `max_norm`."""
    rows = Term(n, n.filled(n.constant(0, i64), [n.size(self, 0)]))
    places = Term(n, as_i64(n, indices)).flat().value
    ones = n.filled(n.constant(1, i64), n.shape(places))
    named = n(nn.ScatterElements(rows.value, places, ones, axis=0, reduction="max"))
    changed = Term(n, renorm(n, self, norm_type, 0, max_norm))
    return (Term(n, named).spread(0, 1) > 0).choose(changed, Term(n, self)).value


@ROWS("aten.renorm")
def renorm(n: AtenLayer, self: Value, p: Any, dim: int, maxnorm: Any) -> Value:
    """Slices along a dimension scaled down to at most `maxnorm`."""
    axis = n.axis(dim, self.type.rank)
    others = [i for i in range(self.type.rank) if i != axis]
    length = Term(n, norm(n, self, p, dim=others, keepdim=True))
    limit = float(maxnorm)
    factor = (length > limit).choose(limit / (length + 1e-7), 1.0)
    return (Term(n, self) * factor).value


_SUM, _MEAN, _MAX = 0, 1, 2


@ROWS("aten.embedding_bag", "aten._embedding_bag", "aten._embedding_bag_forward_only")
def embedding_bag(
    n: AtenLayer,
    weight: Value,
    indices: Value,
    offsets: Value,
    scale_grad_by_freq: bool = False,
    mode: int = _SUM,
    sparse: bool = False,
    per_sample_weights: Value | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> list:
    """The sum, mean or maximum of the rows of each bag, which begin at offsets [B]: [B, D].

    Rows of the padding index are left out.
    """
    places, starts = Term(n, as_i64(n, indices)), Term(n, as_i64(n, offsets))
    if include_last_offset:
        starts = Term(n, slice_axis(n, starts.value, 0, 0, -1))
    count, bags = extent(n, (indices, 0)), extent(n, (starts.value, 0))
    ends = Term(n, concat(n, [slice_axis(n, starts.value, 0, 1, FAR), count.reshape(1).value], 0))
    at = counting(n, count)
    inside = (at >= starts.spread(0, 1)) & (at < ends.spread(0, 1))  # [B, N]
    if padding_idx is not None and (padding_idx >= 0 or n.kind.endswith(".padding_idx")):
        padding = n.int(padding_idx) % n.int(n.size(weight, 0))
        inside = inside & ~places.equals(padding)
    rows = Term(n, weight).gather(places)
    own = inside.cast(i64).sum(1)
    if mode == _MAX:
        wide = inside.spread(0, 1).choose(rows.spread(1, 0), -np.inf).largest(1)
        found = own.equals(0).spread(0, 1).choose(0.0, wide)
    else:
        if per_sample_weights is not None:
            rows = rows * Term(n, per_sample_weights).spread(0, 1)
        found = inside.spread(0, 1).choose(rows.spread(1, 0), 0.0).sum(1)
    if mode == _MEAN:
        found = found / own.max(1).cast(rows.element).spread(0, 1)
    bag = (inside.cast(i64) * counting(n, bags).spread(0, 1)).sum(0)
    return [found.value, bag.value, own.value, None]
