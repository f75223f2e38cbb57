"""Reading one piece of a vector from memory, by the cheapest operations for its lanes.

Lanes that lie next to each other are one load, masked where some of them do not count. Lanes a few
elements apart are picked from the whole vectors they lie in. Of lanes that lie far apart, those of
neighbouring copies lie next to each other: they are loaded as rows and transposed. What is left is
gathered.
"""

from __future__ import annotations

from collections.abc import Callable

from ....dialects import arith, memref, ub, vector
from ....ir.core import Value
from ....ir.polynomial import Size
from ....ir.rewriting import constant_int
from ....ir.types import Type, VectorType
from ..addresses.walk import Walk
from ..code import make
from .accesses import Access, Address
from .lanes import powers_of
from .shuffles import deinterleaved, pick, transposed

MAX_SHUFFLED_STRIDE = 8
"""Lanes up to this stride are picked from whole vectors; those of larger strides are gathered."""

Place = tuple[Value, list[Value]]
"""A memref and subscripts in it."""


def is_interleaved(stride: Size) -> bool:
    """Whether lanes this many elements apart are picked from whole vectors instead of gathered."""
    return isinstance(stride, int) and 2 <= stride <= MAX_SHUFFLED_STRIDE


def place(code: Walk, address: Address) -> Place:
    """Where a piece starts, by subscripts."""
    access = address.access
    indices = list(access.indices)
    for shift, d in zip((*address.copies, address.offset), access.dims, strict=False):
        if shift and d is not None:
            indices[d] = code.shifted(indices[d], shift)
    return access.memref, indices


def flat_place(code: Walk, address: Address, further: Size = 0) -> Place:
    """Where a piece starts, plus `further` elements, in the buffer as one dimension."""
    access = address.access
    at = code.at(access.start, address.constant + further)
    return code.flat(access.view.root), [code.as_value(at)]


def row_place(code: Walk, address: Address) -> Place:
    """Where a row starts: by subscripts if the last one has stride 1, else in one dimension."""
    access = address.access
    rank = len(access.indices)
    if not rank or (access.dims and access.dims[-1] != rank - 1):
        return flat_place(code, address)
    found = access.memref.type.strides_and_offset()
    if found is None or found[0][-1] != 1:
        return flat_place(code, address)
    return place(code, address)


def read(code: Walk, address: Address, padding: Value | None) -> Value:
    """Read one piece by itself; unused lanes are the padding, zero if there is none."""
    element = address.access.element_type
    if not address.width:
        return _read_element(code, address, element, padding)
    type = VectorType((address.width,), element)
    if address.lane == 1:
        return read_row(code, row_place(code, address), type, address.count, padding)
    where = flat_place(code, address)
    repeats = _repeats(code, address)
    if repeats is not None and code.can_mask(type):
        return _read_row_or_one(code, where, type, repeats, address.count, padding)
    return gather(code, where, lane_offsets(code, address), type, address.count, padding)


def _repeats(code: Walk, address: Address) -> Value | None:
    """A condition known at run time: true if all lanes are one element, false if they are a row.

    None where the lanes' stride is no choice between 0 and 1.
    """
    step, count = code.size(address.lane), address.count
    is_counted = count is None or isinstance(count, int) or not isinstance(count.type, VectorType)
    choice = step.defining_op if isinstance(step, Value) else None
    if not (is_counted and isinstance(choice, arith.Select)):
        return None
    steps = constant_int(choice.true_value), constant_int(choice.false_value)
    return choice.condition if steps == (0, 1) else None


def _read_row_or_one(
    code: Walk,
    where: Place,
    type: VectorType,
    repeats: Value,
    count: int | Value | None,
    padding: Value | None,
) -> Value:
    """Read a row, or one element for all lanes where `repeats` is true."""
    width = type.shape[0]
    own = code.as_value(width if count is None else count)
    least = code.as_value(1 if count is None else code.minimum(1, own))
    row = read_row(code, where, type, code.value(arith.Select(repeats, least, own)))
    one = code.splat(code.value(vector.Extract.of(row, [0])), width)
    found = code.value(make(arith.Select, (code.splat(repeats, width), one, row), (type,)))
    if count is None:
        return found
    chosen = (code.mask(count, width), found, _rest(code, type, padding))
    return code.value(make(arith.Select, chosen, (type,)))


def _read_element(code: Walk, address: Address, element: Type, padding: Value | None) -> Value:
    source, indices = place(code, address)
    if address.count is None:
        return code.value(make(memref.Load, (source, *indices), (element,)))
    row = read_row(code, (source, indices), VectorType((1,), element), address.count, padding)
    return code.value(vector.Extract.of(row, [0]))


def read_row(
    code: Walk,
    where: Place,
    type: VectorType,
    count: int | Value | None,
    padding: Value | None = None,
) -> Value:
    """Read contiguous elements, all of them or the first `count`."""
    source, indices = where
    if count is None:
        return code.value(make(vector.Load, (source, *indices), (type,)))
    rest = _rest(code, type, padding)
    if isinstance(count, int) and not code.can_mask(type):
        return _read_parts(code, where, rest, count)
    mask = code.mask(count, type.shape[0])
    return code.value(make(vector.MaskedLoad, (source, *indices, mask, rest), (type,)))


