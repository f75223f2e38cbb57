"""Pieces of vectors that are made of the elements of others, in another shape or order."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import vector
from ....ir.core import Value
from ....ir.types import VectorType
from .expansion import Copies, Expansion, expands
from .lanes import ONE, Part, fits_any, lanes_of
from .pieces import Piece, as_vector
from .shuffles import transposed


@expands(vector.Broadcast)
def _broadcast(
    e: Expansion, op: vector.Broadcast, value: Value, copies: Copies, part: Part
) -> Piece:
    source = op.source
    type = source.type
    if not isinstance(type, VectorType):
        return source
    shape = type.shape
    outer = copies[len(copies) + 1 - len(shape) :] if shape else ()
    at = tuple(0 if n == 1 else i for i, n in zip(outer, shape, strict=False))
    if lanes_of(type) == 1:
        return e.scalar(e.piece(source, at, ONE))
    return e.piece(source, at, part)


@expands(vector.Transpose)
def _transpose(
    e: Expansion, op: vector.Transpose, value: Value, copies: Copies, part: Part
) -> Piece:
    order, source = list(op.permutation), op.vector
    if not order or order[-1] == len(order) - 1:
        at = [0] * len(order)
        for d, i in zip(order, copies, strict=False):
            at[d] = i
        return e.piece(source, tuple(at[:-1]), part)
    square = _transposed_square(e, op, value, copies, part)
    if square is not None:
        return square

    def index(lane: int) -> Copies:
        at = [0] * len(order)
        for d, i in zip(order, (*copies, lane), strict=True):
            at[d] = i
        return tuple(at)

    return _collected(e, source, [index(part.offset + i) for i in range(part.lanes)], part)


def _transposed_square(
    e: Expansion, op: vector.Transpose, value: Value, copies: Copies, part: Part
) -> Piece | None:
    """The piece as one column of a square of whole pieces, all of whose columns are made."""
    order, source, width = list(op.permutation), op.vector, part.width
    rank = len(order)
    outer = order.index(rank - 1)  # the result's dimension that runs along the source's lanes
    if part.count is not None or width == 1 or fits_any(source):
        return None
    if e.widths.width(source) != width or e.widths.width(value) != width:
        return None
    first = copies[outer] - copies[outer] % width
    if first + width > value.type.shape[outer]:
        return None
    rows = []
    for lane in range(width):
        at = [0] * rank
        for d, i in zip(order, (*copies, part.offset + lane), strict=True):
            at[d] = i
        row = next(p for p in e.widths.parts(source) if p.offset == first)
        rows.append(as_vector(e.code, e.piece(source, tuple(at[:-1]), row), width))
    for i, column in enumerate(transposed(e.code, rows)):
        e.set(value, (*copies[:outer], first + i, *copies[outer + 1 :]), part, column)
    return e.piece(value, copies, part)


def _collected(e: Expansion, source: Value, indices: Sequence[Copies], part: Part) -> Piece:
    """Elements of a vector as a piece."""
    return e.from_elements([e.element(source, i) for i in indices], part.width)


@expands(vector.ShapeCast)
def _shape_cast(
    e: Expansion, op: vector.ShapeCast, value: Value, copies: Copies, part: Part
) -> Piece:
    source = op.source
    shape, target = source.type.shape, value.type.shape

    def index(lane: int) -> Copies:
        number = 0
        for i, extent in zip((*copies, lane), target, strict=False):
            number = number * extent + i
        at = []
        for extent in reversed(shape):
            number, i = divmod(number, extent)
            at.append(i)
        return tuple(reversed(at))

    if lanes_of(source.type) == lanes_of(value.type):
        return e.piece(source, index(0)[:-1], part)
    return _collected(e, source, [index(part.offset + i) for i in range(part.lanes)], part)


@expands(vector.Extract)
def _extract(e: Expansion, op: vector.Extract, value: Value, copies: Copies, part: Part) -> Piece:
    if op.dynamic_position:
        return e.cut(value, copies, part)
    at = tuple(op.static_position)
    if len(at) == op.source.type.rank:  # an element, as a vector of one
        return e.element(op.source, at)
    return e.piece(op.source, (*at, *copies), part)


@expands(vector.Insert)
def _insert(e: Expansion, op: vector.Insert, value: Value, copies: Copies, part: Part) -> Piece:
    if op.dynamic_position:
        return e.cut(value, copies, part)
    at, stored = tuple(op.static_position), op.valueToStore
    if len(at) < op.dest.type.rank:
        if copies[: len(at)] == at:
            return e.piece(stored, copies[len(at) :], part)
        return e.piece(op.dest, copies, part)
    lane = at[-1] - part.offset if at else 0
    if copies != at[:-1] or not 0 <= lane < part.lanes:
        return e.piece(op.dest, copies, part)
    element = e.element(stored, (0,)) if isinstance(stored.type, VectorType) else stored
    if part.width == 1:
        return element
    row = e.vector(op.dest, copies, part)
    return e.code.value(vector.Insert.of(element, row, [lane]))


@expands(vector.ExtractStridedSlice)
def _extract_slice(
    e: Expansion, op: vector.ExtractStridedSlice, value: Value, copies: Copies, part: Part
) -> Piece:
    source = op.source
    offsets = [int(a) for a in op.offsets] + [0] * (source.type.rank - len(op.offsets))
    at = tuple(i + start for i, start in zip(copies, offsets, strict=False))
    return _lanes(e, source, at, offsets[-1] + part.offset, part)


def _lanes(e: Expansion, source: Value, copies: Copies, first: int, part: Part) -> Piece:
    """The lanes of a vector from `first` on, as many as `part` has."""
    if fits_any(source):
        return e.piece(source, copies, Part(first, part.width, part.count))
    if lanes_of(source.type) == 1:
        return e.piece(source, copies, ONE)
    for own in e.widths.parts(source):
        if own.offset == first and own.width == part.width and own.lanes >= part.lanes:
            return e.piece(source, copies, own)
    return _collected(e, source, [(*copies, first + i) for i in range(part.lanes)], part)


@expands(vector.InsertStridedSlice)
def _insert_slice(
    e: Expansion, op: vector.InsertStridedSlice, value: Value, copies: Copies, part: Part
) -> Piece:
    stored, offsets = op.valueToStore, [int(a) for a in op.offsets]
    small = stored.type.shape
    leading = len(offsets) - len(small)
    inside = copies[:leading] == tuple(offsets[:leading])
    at = tuple(i - start for i, start in zip(copies[leading:], offsets[leading:], strict=False))
    inside = inside and all(0 <= i < n for i, n in zip(at, small, strict=False))
    first, last = offsets[-1], offsets[-1] + small[-1]
    begin, end = part.offset, part.offset + part.lanes
    if not inside or end <= first or begin >= last:
        return e.piece(op.dest, copies, part)
    if first <= begin and end <= last:
        return _lanes(e, stored, at, begin - first, part)
    elements = [
        e.element(stored, (*at, i - first))
        if first <= i < last
        else e.element(op.dest, (*copies, i))
        for i in range(begin, end)
    ]
    return e.from_elements(elements, part.width)


@expands(vector.FromElements)
def _from_elements(
    e: Expansion, op: vector.FromElements, value: Value, copies: Copies, part: Part
) -> Piece:
    number = 0
    for i, extent in zip(copies, value.type.shape, strict=False):
        number = number * extent + i
    number = number * lanes_of(value.type) + part.offset
    return e.from_elements(list(op.elements[number : number + part.lanes]), part.width)
