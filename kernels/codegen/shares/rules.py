"""The rules by which operations without regions are rewritten for one thread."""

from __future__ import annotations

from typing import Any

from ....dialects import arith, scf, vector
from ....ir.affine import AffineDim
from ....ir.attributes import UnitAttr
from ....ir.builder import Builder
from ....ir.core import Block, Operation, Region, Value
from ....ir.traits import ConstantLike, WritesMemory
from ....ir.types import VectorType
from .barriers import LATER_PIECE
from .constants import constant, step
from .layouts import layouts_of
from .links import is_elementwise, is_vector
from .masks import is_logic_of_masks, logical, mask, piece_within, within
from .reductions import reduction
from .shares import Rule, Shares


def distribute(shares: Shares, op: Operation, at: Builder) -> None:
    """Rewrite an operation without regions for one thread."""
    rule = logical if is_logic_of_masks(op) else _RULES.get(type(op))
    touched = [v for v in (*op.operands, *op.results) if is_vector(v)]
    if isinstance(op, arith.IntDivision) and touched:
        _division(shares, op, at)
    elif rule is not None and touched:
        rule(shares, op, at)
    elif is_elementwise(op) and touched:
        shares.put(op, at, shares.result_types(op))
    elif op.has_trait(ConstantLike) and touched:
        constant(shares, op, at)
    elif op.has_trait(WritesMemory) and not touched:
        _alone(shares, op, at)
    else:
        shares.put(op, at, op.result_types)


def _guarded(shares: Shares, bits: int, at: Builder, loc: Any) -> Builder:
    """A builder for operations that only one of the threads with the same elements executes."""
    condition = shares.is_first_of(bits)
    if condition is None:
        return at
    inside = Block()
    branch = scf.If(condition, Region([inside]), Region(), outs=[], loc=loc)
    at.insert(branch)
    inside.append(scf.Yield(loc=loc))
    return Builder.before_op(inside.last)  # type: ignore[arg-type]


def _alone(shares: Shares, op: Operation, at: Builder) -> None:
    """Let one thread alone execute an operation that writes the same to memory in all threads."""
    inside = at if op.results else _guarded(shares, 0, at, op.loc)
    shares.put(op, inside, op.result_types)


def _same(shares: Shares, op: Operation, at: Builder) -> None:
    shares.put(op, at, shares.result_types(op))


def _transfer(shares: Shares, op: Any, at: Builder) -> None:
    """Read or write each piece of a share."""
    reads = isinstance(op, vector.TransferRead)
    held = op.results[0] if reads else op.valueToStore
    layout = layouts_of(op)[0] if reads else shares.layout(held)
    assert layout is not None
    if not reads:
        at = _guarded(shares, layout.bits, at, op.loc)
    lanes = {e.position: lane for lane, e in enumerate(op.map.results) if isinstance(e, AffineDim)}
    ordered = [lanes[position] for position in sorted(lanes)]
    along, shape = layout.along(ordered), [held.type.shape[lane] for lane in ordered]
    first = [shares.of(value) for value in op.indices]
    for position, lane in lanes.items():
        first[position] = _plus(first[position], shares.offset(layout.dims[lane]), at)
    base, flags = shares.of(op.base), list(op.bounds)
    mask = shares.of(op.mask) if op.mask is not None else None
    pieces = {}
    is_later = False
    for piece in layout.pieces():
        indices = list(first)
        for position, lane in lanes.items():
            if away := layout.places(piece)[lane]:
                indices[position] = _plus(first[position], shares.number(away), at)
        part = tuple(piece[lane] for lane in ordered)
        own = piece_within(shares, along, part, shape, mask, at)
        if reads:
            type = VectorType(layout.runs, held.type.element_type)
            padding = shares.of(op.padding)
            new = vector.TransferRead.of(base, indices, padding, type, op.map, flags, own)
            pieces[piece] = at.insert(new).results[0]
        else:
            value = shares.piece(shares.of(held), layout, piece, at)
            write = at.insert(vector.TransferWrite.of(value, base, indices, op.map, flags, own))
            if is_later:
                write.attributes[LATER_PIECE] = UnitAttr()
            is_later = True
    if reads:
        shares.layouts[held] = layout
        shares.set(held, shares.join(pieces, shares.result_types(op)[0], at))


def _plus(value: Value, more: Value | None, at: Builder) -> Value:
    return value if more is None else at.insert(arith.AddI(value, more)).result


def _by_values(shares: Shares, op: Any, at: Builder) -> None:
    """Rewrite gathers and scatters, whose indices are vectors."""
    layout = layouts_of(op)[0] if op.results else shares.layout(op.valueToStore)
    assert layout is not None
    mask = shares.of(op.mask)
    shares.mapping[op.mask] = within(shares, layout, op.mask.type.shape, mask, at)  # type: ignore[assignment]
    inside = at if op.results else _guarded(shares, layout.bits, at, op.loc)
    shares.put(op, inside, shares.result_types(op))
    shares.mapping[op.mask] = mask


def _division(shares: Shares, op: arith.IntDivision, at: Builder) -> None:
    """The division on a share; elements beyond the edge of the vector are divided by 1.

    Their divisors could be 0. Nothing is replaced where the divisor is known not to be 0.
    """
    divisor, layout = shares.of(op.rhs), shares.layout(op.rhs)
    shape = op.rhs.type.shape  # type: ignore[attr-defined]
    inside = None if op.is_speculatable() else within(shares, layout, shape, None, at)
    if inside is not None:
        one = at.insert(arith.Constant.of(1, divisor.type)).result
        shares.mapping[op.rhs] = at.insert(arith.Select(inside, divisor, one)).result
    shares.put(op, at, shares.result_types(op))
    shares.mapping[op.rhs] = divisor


_RULES: dict[type[Operation], Rule] = {
    vector.Broadcast: _same,
    vector.Transpose: _same,
    vector.ShapeCast: _same,
    vector.Contract: _same,
    vector.Step: step,
    vector.CreateMask: mask,
    vector.ConstantMask: mask,
    vector.TransferRead: _transfer,
    vector.TransferWrite: _transfer,
    vector.Gather: _by_values,
    vector.Scatter: _by_values,
    vector.MultiReduction: reduction,
}
