"""Reading an operand through a copy: the stage that makes it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...dialects import linalg, memref
from ...ir.affine import AffineDim, AffineMap
from ...ir.core import Operation, Value
from ...ir.types import MemRefType
from ...targets.machine import Machine
from .stages import Access, Stage, make_stage


def cached(stage: Stage, number: int, order: Sequence[int], op: Operation) -> Stage:
    """A new stage that copies an operand; the stage reads the copy from now on.

    The operations for it, an allocation and a copy, are not in any block yet; see `insert`.
    Raises NncError, at the scheduling operation, for an operand that cannot be copied.
    """
    access = next((a for a in stage.inputs if a.number == number), None)
    if access is None or access.is_scalar:
        raise op.error(f"the stage has no input buffer {number}")
    shape = access.value.type.shape  # type: ignore[attr-defined]
    if any(extent is None for extent in shape):
        raise op.error("cannot cache an operand of unknown extents")
    if sorted(order) != list(range(len(shape))):
        raise op.error(f"{list(order)} is no order of the operand's {len(shape)} dimensions")
    type = MemRefType(tuple(shape[d] for d in order), access.element_type)
    buffer = memref.Alloc([], [], memref=type).result
    back = [list(order).index(i) for i in range(len(shape))]
    source = AffineMap(len(shape), 0, tuple(AffineDim(d) for d in back))
    copy = linalg.Generic.build(
        [access.value],
        [buffer],
        [source, AffineMap.identity(len(shape))],
        ["parallel"] * len(shape),
        lambda builder, element, old: element,
    )
    assert stage.symbols is not None
    made = make_stage(copy, stage.index, stage.symbols)
    access.redirect(buffer, tuple(access.exprs[d] for d in order))
    return made


def insert(made: Stage, before: Operation) -> None:
    """Put the operations of a copying stage before those of the stage that reads the copy."""
    block = before.parent
    assert block is not None
    buffer: Value = made.outputs[0].value
    allocation = buffer.defining_op
    assert allocation is not None
    made.op.loc = allocation.loc = before.loc
    block.insert_before(allocation, before)
    block.insert_before(made.op, before)
    block.insert_after(memref.Dealloc(buffer, loc=before.loc), before)


MIN_READERS = 32
"""Results that each element of an operand must go into for a copy to pay."""

MIN_READERS_OF_ROWS = 192
"""The same for an operand whose rows are contiguous along the lanes already."""

CACHE_PERIOD = 4096
"""Bytes after which addresses fall on the same sets of the first cache."""


def worthwhile(stage: Stage, access: Access, machine: Machine) -> list[int] | None:
    """The order of dimensions in which a copy of an operand pays, or None if none does.

    That is a matrix operand which the vectors run along, read again for many rows of
    results, and contiguous along the reduction instead of the lanes; or with rows so far
    apart that a tile of it falls on few sets of the caches.
    """
    if access.is_scalar or access.coefficients is None or None in access.plain_dims():
        return None
    used = {d for d in access.plain_dims() if d is not None}
    lane = _contiguous_dim(stage)
    if lane is None or lane not in used or len(used) != len(access.exprs):
        return None
    sizes = [e for e in stage.extents if isinstance(e, int)]
    if len(sizes) < stage.rank:
        return None
    reductions = [d for d in used if stage.kinds[d] == "reduction" and sizes[d] > 1]
    readers = prod(e for d, e in enumerate(sizes) if d not in used and stage.kinds[d] == "parallel")
    if not reductions or readers < MIN_READERS or sizes[lane] < machine.lanes(4):
        return None
    order = [i for i, d in enumerate(access.plain_dims()) if d != lane]
    order.append(access.plain_dims().index(lane))
    transposed = access.coefficients[lane] != 1
    width = getattr(access.element_type, "byte_width", 4)
    panel = prod(sizes[d] for d in reductions) * 64 * width
    if panel > machine.l2_bytes:
        return None
    if not transposed:
        strides = [access.coefficients[d] for d in reductions]
        collides = any(isinstance(c, int) and c * width % CACHE_PERIOD == 0 for c in strides)
        if not collides or readers < MIN_READERS_OF_ROWS:
            return None
    return order


def _contiguous_dim(stage: Stage) -> int | None:
    """The parallel dimension along which all results are contiguous."""
    found = {
        d
        for out in stage.outputs
        for d, kind in enumerate(stage.kinds)
        if kind == "parallel" and out.coefficients is not None and out.coefficients[d] == 1
        and stage.extents[d] != 1
    }  # fmt: skip
    return found.pop() if len(found) == 1 else None
