"""Pieces of vectors that are read from memory or written to it."""

from __future__ import annotations

from typing import Any

from ....dialects import arith, memref, ub, vector
from ....ir.affine import AffineDim
from ....ir.attributes import DenseElements, IntegerAttr
from ....ir.core import Value
from ....ir.rewriting import constant_int, constant_value
from ....ir.types import MemRefType, VectorType, i1
from ..code import make
from .accesses import Access, Address
from .expansion import Copies, Expansion, expands, lanes_below, mask_bounds, minimum_of
from .lanes import Part
from .pieces import Leading, Piece, Strided, as_vector, is_vector
from .reads import Place, gather, is_interleaved, neighbours, prefetch, read, read_row
from .writes import scatter, write, write_all, write_row

Count = int | Value | None

_MASKS = (vector.CreateMask, vector.ConstantMask)

PREFETCH = "schedule.prefetch"
"""The attribute of a read that says how many elements further on to prefetch."""


def access_of(e: Expansion, op: Any) -> Access | None:
    """The access of an operation to memory; None if the memref's layout is not understood."""
    if op not in e.accesses:
        e.accesses[op] = _access(e, op)
    return e.accesses[op]


def _access(e: Expansion, op: Any) -> Access | None:
    is_transfer = isinstance(op, vector.TransferRead | vector.TransferWrite)
    source = op.base if is_transfer else op.memref
    if not isinstance(source.type, MemRefType) or isinstance(source.type.element_type, VectorType):
        return None
    view = e.code.forms.view(source)
    if view is None:
        return None
    dims: tuple[int | None, ...] = ()
    ahead = 0
    if is_transfer:
        dims = tuple(x.position if isinstance(x, AffineDim) else None for x in op.map.results)
        given = op.attributes.get(PREFETCH)
        ahead = given.value if isinstance(given, IntegerAttr) else 0
    start, constant = e.code.forms.flat(view, op.indices)
    access = Access(source, view, op.indices, start, constant, dims, ahead)
    if is_transfer and (op.mask is not None or not all(op.bounds)):
        access.bounds = _bounds(e, op, access)
    return access


def _bounds(e: Expansion, op: Any, access: Access) -> list[int | Value | None]:
    """How many elements along each dimension are accessed, by the mask and the memory."""
    made = op.mask.defining_op if op.mask is not None else None
    shape = op.vector_type.shape
    masked = mask_bounds(made) if isinstance(made, _MASKS) else []
    order = sorted(d for d in access.dims if d is not None)
    found: list[int | Value | None] = []
    for extent, d, is_inside in zip(shape, access.dims, op.bounds, strict=True):
        bound: int | Value | None = None
        if d is not None and masked:
            bound = masked[order.index(d)]
        if d is not None and not is_inside:
            bound = _within(e, bound, access, d)
        if isinstance(bound, Value) and (number := constant_int(bound)) is not None:
            bound = number
        if isinstance(bound, int) and bound >= extent:
            bound = None
        found.append(bound)
    return found


def _within(e: Expansion, bound: int | Value | None, access: Access, d: int) -> int | Value:
    """A bound, limited to the end of a dimension of the memref."""
    forms, code = e.code.forms, e.code
    rest = access.view.sizes[d] + forms.of(access.indices[d]) * -1
    if bound is None:
        return code.size(rest)
    given = [bound] if isinstance(bound, int) else minimum_of(bound)
    left = [rest + forms.mixed(b) * -1 for b in given]
    if any(isinstance(n, int) and n >= 0 for n in left):
        return bound
    return code.minimum(bound, code.size(rest))


def _count(e: Expansion, op: Any, access: Access, copies: Copies, part: Part) -> Count:
    """The lanes of a piece that are accessed: the first n, those of a mask, or all (None)."""
    bounds = access.bounds
    if bounds is None:
        return part.count
    outer = [(at, b) for at, b in zip(copies, bounds, strict=False) if b is not None]
    last = bounds[-1] if bounds and bounds[-1] is not None else part.offset + part.width
    count = lanes_below(e.code, outer, last, part)
    if isinstance(count, int) and count >= part.lanes:
        count = part.count
    made = op.mask.defining_op if op.mask is not None else None
    if op.mask is None or isinstance(made, _MASKS) or count == 0:
        return count
    selected = _count_of_mask(e, _mask_piece(e, op.mask, access, copies, part), part)
    return selected if count == part.count else _both(e, count, selected, part)


