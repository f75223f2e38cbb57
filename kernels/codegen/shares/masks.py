"""Masks of shares: which of their elements are before bounds, and within the vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects import arith, vector
from ....ir.attributes import DenseElements
from ....ir.builder import Builder
from ....ir.core import Operation, Value
from ....ir.types import VectorType, i1
from .layouts import Layout, layouts_of
from .shares import Shares

Piece = tuple[int, ...]


def mask(shares: Shares, op: Any, at: Builder) -> None:
    """The share of a `vector.create_mask` or `vector.constant_mask`."""
    (layout,), (type,) = layouts_of(op), shares.result_types(op)
    assert layout is not None
    if isinstance(op, vector.CreateMask):
        sizes = [shares.of(size) for size in op.sizes]
    else:
        sizes = [shares.number(size) for size in op.mask_dim_sizes]
    shares.layouts[op.results[0]] = layout
    shares.set(op.results[0], _bounded_share(shares, layout, sizes, type, at))


def _bounded_share(
    shares: Shares, layout: Layout, sizes: Sequence[Value], type: VectorType, at: Builder
) -> Value:
    pieces = {piece: _bounded(shares, layout, piece, sizes, at) for piece in layout.pieces()}
    return shares.join(pieces, type, at)


def _bounded(
    shares: Shares, layout: Layout, piece: Piece, sizes: Sequence[Value], at: Builder
) -> Value:
    """The mask of the elements of a piece whose index in the whole vector is below `sizes`."""
    left = []
    for along, size, away in zip(layout.dims, sizes, layout.places(piece), strict=True):
        for begin in (shares.offset(along), shares.number(away) if away else None):
            if begin is not None:
                size = at.insert(arith.SubI(size, begin)).result
        left.append(size)
    return at.insert(vector.CreateMask(left, result=VectorType(layout.runs, i1))).results[0]


def is_logic_of_masks(op: Operation) -> bool:
    """Whether an operation computes a mask from masks, element by element."""
    if not isinstance(op, arith.AndI | arith.XOrI):
        return False
    type = op.results[0].type
    return isinstance(type, VectorType) and type.rank > 0 and type.element_type is i1


def logical(shares: Shares, op: Any, at: Builder) -> None:
    """The share of a mask computed from masks, piece by piece, so that the bounds of each piece
    are known.
    """
    (layout,), (whole,) = layouts_of(op), shares.result_types(op)
    assert layout is not None
    pieces = {}
    for piece in layout.pieces():
        own = [_piece_of(shares, operand, layout, piece, at) for operand in op.operands]
        pieces[piece] = at.insert(type(op)(*own)).results[0]
    shares.layouts[op.results[0]] = layout
    shares.set(op.results[0], shares.join(pieces, whole, at))


def _piece_of(shares: Shares, mask: Value, layout: Layout, piece: Piece, at: Builder) -> Value:
    known = mask.defined_by(arith.Constant)
    splat = known.value if known is not None else None
    if isinstance(splat, DenseElements) and splat.is_splat:
        made = DenseElements(VectorType(layout.runs, i1), splat.data)
        return at.insert(arith.Constant(made)).result
    return shares.piece(shares.of(mask), layout, piece, at)


def within(
    shares: Shares, layout: Layout, shape: Sequence[int], mask: Value | None, at: Builder
) -> Value | None:
    """The mask without elements beyond the end of the vector; None where nothing is masked."""
    if layout.covers(shape):
        return mask
    sizes = [shares.number(n) for n in shape]
    own = _bounded_share(shares, layout, sizes, VectorType(layout.share, i1), at)
    return own if mask is None else at.insert(arith.AndI(mask, own)).result


def piece_within(
    shares: Shares,
    layout: Layout,
    piece: Piece,
    shape: Sequence[int],
    mask: Value | None,
    at: Builder,
) -> Value | None:
    """As `within`, for one piece of a share."""
    part = shares.piece(mask, layout, piece, at) if mask is not None else None
    ends = [
        away + along.tile for along, away in zip(layout.dims, layout.places(piece), strict=True)
    ]
    if all(end <= n for end, n in zip(ends, shape, strict=True)):
        return part
    own = _bounded(shares, layout, piece, [shares.number(n) for n in shape], at)
    return own if part is None else at.insert(arith.AndI(part, own)).result
