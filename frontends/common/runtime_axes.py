"""Operators along axes that are known only at run time.

Such axes are moved behind the others, in an order that is computed as the model runs, and the work
is done on a matrix:

    %x: [2, 3, 4], axes [1]  ->  order [0, 2, 1]  ->  [2, 4, 3]  ->  [8, 3]
"""

from __future__ import annotations

from ...dialects.nn.known_values import KnownValues
from .words import *


def axes_mask(n: Layer, axes: Value, rank: int) -> Value:
    """For each of `rank` dimensions, whether it is one of the axes: a 1-D tensor of i1."""
    axes = from_the_front(n, axes, rank)
    rows = n(nn.Reshape(axes, out=TensorType((_length(axes), 1), i64)))
    named = n(nn.Equal(rows, n.constant(np.arange(rank, dtype=np.int64))))
    count = n(nn.ReduceSum(n.cast(named, i64), axes=(0,)))
    return n(nn.Greater(count, n.constant(0, i64)))


def spread_over(n: Layer, numbers: Value, axes: Value, rank: int) -> Value:
    """A 1-D tensor [rank] with each axis's number at its dimension, and 0 at the others.

    `numbers`, a 1-D tensor of i64, has one element for each axis.
    """
    rows = n(nn.Reshape(from_the_front(n, axes, rank), out=TensorType((_length(axes), 1), i64)))
    named = n.cast(n(nn.Equal(rows, n.constant(np.arange(rank, dtype=np.int64)))), i64)
    column = n(nn.Reshape(numbers, out=TensorType((_length(axes), 1), i64)))
    return n(nn.ReduceSum(n(nn.Mul(named, column)), axes=(0,)))


def from_the_front(n: Layer, axes: Value, rank: int) -> Value:
    """The axes as a 1-D i64, counted from the front; the program fails if one is out of range."""
    axes = as_i64(n, axes)
    if axes.type.rank != 1:
        axes = n(nn.Reshape(axes, out=TensorType((1,), i64)))
    given = Term(n, axes)
    found = (given < 0).choose(given + rank, given)
    text = f"an axis is not one of the {rank} of its operand"
    return assumed(n, found.value, (found >= 0) & (found < rank), text)


def assumed(n: Layer, x: Value, holds: Term, text: str) -> Value:
    """x; the program fails with `text` unless all elements of a 1-D condition hold."""
    faults = (~holds).cast(i64).sum(0)
    return n(nn.Assume(x, faults.equals(0).value, text))


def order_of(n: Layer, mask: Value) -> Value:
    """The permutation that puts the dimensions of the mask last: a 1-D tensor of i64."""
    (rank,) = mask.type.shape
    own = n.constant(np.arange(rank, dtype=np.int64))
    behind = n(nn.Mul(n.cast(mask, i64), n.constant(rank, i64)))
    return in_order(n, n(nn.Add(own, behind)))


def in_order(n: Layer, keys: Value) -> Value:
    """The indices that sort the keys in ascending order (argsort)."""
    type = TensorType(keys.type.shape, i64)
    count = n.constant(np.array([type.shape[0]], np.int64))
    return n(nn.TopK(keys, count, axis=0, largest=False, out=type, indices=type))[1]


def along(n: Layer, x: Value, mask: Value, work: Callable[[Value], Value]) -> Value:
    """The result of `work` on x as a matrix, whose rows run along the axes of the mask.

    The result has the dimensions of x if `work` keeps the length of rows, else extents of 1 along
    these axes.
    """
    order = order_of(n, mask)
    shape = shape_of(n, x)
    one = n.constant(1, i64)
    sides = [
        n(nn.ReduceProd(n(nn.Where(mask, *pair)), axes=(0,), keep_dims=True))
        for pair in ((one, shape), (shape, one))
    ]
    rows = n(nn.Concat(sides, axis=0))
    element = x.type.element_type
    open_ = TensorType((None,) * x.type.rank, element)
    moved = n(nn.TransposeDynamic(x, order, out=open_))
    matrix = n(nn.ReshapeDynamic(moved, rows, out=TensorType((None, None), element)))
    done = work(matrix)
    if done.type.rank == 1:
        left = n(nn.Where(mask, one, shape))
        return n(nn.ReshapeDynamic(done, left, out=TensorType(open_.shape, done.type.element_type)))
    back = n(nn.ReshapeDynamic(done, n(nn.Gather(shape, order)), out=open_))
    return n(nn.TransposeDynamic(back, in_order(n, order), out=x.type))


