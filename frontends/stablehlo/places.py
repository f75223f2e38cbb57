"""Windows in a tensor that gathers, scatters and slices at computed starts read or write.

The indexed dimensions of the operand are merged into one, whose indices are called places; a window
is a set of places. `nn.gather` and `nn.scatter_nd` do the rest. Extents that are known only at run
time are terms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...ir.core import Value
from ...ir.types import i64
from ..common.movement import unsqueezed
from ..common.shapes import Extent, as_i64, broadcast_by, merge, shape_vector
from ..common.terms import Term, constant, counting, joined
from ..common.terms import extent as extent_of
from .layer import HloLayer

Size = int | Term
"""An extent: a number, or a 0-d i64 that the run computes."""


def size_of(n: HloLayer, x: Value, axis: int) -> Size:
    """The extent of a dimension."""
    known = x.type.shape[axis]
    return extent_of(n, (x, axis)) if known is None else known


def is_whole(x: Value, axis: int, size: Size) -> bool:
    """Whether a size is known to be the extent of a dimension."""
    return isinstance(size, int) and size == x.type.shape[axis]


@dataclass(frozen=True)
class Places:
    """A batch of windows in the operand x: where they start in the indexed dimensions `dims`.

    `starts` has a term for each of `dims`, of the shape of the batch; `sizes` are the extents of
    the windows in these dimensions.
    """

    n: HloLayer
    x: Value
    dims: Sequence[int]
    starts: Sequence[Term]
    sizes: Sequence[Size]
    batch: Sequence[Extent]

    @property
    def rest(self) -> list[int]:
        """The dimensions that are taken whole."""
        return [i for i in range(self.x.type.rank) if i not in self.dims]

    @property
    def extents(self) -> list[Size]:
        """The operand's extents in the indexed dimensions."""
        return [size_of(self.n, self.x, i) for i in self.dims]

    def clamped(self) -> Places:
        """The windows with their starts clamped, so that all lie in the operand."""
        starts = [
            start.max(0).min(extent - size)
            for start, extent, size in zip(self.starts, self.extents, self.sizes, strict=True)
        ]
        return replace(self, starts=starts)

    def inside(self) -> Term | None:
        """Which windows lie in the operand; None where all do."""
        found: Term | None = None
        for start, extent, size in zip(self.starts, self.extents, self.sizes, strict=True):
            known, last = self.n.known(start.value), extent - size
            if known is not None and isinstance(last, int):
                fit = known.size and known.min() >= 0 and known.max() <= last
                if fit:
                    continue
            fits = (start >= 0) & (start <= last)
            found = fits if found is None else found & fits
        return found

    def places(self) -> Term:
        """The places of all elements of the windows: [batch.., sizes..]."""
        n, total, count = self.n, None, len(self.sizes)
        for k, (start, size) in enumerate(zip(self.starts, self.sizes, strict=True)):
            stride = math.prod(self.extents[k + 1 :])
            at = start if stride == 1 else start * stride
            at = at.spread(0, count) if count else at
            if isinstance(size, Term):
                at = at + (counting(n, size) * stride).spread(k, count - 1 - k)
            elif size != 1:
                steps = constant(n, np.arange(size)).spread(k, count - 1 - k)
                at = at + steps * stride
            total = at if total is None else total + at
        if total is None:
            total = constant(n, np.zeros((), np.int64))
        if total.shape == self._extents_of_all():
            return total
        # Where only batches are indexed, another dimension of the batch repeats what is found.
        sizes = [s if isinstance(s, int) else s.spread(0, 1) for s in self.sizes]
        parts = [Term(n, shape_vector(n, self.batch))] if self.batch else []
        parts += [s if isinstance(s, Term) else constant(n, np.array([s])) for s in sizes]
        return Term(n, broadcast_by(n, total.value, joined(parts, 0).value)) if parts else total

    def _extents_of_all(self) -> tuple:
        batch = (e if isinstance(e, int) else e[0].type.shape[e[1]] for e in self.batch)
        return (*batch, *(s if isinstance(s, int) else None for s in self.sizes))


def windows_of(
    n: HloLayer,
    x: Value,
    indices: Value,
    vector: int,
    index_map: Sequence[int],
    batching: Sequence[int],
    index_batching: Sequence[int],
    sizes: Sequence[Size],
) -> Places:
    """The windows that an index tensor addresses; `sizes` has one for each dimension of x."""
    whole = Term(n, as_i64(n, indices))
    if vector == whole.rank:
        whole = whole.spread(0, 1)
    elif vector != whole.rank - 1:
        whole = whole.transpose(*(i for i in range(whole.rank) if i != vector), vector)
    rank = whole.rank - 1
    batch = [d if d is not None else (whole.value, i) for i, d in enumerate(whole.shape[:-1])]
    starts = {dim: whole.column(k) for k, dim in enumerate(index_map)}
    for dim, at in zip(batching, index_batching, strict=True):
        at -= at > vector
        number = counting(n, _term(n, size_of(n, whole.value, at)))
        starts[dim] = number.spread(at, rank - 1 - at)
    dims = sorted(starts)
    return Places(n, x, dims, [starts[d] for d in dims], [sizes[d] for d in dims], batch)


def _term(n: HloLayer, size: Size) -> Term:
    return size if isinstance(size, Term) else constant(n, size, i64)


def taken(n: HloLayer, x: Value, windows: Places) -> Term:
    """The elements of windows: [batch.., sizes.., rest..]."""
    places = windows.places()
    if len(windows.dims) == 1:
        axis = windows.dims[0]
        found = Term(n, x).gather(places, axis)
        lead = list(range(axis))
        inner = list(range(axis, axis + places.rank))
        return found.transpose(*inner, *lead, *range(axis + places.rank, found.rank))
    return Term(n, as_places(n, x, windows)).gather(places, 0)


def as_places(n: HloLayer, x: Value, windows: Places) -> Value:
    """x as [places, rest..]."""
    ordered = Term(n, x).transpose(*windows.dims, *windows.rest)
    count = len(windows.dims)
    if not count:
        return unsqueezed(n, ordered.value, 0)
    return merge(n, ordered.value, [(0, count), *((i, i + 1) for i in range(count, ordered.rank))])


def from_places(n: HloLayer, table: Value, windows: Places) -> Value:
    """The inverse of `as_places`: [places, rest..] in the shape of x."""
    order = [*windows.dims, *windows.rest]
    apart = Term(n, table).reshape(*((windows.x, i) for i in order))
    return apart.transpose(*(order.index(i) for i in range(len(order)))).value