def _mask_piece(e: Expansion, mask: Value, access: Access, copies: Copies, part: Part) -> Piece:
    """The piece of a mask, whose dimensions are those of the memory, in their order."""
    order = sorted(d for d in access.dims if d is not None)

    def at(lane: int) -> Copies:
        point = dict(zip(access.dims, (*copies, lane), strict=False))
        return tuple(point[d] for d in order)

    if access.dims and access.dims[-1] is None:
        return e.element(mask, at(0))
    if order and access.dims[-1] == order[-1]:
        return e.piece(mask, at(0)[:-1], part)
    elements = [e.element(mask, at(part.offset + i)) for i in range(part.lanes)]
    return e.from_elements(elements, part.width)


def _both(e: Expansion, one: Count, other: Count, part: Part) -> Count:
    """The lanes that are accessed by both of two counts or masks."""
    code = e.code
    assert one is not None and other is not None
    if not isinstance(other, Value) or not isinstance(other.type, VectorType):
        return code.minimum(one, other)
    mask = code.mask(one, part.width)
    return code.value(make(arith.AndI, (mask, other), (mask.type,)))


def _count_of_mask(e: Expansion, piece: Piece, part: Part) -> Count:
    code = e.code
    if isinstance(piece, Leading):
        return piece.count
    if part.width == 1 or not is_vector(piece):
        none, lanes = code.index(0), code.index(part.lanes)
        return code.value(make(arith.Select, (e.scalar(piece), lanes, none), (none.type,)))
    mask = as_vector(code, piece, part.width)
    if part.count is None:
        return mask
    return _both(e, part.count, mask, part)


# -- reads ---------------------------------------------------------------------------------------


@expands(vector.TransferRead)
def _read(e: Expansion, op: vector.TransferRead, value: Value, copies: Copies, part: Part) -> Piece:
    access = access_of(e, op)
    if access is None:
        return e.cut(value, copies, part)
    count = _count(e, op, access, copies, part)
    padding = _padding(op.padding)
    if isinstance(count, int) and count == 0:
        return op.padding if padding is None else padding
    address = access.at(copies, part, count)
    known = access.loaded.get(address.key)
    if known is not None:
        return known
    together = None if access.bounds is not None else neighbours(address, value.type.shape)
    if together is not None:
        group, read_group = together
        for one, piece in zip(group, read_group(e.code, group), strict=True):
            access.loaded[one.key] = piece
        return access.loaded[address.key]
    access.loaded[address.key] = found = read(e.code, address, padding)
    if access.ahead and access.is_new_line(address, e.machine.line_bytes):
        prefetch(e.code, address)
    return found


def _padding(value: Value) -> Value | None:
    """The value of lanes that a mask leaves out; None for zero."""
    return None if _is_zero(value) else value


def _is_zero(value: Value) -> bool:
    number = getattr(constant_value(value), "value", None)
    return number == 0


@expands(vector.Gather)
def _gather(e: Expansion, op: vector.Gather, value: Value, copies: Copies, part: Part) -> Piece:
    """A piece of a gather: one element where all lanes read it, a row where they are contiguous."""
    if not isinstance(op.base.type, MemRefType):
        return e.cut(value, copies, part)
    code = e.code
    lanes = e.piece(op.indices, copies, part)
    count = _lane_count(e, op.mask, copies, part)
    offsets = list(op.offsets)
    element = value.type.element_type
    if isinstance(count, int) and count == 0:
        return e.piece(op.pass_thru, copies, part)
    if not is_vector(lanes) and (count is None or isinstance(count, int)):
        offsets[-1] = code.shifted(offsets[-1], _as_index(e, e.scalar(lanes)))
        return code.value(make(memref.Load, (op.base, *offsets), (element,)))
    type = VectorType((part.width,), element)
    rest = _pass_thru(e, op, copies, part)
    if isinstance(lanes, Strided) and lanes.step == 1 and _has_rows(op.base):
        offsets[-1] = code.shifted(offsets[-1], lanes.base)
        row = read_row(code, (op.base, offsets), type, count)
        if count is None or rest is None or rest is _zeros(code, type):
            return row
        mask = code.mask(count, part.width)
        return code.value(make(arith.Select, (mask, row, rest), (type,)))
    where: Place = (op.base, offsets)
    if part.width == 1:
        at = e.scalar(lanes)
        row = code.value(vector.Broadcast.create((at,), (VectorType((1,), at.type),)))
        found = code.value(vector.Extract.of(gather(code, where, row, type, count), [0]))
        if rest is None or count is None:
            return found
        there = code.is_positive(count)
        kept = code.value(vector.Extract.of(rest, [0])) if is_vector(rest) else rest
        return code.value(make(arith.Select, (there, found, kept), (element,)))
    if isinstance(lanes, Strided):
        offsets[-1] = code.shifted(offsets[-1], lanes.base)
        lanes = code.lane_numbers(lanes.step, part.width)
    row = as_vector(code, lanes, part.width)
    if rest is None or count is None:
        return gather(code, where, row, type, count)
    mask = code.mask(count, part.width)
    return code.value(make(vector.Gather, (op.base, *offsets, row, mask, rest), (type,)))