def without(n: Layer, x: Value, mask: Value, count: int) -> Value:
    """x without the `count` dimensions of the mask, each of extent 1."""
    kept = x.type.rank - count
    shape = n(nn.Gather(shape_of(n, x), order_of(n, mask)))
    out = TensorType((None,) * kept, x.type.element_type)
    return n(nn.ReshapeDynamic(x, part_of_vector(n, shape, 0, kept), out=out))


def with_ones(n: Layer, x: Value, axes: Value, count: int) -> Value:
    """x with new dimensions of extent 1 at `count` axes of the result."""
    rank = x.type.rank + count
    mask = axes_mask(n, axes, rank)
    one = n.constant(1, i64)
    old = n(nn.Sub(one, n.cast(mask, i64)))
    # Which of x's dimensions stands here, where one does.
    source = n(nn.Cumsum(old, axis=0, exclusive=True))
    last = n.constant(max(x.type.rank - 1, 0), i64)
    out = TensorType((None,) * rank, x.type.element_type)
    if x.type.rank == 0:
        shape = n.constant(np.ones(rank, np.int64))
    else:
        own = n(nn.Gather(shape_of(n, x), n(nn.Min(source, last))))
        shape = n(nn.Where(mask, one, own))
    return n(nn.ReshapeDynamic(x, shape, out=out))


def all_where_none(n: Layer, axes: Value, mask: Value) -> Value:
    """The mask, or all dimensions if `axes` is empty."""
    if _length(axes) is not None:
        return mask
    count = part_of_vector(n, shape_of(n, axes), 0, 1)
    none = n(nn.Equal(count, n.constant(0, i64)))
    return n(nn.Or(mask, none))


def number_of(n: Layer, axes: Value, what: str) -> int:
    """The number of axes. Raises NncError if it is not known at import."""
    count = _length(axes)
    if count is None:
        raise n.error(f"the number of {what} must be known at import, as it tells the rank")
    return count


def parts_of_sizes(n: Layer, x: Value, axis: int, sizes: Value, count: int) -> Sequence[Value]:
    """Consecutive parts along an axis, of sizes that are known only at run time."""
    sizes = as_i64(n, sizes)
    ends = n(nn.Cumsum(sizes, axis=0))
    starts = n(nn.Sub(ends, sizes))
    along_axis = n.constant(np.array([axis], np.int64))
    step = n.constant(np.array([1], np.int64))
    shape = tuple(None if i == axis else d for i, d in enumerate(x.type.shape))
    out = TensorType(shape, x.type.element_type)
    return [
        n(
            nn.SliceDynamic(
                x,
                part_of_vector(n, starts, i, i + 1),
                part_of_vector(n, ends, i, i + 1),
                along_axis,
                step,
                out=out,
            )
        )
        for i in range(count)
    ]


def given_sizes(n: Layer, x: Value, axis: int, sizes: Value) -> Value:
    """The given sizes of parts; the program fails unless they add up to the extent of x."""
    whole = Term(n, part_of_vector(n, shape_of(n, x), axis, axis + 1))
    given = Term(n, as_i64(n, sizes))
    holds = (given >= 0) & given.sum(0, keep=True).equals(whole)
    return assumed(n, given.value, holds, "the sizes of the parts do not add up to the whole")


def source_of(vector: Value, at: int) -> tuple[Value, int] | None:
    """The (value, axis) whose extent is element `at` of a 1-D tensor; None if unknown."""
    op = vector.defining_op
    match op:
        case nn.ShapeOf():
            return op.x, at
        case nn.Cast() | nn.Reshape():
            return source_of(op.x, at)
        case nn.Concat():
            for part in op.inputs:
                count = part.type.shape[0]
                if count is None or at < count:
                    return source_of(part, at) if count is not None else None
                at -= count
        case nn.Slice():
            step = op.steps[0] if op.steps is not None else 1
            return source_of(op.x, op.starts[0] + at * step)
        case nn.Gather():
            index = KnownValues().all(op.indices)
            extent = op.data.type.shape[0]
            if index is not None and extent is not None and op.data.type.rank == 1:
                return source_of(op.data, index[at] % extent)
    return None


def _length(axes: Value) -> int | None:
    return 1 if axes.type.rank == 0 else axes.type.shape[0]
