"""Constant vectors, for one thread: the elements of its share."""

from __future__ import annotations

from ....dialects import arith, ub, vector
from ....ir.attributes import DenseElements
from ....ir.builder import Builder
from ....ir.core import Operation, Value
from ....ir.lazy import np
from ....ir.types import VectorType, index
from .layouts import Along, Layout, layouts_of
from .shares import Shares


def constant(shares: Shares, op: Operation, at: Builder) -> None:
    """The share of a constant."""
    (layout,), (type,) = layouts_of(op), shares.result_types(op)
    assert layout is not None
    if isinstance(op, ub.Poison):
        shares.put(op, at, [type])
        return
    value = op.properties["value"]
    assert isinstance(value, DenseElements)
    shares.layouts[op.results[0]] = layout
    if value.is_splat:
        share = at.insert(arith.Constant(DenseElements(type, value.data))).result
    elif (found := _steps_of(value)) is not None:
        share = _growing(shares, *found, layout, type, at)
    else:
        share = _chosen(shares, value, layout, type, at)
    shares.set(op.results[0], share)


def step(shares: Shares, op: vector.Step, at: Builder) -> None:
    """The share of 0, 1, 2, .."""
    (layout,) = layouts_of(op)
    assert layout is not None
    shares.layouts[op.results[0]] = layout
    shares.set(op.results[0], _places(shares, layout.dims[0], at))


def _places(shares: Shares, along: Along, at: Builder) -> Value:
    """The coordinates of a share's elements along a dimension."""
    row = VectorType((along.each,), index)
    if along.repeats == 1:
        places = at.insert(vector.Step(result=row)).results[0]
    else:
        table = DenseElements.from_list([along.place(i) for i in range(along.each)], row)
        places = at.insert(arith.Constant(table)).result
    offset = shares.offset(along)
    if offset is None:
        return places
    begin = at.insert(vector.Broadcast(offset, vector=row)).results[0]
    return at.insert(arith.AddI(places, begin)).result


def _growing(
    shares: Shares,
    first: int,
    steps: tuple[int, ...],
    layout: Layout,
    type: VectorType,
    at: Builder,
) -> Value:
    """The share of a constant whose elements are `first` plus a multiple of each coordinate."""
    element = type.element_type
    total = at.insert(arith.Constant.of(first, type)).result
    for d, (along, by) in enumerate(zip(layout.dims, steps, strict=True)):
        if not by:
            continue
        places = _places(shares, along, at)
        if element is not index:
            row = VectorType((along.each,), element)
            places = at.insert(arith.IndexCast(places, out=row)).results[0]
        factor = at.insert(arith.Constant.of(by, places.type)).result
        grown = at.insert(arith.MulI(places, factor)).result
        column = VectorType((along.each, *[1] * (len(steps) - d - 1)), element)
        grown = at.insert(vector.ShapeCast(grown, result=column)).results[0]
        grown = at.insert(vector.Broadcast(grown, vector=type)).results[0]
        total = at.insert(arith.AddI(total, grown)).result
    return total


def _steps_of(table: DenseElements) -> tuple[int, tuple[int, ...]] | None:
    """(first element, difference along each dimension) of a constant of integers.

    None where the differences are not constant.
    """
    values = table.to_numpy()
    if values.dtype.kind not in "iu" or values.dtype.itemsize == 1 or not values.size:
        return None
    values = values.astype(object)
    first = int(values.flat[0])
    steps = []
    for d, extent in enumerate(values.shape):
        place = tuple(int(i == d) for i in range(values.ndim))
        steps.append(int(values[place]) - first if extent > 1 else 0)
    grids = np.indices(values.shape, sparse=True)
    expected = first + sum(
        step * grid.astype(object) for step, grid in zip(steps, grids, strict=True)
    )
    return (first, tuple(steps)) if np.array_equal(values, expected) else None


def _chosen(
    shares: Shares, value: DenseElements, layout: Layout, type: VectorType, at: Builder
) -> Value:
    """The share of any constant: each bit of the thread's number selects one of two halves."""
    table = value.to_numpy()
    tables: dict[bytes, Value] = {}

    def of_thread(thread: int) -> Value:
        """The share of this thread; elements beyond the vector repeat its last ones."""
        places = []
        for along, extent in zip(layout.dims, table.shape, strict=True):
            first = thread // along.stride % along.threads * along.run
            places.append([min(first + along.place(i), extent - 1) for i in range(along.each)])
        share = table[np.ix_(*places)]
        key = share.tobytes()
        if key not in tables:
            made = arith.Constant(DenseElements.from_numpy(share, type))
            tables[key] = at.insert(made).result
        return tables[key]

    def choice(bit: int, thread: int) -> Value:
        """The share, selected among threads that agree with `thread` in the bits above `bit`."""
        if not bit:
            return of_thread(thread)
        clear = choice(bit >> 1, thread)
        if not bit & layout.bits:
            return clear
        other = choice(bit >> 1, thread | bit)
        if other is clear:
            return clear
        return at.insert(arith.Select(shares.is_set(bit), other, clear)).result

    return choice(shares.threads >> 1, 0)