def _zeros(code: Any, type: VectorType) -> Value:
    return code.splat_number(0, type)


def _as_index(e: Expansion, value: Value) -> Value:
    index = e.code.index(0).type
    if value.type is index:
        return value
    return e.code.value(make(arith.IndexCast, (value,), (index,)))


def _pass_thru(e: Expansion, op: Any, copies: Copies, part: Part) -> Value | None:
    """The values of lanes that a mask leaves out; None where they are undefined."""
    if isinstance(op.pass_thru.defining_op, ub.Poison):
        return None
    return as_vector(e.code, e.piece(op.pass_thru, copies, part), max(part.width, 1))


def _has_rows(source: Value) -> bool:
    """Whether the last dimension of a memref has stride 1."""
    found = source.type.strides_and_offset()
    return found is not None and bool(found[0]) and found[0][-1] == 1


def _lane_count(e: Expansion, mask: Value, copies: Copies, part: Part) -> Count:
    """As `_count`, for a mask that has the shape of the vector."""
    constant = constant_value(mask)
    if isinstance(constant, DenseElements) and constant.is_splat:
        return part.count if constant.values()[0] else 0
    piece = e.piece(mask, copies, part)
    if isinstance(piece, Leading) and isinstance(piece.count, int) and piece.count >= part.lanes:
        return part.count
    if isinstance(piece, Value) and piece.type is i1:
        constant = getattr(constant_value(piece), "value", None)
        if constant is not None:
            return part.count if constant else 0
    return _count_of_mask(e, piece, part)


# -- writes --------------------------------------------------------------------------------------


def write_pieces(e: Expansion, op: vector.TransferWrite) -> None:
    """Store all pieces of a vector; those whose lanes interleave in memory are stored together."""
    access = access_of(e, op)
    assert access is not None
    value = op.valueToStore
    pieces: dict[tuple, tuple[Address, Value]] = {}
    for copies, part in e.places(value):
        count = _count(e, op, access, copies, part)
        if isinstance(count, int) and count == 0:
            continue
        address = access.at(copies, part, count)
        piece = e.vector(value, copies, part)
        if is_interleaved(address.lane) and not isinstance(count, Value):
            pieces[address.key] = address, piece
        else:
            write(e.code, address, piece)
    write_all(e.code, pieces)


def scatter_pieces(e: Expansion, op: vector.Scatter) -> None:
    """Store a vector, piece by piece: element i at position `indices[i]` of the last dimension."""
    code, value = e.code, op.valueToStore
    for copies, part in e.places(value):
        count = _lane_count(e, op.mask, copies, part)
        if isinstance(count, int) and count == 0:
            continue
        lanes = e.piece(op.indices, copies, part)
        offsets = list(op.offsets)
        row = e.vector(value, copies, part)
        if part.width == 1 and (count is None or isinstance(count, int)):
            offsets[-1] = code.shifted(offsets[-1], _as_index(e, e.scalar(lanes)))
            code.put(make(memref.Store, (row, op.base, *offsets)))
            continue
        if part.width == 1:
            row = code.value(vector.Broadcast.create((row,), (VectorType((1,), row.type),)))
            at = e.scalar(lanes)
            lanes = code.value(vector.Broadcast.create((at,), (VectorType((1,), at.type),)))
        if isinstance(lanes, Strided) and lanes.step == 1 and _has_rows(op.base):
            offsets[-1] = code.shifted(offsets[-1], lanes.base)
            write_row(code, (op.base, offsets), row, count)
            continue
        scatter(code, (op.base, offsets), as_vector(code, lanes, part.width), row, count)
