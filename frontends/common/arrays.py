"""NumPy's functions of whole tensors that several formats have, by NumPy's names.

Operands have one element type, to which the caller has promoted them; axes are counted from the
front. Extents may be unknown at import, unless the number of results depends on them.
"""

from __future__ import annotations

from itertools import pairwise

from .diagonals import diagonal, on_diagonal
from .gathering import gathered
from .movement import FAR, concat, reversed_axes, slice_axis, swapped, tiled
from .words import *

# -- joins and parts -------------------------------------------------------------------------------


def atleast(n: Layer, x: Value, rank: int) -> Value:
    """x with dimensions of extent 1 added up to `rank`; a vector [N] as rank 3 is [1, N, 1]."""
    before = int(x.type.rank == 1) if rank == 3 and x.type.rank else max(rank - x.type.rank, 0)
    wide = Term(n, x).spread(before, 0)
    return wide.spread(0, max(rank - wide.rank, 0)).value


def hstack(n: Layer, values: Sequence[Value]) -> Value:
    """Values side by side: along the second dimension, vectors along the only one."""
    parts = [atleast(n, x, 1) for x in values]
    return concat(n, parts, min(1, parts[0].type.rank - 1))


def vstack(n: Layer, values: Sequence[Value]) -> Value:
    """Values below each other; vectors are rows."""
    return concat(n, [atleast(n, x, 2) for x in values], 0)


def dstack(n: Layer, values: Sequence[Value]) -> Value:
    """Values behind each other, along the third dimension."""
    return concat(n, [atleast(n, x, 3) for x in values], 2)


def column_stack(n: Layer, values: Sequence[Value]) -> Value:
    """Matrices side by side; vectors are columns."""
    return concat(n, [Term(n, x).spread(0, max(2 - x.type.rank, 0)).value for x in values], 1)


