"""Ragged rows, given by splits, as dense and sparse tensors; ragged ranges and counts."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import TfLayer, rows
from ..ragged import (
    Partition,
    filled_up,
    number,
    numbered_rows,
    places_of,
    positions,
    split_rows,
    splits_of,
    term64,
)


@rows("RaggedTensorToTensor")
def to_tensor(n: TfLayer, shape: Value, values: Value, default: Value, *partitions: Value) -> Value:
    """Rows padded to the longest, or to the shape where that is not -1."""
    kinds = n.texts("row_partition_types")
    found: list[Partition] = []
    size: Term | None = None
    for kind, given in zip(kinds, partitions, strict=True):
        if kind == "FIRST_DIM_SIZE":
            size = number(n, given)
        elif kind == "ROW_SPLITS":
            found.append(split_rows(term64(n, given)))
        elif kind == "VALUE_ROWIDS" and (size is not None or found):
            row = term64(n, given)
            count = size if not found else extent(n, (found[-1].row.value, 0))
            assert count is not None
            found.append(numbered_rows(row, count))
        else:
            raise n.error(f"'{kind}' is not supported")
    if not found:
        raise n.error("no partition of rows")
    own = [found[0].count, *(one.width for one in found)]
    given = term64(n, shape)
    if given.rank == 1:
        parts = [given.column(i, 0) for i in range(len(own))]
        own = [(part < 0).choose(size, part) for part, size in zip(parts, own, strict=True)]
    return filled_up(Term(n, values), found, Term(n, default), own).value


@rows("RaggedTensorToSparse")
def to_sparse(n: TfLayer, *given: Value) -> list[Value]:
    """A ragged tensor (splits of each level, values) as a sparse one: indices, values, shape."""
    *splits, values = given
    levels = [split_rows(term64(n, one)) for one in splits]
    places = [place.spread(0, 1) for place in places_of(levels)]
    shape = [levels[0].count, *(level.width for level in levels)]
    index, rest = joined(places, 1), values.type.rank - 1
    if rest:
        index, extents = _with_inner(n, index, values)
        shape += extents
        values = Term(n, values).flat().value
    return [index.value, values, joined([size.reshape(1) for size in shape], 0).value]


def _with_inner(n: TfLayer, index: Term, values: Value) -> tuple[Term, list[Term]]:
    """Indices of rows expanded to those of their elements, and the extents of a row."""
    inner = [n.extent(values, axis) for axis in range(1, values.type.rank)]
    own = np.stack(np.unravel_index(np.arange(math.prod(inner)), inner), 1)
    count = extent(n, (index.value, 0))
    every = counting(n, count).spread(0, 1)
    rows = (every + np.zeros((1, len(own)), np.int64)).flat()
    last = (every * 0 + np.arange(len(own))).flat()
    found = joined([index.gather(rows), constant(n, own).gather(last)], 1)
    return found, [constant(n, size, i64) for size in inner]


@rows("RaggedGather")
def ragged_gather(n: TfLayer, *given: Value) -> list[Value]:
    """Selected rows: the splits of each level, and values."""
    *splits, values, indices = given
    if len(splits) > 1:
        raise n.error("rows of rows are not supported")
    rows_, found = term64(n, indices).flat(), []
    for given_splits in splits:
        own = term64(n, given_splits)
        begin, end = own.gather(rows_), own.gather(rows_ + 1)
        taken = splits_of(end - begin)
        found.append(taken.cast(given_splits.type.element_type).value)
        part = split_rows(taken)
        rows_ = begin.gather(part.row) + part.place
    return [*found, Term(n, values).gather(rows_).value]


@rows("RaggedRange")
def ragged_range(n: TfLayer, starts: Value, limits: Value, deltas: Value) -> list[Value]:
    """start, start + delta, .. below limit, of each row: splits and values"""
    start, limit, delta = (Term(n, v) for v in (starts, limits, deltas))
    if isinstance(start.element, FloatType):
        count = ((limit - start) / delta).function(nn.Ceil).cast(i64)
    else:
        start, limit, delta = (v.cast(i64) for v in (start, limit, delta))
        up = delta > 0
        apart = up.choose(limit - start, start - limit)
        step = up.choose(delta, -delta)
        count = (apart + step - 1) / step
    count = count.max(0)
    count = (count + Term(n, n.constant(np.zeros(1, np.int64)))) if not count.rank else count
    splits = splits_of(count)
    part = split_rows(splits)
    first, by = (v.gather(part.row) if v.rank else v for v in (start, delta))
    found = first + part.place.cast(by.element) * by
    element = n.element("Tsplits") if n.has("Tsplits") else i64
    return [splits.cast(element).value, found.cast(starts.type.element_type).value]


@rows("RaggedBincount")
def ragged_bincount(n: TfLayer, splits: Value, values: Value, size: Value, weights: Value) -> Value:
    """The count of each number below `size` in each row: [N, size]"""
    part = split_rows(term64(n, splits))
    return _counts(n, part.row, term64(n, values), [part.count], number(n, size), weights)


@rows("SparseBincount")
def sparse_bincount(
    n: TfLayer, indices: Value, values: Value, shape: Value, size: Value, weights: Value
) -> Value:
    """The counts of numbers below `size`, for each row if there are rows."""
    index, extents = term64(n, indices), term64(n, shape)
    count = n.extent(shape, 0)
    row = index.column(0) if count == 2 else term64(n, values) * 0
    sizes = [extents.column(0, 0)] if count == 2 else []
    return _counts(n, row, term64(n, values), sizes, number(n, size), weights)


def _counts(
    n: TfLayer, row: Term, numbers: Term, count: list[Term], size: Term, weights: Value
) -> Value:
    """Weights, or ones, summed by row and number."""
    places = positions(numbers < size).column(0)
    element = weights.type.element_type
    is_weighted = 0 not in weights.type.shape and not n.flag("binary_output")
    added = Term(n, weights) if is_weighted else (numbers * 0 + 1).cast(element)
    row, numbers, added = (v.gather(places) for v in (row, numbers, added))
    number_of_rows = count[0] if count else constant(n, 1, i64)
    shape = joined([number_of_rows.reshape(1), size.reshape(1)], 0)
    zeros = Term(n, n.scalar(0, weights)).filled(shape).value
    index = joined([row.spread(0, 1), numbers.spread(0, 1)], 1).value
    found = Term(n, n(nn.ScatterNd(zeros, index, added.value, reduction="add")))
    if n.flag("binary_output"):
        found = found.min(1)
    return found.value if count else found.flat().value


# -- sparse tensors --------------------------------------------------------------------------------


@rows("SparseReshape")
def sparse_reshape(n: TfLayer, indices: Value, shape: Value, wanted: Value) -> list[Value]:
    """The indices of the same elements in another shape, of which one extent may be -1."""
    own, new = term64(n, shape), term64(n, wanted)
    total = own.product(0)
    known = (new < 0).choose(1, new)
    rest = total / known.product(0).max(1)
    extents = (new < 0).choose(rest, new)
    flat = (term64(n, indices) * _strides(own)).sum(1).spread(0, 1)
    found = (flat / _strides(extents).max(1)) % extents.max(1)
    return [found.value, extents.value]


def _strides(extents: Term) -> Term:
    """The row-major strides of a shape."""
    return extents.made(nn.Cumprod(extents.value, axis=0, exclusive=True, reverse=True))


@rows("SparseFillEmptyRows")
def fill_empty_rows(
    n: TfLayer, indices: Value, values: Value, shape: Value, default: Value
) -> list[Value]:
    """A sparse tensor whose empty rows get a default value: its indices, its values, which rows
    were empty, and the new position of each element.
    """
    index, size = term64(n, indices), term64(n, shape).column(0, 0)
    rank = n.extent(shape, 0)
    row = index.column(0)
    zeros = constant(n, 0, i64).filled(size.reshape(1))
    ones = (row * 0 + 1).value
    counts = Term(n, n(nn.ScatterNd(zeros.value, row.spread(0, 1).value, ones, reduction="add")))
    empty = counts.equals(0)
    added = positions(empty)
    blank = added * constant(n, np.eye(1, rank, dtype=np.int64))
    every = joined([row, added.column(0)], 0)
    order = every.made(nn.SortRows(every.spread(0, 1).value))
    lacking = Term(n, default).filled(Term(n, shape_of(n, added.value)).part(0, 0, 1))
    found = joined([Term(n, values), lacking], 0).gather(order)
    places = every.made(nn.SortRows(order.spread(0, 1).value))
    went = places.gather(counting(n, extent(n, (indices, 0))))
    return [joined([index, blank], 0).gather(order).value, found.value, empty.value, went.value]


@rows("SparseReorder")
def reorder(n: TfLayer, indices: Value, values: Value, shape: Value) -> list[Value]:
    """Elements in row-major order."""
    index = term64(n, indices)
    order = index.made(nn.SortRows(index.value))
    return [index.gather(order).value, Term(n, values).gather(order).value]


@rows("SparseConcat")
def sparse_concat(n: TfLayer, *given: Value) -> list[Value]:
    """Sparse tensors concatenated along an axis."""
    count = len(given) // 3
    indices, values, shapes = (given[i * count : (i + 1) * count] for i in range(3))
    rank = n.extent(shapes[0], 0)
    axis = normalize_axis(n, n.int("concat_dim"), rank)
    unit = constant(n, np.eye(1, rank, axis, dtype=np.int64))
    before, parts = constant(n, 0, i64), []
    for index, shape in zip(indices, shapes, strict=True):
        parts.append(term64(n, index) + unit * before)
        before = before + term64(n, shape).column(axis, 0)
    mask = constant(n, np.arange(rank) == axis)
    shape = mask.choose(before, term64(n, shapes[0])).value
    index = joined(parts, 0)
    order = index.made(nn.SortRows(index.value))
    found = joined([Term(n, v) for v in values], 0)
    return [index.gather(order).value, found.gather(order).value, shape]


@rows("SparseSlice")
def sparse_slice(
    n: TfLayer, indices: Value, values: Value, shape: Value, begin: Value, size: Value
) -> list[Value]:
    """A slice of a sparse tensor, with indices relative to its begin."""
    index, low, extents = (term64(n, v) for v in (indices, begin, shape))
    high = (low + term64(n, size)).min(extents)
    within = ((index >= low) & (index < high)).cast(i64).sum(1).equals(n.extent(begin, 0))
    kept = positions(within).column(0)
    found = index.gather(kept) - low
    return [found.value, Term(n, values).gather(kept).value, (high - low).max(0).value]
