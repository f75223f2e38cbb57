"""Diagonals of matrices; `offset` counts diagonals above the main one, as in NumPy."""

from __future__ import annotations

from .movement import padded_by, transposed
from .words import *


def diagonal_places(n: Layer, x: Value, offset: int, first: int, second: int) -> Value:
    """Rows and columns of the elements of a diagonal of matrices: [count, 2]."""
    begin = max(-offset, 0), max(offset, 0)
    rows, columns = (
        extent(n, (x, axis)) - i for axis, i in zip((first, second), begin, strict=True)
    )
    along = counting(n, rows.min(columns).max(0))
    return _if_known(n, along.spread(0, 1) + constant(n, np.array(begin)))


def _if_known(n: Layer, term: Term) -> Value:
    """The term's value, as a constant where it is known at import."""
    known = n.known(term.value)
    return term.value if known is None else n.constant(np.ascontiguousarray(known))


def diagonal(n: Layer, x: Value, offset: int = 0, first: int = 0, second: int = 1) -> Value:
    """The diagonals of the matrices along axes `first` and `second`, as the last dimension."""
    rest = [i for i in range(x.type.rank) if i not in (first, second)]
    places = diagonal_places(n, x, offset, first, second)
    found = n(nn.GatherNd(transposed(n, x, [first, second, *rest]), places))
    return transposed(n, found, [*range(1, len(rest) + 1), 0])


def on_diagonal(
    n: Layer, x: Value, offset: int = 0, first: int = -2, second: int = -1, fill: float = 0
) -> Value:
    """Square matrices along two axes, with x [.., N] on a diagonal and `fill` elsewhere."""
    rank = x.type.rank + 1
    along = counting(n, extent(n, (x, x.type.rank - 1)) + abs(offset))
    lead = (0,) * (x.type.rank - 1)
    rows = padded_by(n, x, (*lead, max(-offset, 0), *lead, max(offset, 0)))
    mask = Term(n, _if_known(n, along.equals(along.spread(0, 1) + offset)))
    made = mask.choose(Term(n, rows).spread(0, 1), fill).value
    rest = iter(range(rank - 2))
    ends = {first % rank: rank - 2, second % rank: rank - 1}
    return transposed(n, made, [ends[i] if i in ends else next(rest) for i in range(rank)])