def array_split(count: int, given: int | Sequence[int]) -> list[int]:
    """The lengths of the parts that `count` elements are cut into.

    `given` is the number of parts, or the indices at which to cut.
    """
    if isinstance(given, int):
        return [count // given + (i < count % given) for i in range(given)]
    ends = [0, *(slice(cut).indices(count)[1] for cut in given), count]
    return [max(b - a, 0) for a, b in pairwise(ends)]


# -- orders ----------------------------------------------------------------------------------------


def moveaxis(rank: int, source: Sequence[int], destination: Sequence[int]) -> list[int]:
    """The permutation that moves the dimensions `source` to the positions `destination`."""
    order = [i for i in range(rank) if i not in source]
    for place, axis in sorted(zip(destination, source, strict=True)):
        order.insert(place, axis)
    return order


def rot90(n: Layer, x: Value, turns: int, first: int, second: int) -> Value:
    """x rotated by `turns` quarter turns, from the first axis towards the second."""
    turned = {0: (), 1: (second,), 2: (first, second), 3: (first,)}[turns % 4]
    x = reversed_axes(n, x, turned)
    return swapped(n, x, first, second) if turns % 2 else x


# -- repetition ------------------------------------------------------------------------------------


def tile(n: Layer, x: Value, repeats: Value) -> Value:
    """x repeated along each dimension as often as a vector says (numpy.tile).

    Where the vector and the shape differ in length, the shorter one gets ones in front.
    """
    lead = x.type.rank - n.extent(repeats, 0)
    if lead > 0:
        repeats = n(nn.Concat([n.constant(np.ones(lead, np.int64)), repeats], axis=0))
    return tiled(n, Term(n, x).spread(max(-lead, 0), 0).value, repeats)


def repeat(n: Layer, x: Value, count: int, axis: int) -> Value:
    """Each slice along an axis repeated `count` times in a row (numpy.repeat)."""
    own, after = dims(x), axis + 1
    apart = Term(n, x).reshape(*own[:after], 1, *own[after:]).value
    wide = broadcast(n, apart, [*own[:after], count, *own[after:]])
    return merge(n, wide, [(i + (i > axis), i + (i >= axis) + 1) for i in range(x.type.rank)])


def repeat_each(n: Layer, x: Value, counts: Value, axis: int, total: Term | None = None) -> Value:
    """Each slice along an axis repeated as often as `counts` says; `total` is their known sum."""
    return gathered(n, x, repeated_places(n, counts, total), axis)


def repeated_places(n: Layer, counts: Value, total: Term | None = None) -> Value:
    """For each element of `repeat_each`, the index of the slice that it comes from."""
    known = n.known(counts)
    if known is not None:
        return n.constant(np.repeat(np.arange(known.size), known.reshape(-1)), i64)
    counts = n.cast(counts, i64)
    ends = Term(n, n(nn.Cumsum(counts, axis=0)))
    whole = Term(n, counts).sum(0) if total is None else total
    return (counting(n, whole).spread(0, 1) >= ends).cast(i64).sum(1).value


def meshgrid(n: Layer, values: Sequence[Value], indexing: str) -> list[Value]:
    """Each vector along a dimension of its own, broadcast to all (numpy.meshgrid).

    With the indexing `xy`, the first two dimensions are exchanged.
    """
    parts = [Term(n, x).flat() for x in values]
    order = list(range(len(parts)))
    if indexing == "xy" and len(parts) > 1:
        order[:2] = [1, 0]
    shape = [(parts[i].value, 0) for i in order]
    last = len(parts) - 1
    apart = [x.spread(at, last - at).value for x, at in zip(parts, order, strict=True)]
    return [broadcast(n, x, shape) for x in apart]


# -- diagonals and neighbours ----------------------------------------------------------------------


def diag(n: Layer, x: Value, k: int = 0) -> Value:
    """A vector as a diagonal of a matrix, or the diagonal of a matrix."""
    return on_diagonal(n, x, k) if x.type.rank == 1 else diagonal(n, x, k)


def diff(n: Layer, x: Value, axis: int, times: int = 1) -> Value:
    """Differences of neighbours along an axis, taken `times` times; of i1, whether they differ."""
    op = nn.Xor if x.type.element_type is i1 else nn.Sub
    for _ in range(times):
        x = n(op(slice_axis(n, x, axis, 1, FAR), slice_axis(n, x, axis, 0, -1)))
    return x


def unravel_index(at: Term, shape: Sequence[int]) -> list[Term]:
    """The coordinates of elements of a tensor of this shape, from their row-major indices `at`."""
    found = []
    for size in reversed(shape):
        found.insert(0, at % size)
        at = at / size
    return found


# -- products --------------------------------------------------------------------------------------


def tensordot(x: Term, y: Term, first: Sequence[int], second: Sequence[int]) -> Term:
    """The sums of products along pairs of axes; the other axes of x come before those of y."""
    left, right = (
        [i for i in range(v.rank) if i not in axes] for v, axes in ((x, first), (y, second))
    )
    shape = [*((x.value, i) for i in left), *((y.value, i) for i in right)]
    rows = x.transpose(*left, *first).flattened(len(left))
    columns = y.transpose(*second, *right).flattened(len(second))
    return (rows @ columns).reshape(*shape)


def inner(x: Term, y: Term) -> Term:
    """The sums of products along the last axes of both; with a 0-d operand, plain products."""
    return tensordot(x, y, [x.rank - 1], [y.rank - 1]) if x.rank and y.rank else x * y


def dot(x: Term, y: Term) -> Term:
    """The sums of products along the last axis of x and the last but one (or only) axis of y."""
    return tensordot(x, y, [x.rank - 1], [max(y.rank - 2, 0)]) if x.rank and y.rank else x * y


def kron(x: Term, y: Term) -> Term:
    """The Kronecker product: blocks of y, each multiplied by an element of x."""
    rank = max(x.rank, y.rank)
    x, y = x.spread(rank - x.rank, 0), y.spread(rank - y.rank, 0)
    wide = x.reshape(*(e for i in range(rank) for e in ((x.value, i), 1)))
    tall = y.reshape(*(e for i in range(rank) for e in (1, (y.value, i))))
    pairs = [(2 * i, 2 * i + 2) for i in range(rank)]
    return Term(x.n, merge(x.n, (wide * tall).value, pairs))


def cross(x: Term, y: Term, axis: int) -> Term:
    """The cross products of vectors of three elements along an axis. Raises NncError for others."""
    if {x.shape[axis], y.shape[axis]} - {3, None}:
        raise x.n.error(f"vectors of {x.shape[axis]} and {y.shape[axis]} elements, expected 3")
    after, behind = (constant(x.n, np.array(order)) for order in ([1, 2, 0], [2, 0, 1]))
    first = x.gather(after, axis) * y.gather(behind, axis)
    return first - x.gather(behind, axis) * y.gather(after, axis)


# -- windows ---------------------------------------------------------------------------------------

_COSINES = {"hann": (0.5, 0.5), "hamming": (0.54, 0.46), "blackman": (0.42, 0.5, 0.08)}
"""The coefficients of each window's sum of cosines, whose signs alternate."""
WINDOWS = tuple(_COSINES)


def window(name: str, count: int, periodic: bool) -> np.ndarray:
    """`count` samples of a window function of period `count`, or count - 1 if not `periodic`."""
    if count == 1:
        return np.ones(1)
    turn = 2 * np.pi * np.arange(count) / (count if periodic else count - 1)
    waves = [(-1) ** i * c * np.cos(i * turn) for i, c in enumerate(_COSINES[name])]
    return np.sum(waves, axis=0)


# -- counts ----------------------------------------------------------------------------------------


def searchsorted(table: Term, x: Term, right: bool = False) -> Term:
    """How many numbers of a sorted table are < each element of x, or <= it if `right`.

    A table of several rows has one row for each row of x. NaN sorts after all numbers.
    """
    if table.rank > 1:
        *lead, last = dims(table.value)
        table = table.reshape(*lead, 1, last)
    column = x.spread(0, 1)
    below = ~(table > column) if right else ~(table >= column)
    return below.cast(i64).sum(below.rank - 1)


def bincount(numbers: Term, weights: Term | None, least: Term) -> Term:
    """How often each number from 0 to the greatest occurs along the last axis (numpy.bincount).

    The result has at least `least` elements. With `weights`, shaped as `numbers`, it is the sum of
    the weights of each number.
    """
    n, last = numbers.n, numbers.rank - 1
    numbers, own = numbers.cast(i64), dims(numbers.value)
    greatest = joined([numbers.flat(), constant(n, np.array([-1]))], 0).largest(0)
    size = (greatest + 1).max(least)
    added = Term(n, broadcast(n, n.constant(1, i64), own)) if weights is None else weights
    shape = joined([Term(n, shape_vector(n, own[:last])), size.reshape(1)], 0) if last else size
    start = constant(n, 0, added.element).filled(shape.reshape(last + 1))
    how = {"axis": last, "reduction": "add"}
    return start.made(nn.ScatterElements(start.value, numbers.value, added.value, **how))