def _read_parts(code: Walk, where: Place, row: Value, count: int) -> Value:
    """Read the first `count` lanes of a row, by ever smaller vectors."""
    source, (*outer, last) = where
    element = row.type.element_type
    for at, width in powers_of(count):
        indices = (source, *outer, code.shifted(last, at))
        if width == 1:
            part = code.value(make(memref.Load, indices, (element,)))
            row = code.value(vector.Insert.of(part, row, [at]))
            continue
        part = code.value(make(vector.Load, indices, (VectorType((width,), element),)))
        row = code.value(vector.InsertStridedSlice.of(part, row, [at]))
    return row


def gather(
    code: Walk,
    where: Place,
    lanes: Value,
    type: VectorType,
    count: int | Value | None,
    padding: Value | None = None,
) -> Value:
    """Read elements at a place plus the lanes' offsets."""
    source, indices = where
    width = type.shape[0]
    mask = code.mask(width if count is None else count, width)
    rest = _rest(code, type, padding)
    return code.value(make(vector.Gather, (source, *indices, lanes, mask, rest), (type,)))


def _rest(code: Walk, type: VectorType, padding: Value | None) -> Value:
    if padding is None:
        return code.splat_number(0, type)
    if padding.defined_by(ub.Poison):
        cache, key = code.entry.cache, ("poison", type)
        if key not in cache:
            cache[key] = code.value(ub.Poison(out=type), code.entry)
        return cache[key]
    return code.splat(padding, type.shape[0])


def lane_offsets(code: Walk, address: Address) -> Value:
    """The distance of each lane from the first, as a vector of index."""
    return code.lane_steps(code.size(address.lane), address.width)


def prefetch(code: Walk, address: Address) -> None:
    """Prefetch the element `access.ahead` elements behind the piece."""
    code.prefetch(*flat_place(code, address, address.access.ahead))


# -- several pieces at once ----------------------------------------------------------------------

Neighbours = tuple[list[Address], Callable[[Walk, list[Address]], list[Value]]]


def neighbours(address: Address, shape: tuple[int, ...]) -> Neighbours | None:
    """The pieces to read together with this one, and the function that reads them; or None."""
    lane = address.lane
    if lane in (0, 1) or not address.width or isinstance(address.count, Value):
        return None
    dim = _neighbour_dim(address.access, shape)
    if is_interleaved(lane):
        assert isinstance(lane, int)
        return _group(address, dim, shape, lane), read_interleaved
    if dim is None:
        return None
    group = _group(address, dim, shape, address.width)
    return (group, read_block) if len(group) > 1 else None


def _neighbour_dim(access: Access, shape: tuple[int, ...]) -> int | None:
    """The dimension of the copies along which elements are contiguous; None if there is none."""
    for i, stride in enumerate(access.strides[:-1]):
        if stride == 1 and shape[i] > 1:
            return i
    return None


def _group(address: Address, dim: int | None, shape: tuple[int, ...], most: int) -> list[Address]:
    """A piece and its neighbours along a dimension, at most `most` in all, in order."""
    if dim is None:
        return [address]
    at = address.copies[dim]
    first = at - at % most
    found = []
    for i in range(first, min(first + most, shape[dim])):
        copies = (*address.copies[:dim], i, *address.copies[dim + 1 :])
        found.append(address if i == at else address.moved(i - at, copies))
    return found


def read_block(code: Walk, group: list[Address]) -> list[Value]:
    """Read neighbouring pieces of a large lane stride: as rows, which are transposed."""
    first = group[0]
    width = first.width
    type = VectorType((width,), first.access.element_type)
    lanes = width if first.count is None else first.count
    columns = None if len(group) == width else len(group)
    rows = []
    for lane in range(width):
        if lane < lanes:  # type: ignore[operator]
            where = flat_place(code, first, first.lane * lane)
            rows.append(read_row(code, where, type, columns))
        else:
            rows.append(code.splat_number(0, type))
    return transposed(code, rows)[: len(group)]


def read_interleaved(code: Walk, group: list[Address]) -> list[Value]:
    """Read neighbouring pieces whose lanes are a few elements apart, by loading whole vectors.

    There are at most as many pieces as the stride: then all are between two lanes of the first.

    The last vector loaded ends with the last element wanted, so that none lies outside.
    """
    first = group[0]
    width, stride = first.width, first.lane
    assert isinstance(stride, int) and not isinstance(first.count, Value)
    type = VectorType((width,), first.access.element_type)
    lanes = width if first.count is None else first.count
    span = stride * (lanes - 1) + len(group)
    starts = [*range(0, max(1, span - width), width)]
    if span > width:
        starts.append(span - width)
    vectors = [
        read_row(code, flat_place(code, first, start), type, span if span < width else None)
        for start in starts
    ]
    if span == stride * width and stride & (stride - 1) == 0:
        return deinterleaved(code, vectors)
    return [pick(code, vectors, starts, i, stride, lanes) for i in range(len(group))]
