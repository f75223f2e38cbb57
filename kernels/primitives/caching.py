"""Reading an operand through a copy: the stage that makes it."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod

from ...dialects import arith, linalg, memref
from ...ir.affine import AffineDim, AffineMap
from ...ir.attributes import IntegerAttr
from ...ir.core import Operation, Value
from ...ir.types import MemRefType, index
from ...targets.machine import Machine
from ..model.stages import UNKNOWN_EXTENT, Access, Stage, make_stage


def cached(stage: Stage, number: int, order: Sequence[int], op: Operation) -> Stage:
    """A new stage that copies an operand; the stage reads the copy from now on.

    The operations for it, an allocation and a copy, are not in any block yet; see `insert`.
    Raises NncError, at the scheduling operation, for an operand that cannot be copied.
    """
    access = next((a for a in stage.inputs if a.number == number), None)
    if access is None or access.is_scalar:
        raise op.error(f"the stage has no input buffer {number}")
    shape = access.value.type.shape  # type: ignore[attr-defined]
    if sorted(order) != list(range(len(shape))):
        raise op.error(f"{list(order)} is no order of the operand's {len(shape)} dimensions")
    type = MemRefType(tuple(shape[d] for d in order), access.element_type)
    sizes = [_size(access.value, d) for d in order if shape[d] is None]
    buffer = memref.Alloc(sizes, [], memref=type).result
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
    for i, d in enumerate(order):
        if shape[d] is None:
            stage.symbols.follow((buffer, i), (access.value, d))
    made = make_stage(copy, stage.index, stage.symbols)
    access.redirect(buffer, tuple(access.exprs[d] for d in order))
    return made


def insert(made: Stage, before: Operation) -> None:
    """Put the operations of a copying stage before those of the stage that reads the copy."""
    block = before.parent
    assert block is not None
    for op in _operations(made):
        op.loc = before.loc
        block.insert_before(op, before)
    block.insert_after(memref.Dealloc(made.outputs[0].value, loc=before.loc), before)


def discard(made: Stage) -> None:
    """Let go of the operations of a copying stage that are in no block."""
    for op in reversed(_operations(made)):
        op.drop_all_references()


def _operations(made: Stage) -> list[Operation]:
    """The allocation of a copy with the sizes that it needs, and the copying."""
    allocation = made.outputs[0].value.defining_op
    assert allocation is not None
    sizes = [v.defining_op for v in allocation.operands]
    places = [op.operands[1].defining_op for op in sizes if op is not None]
    found = (*places, *sizes, allocation, made.op)
    return [op for op in found if op is not None]


def _size(buffer: Value, dim: int) -> Value:
    at = arith.Constant(IntegerAttr(dim, index)).result
    return memref.Dim(buffer, at).result


MIN_READERS = 32
"""Results that each element of an operand must go into for a copy to pay."""

MIN_READERS_OF_ROWS = 192
"""The same for an operand whose rows are contiguous along the lanes already."""

CACHE_PERIOD = 4096
"""Bytes after which addresses fall on the same sets of the first cache."""

L2_PERIOD = 65536
"""The same for the second cache, in most processors."""


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
    sizes = [e if isinstance(e, int) else UNKNOWN_EXTENT for e in stage.extents]
    reductions = [d for d in used if stage.kinds[d] == "reduction" and sizes[d] > 1]
    readers = prod(e for d, e in enumerate(sizes) if d not in used and stage.kinds[d] == "parallel")
    if any(not isinstance(stage.extents[d], int) for d in used if stage.kinds[d] == "reduction"):
        return None
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
        if not all(isinstance(e, int) for e in stage.extents):
            return None
        strides = [c for d in reductions if isinstance(c := access.coefficients[d], int)]
        row, rows = sizes[lane] * width, prod(sizes[d] for d in reductions)
        collides = any(
            c * width % CACHE_PERIOD == 0 or _crowds(rows, row, c * width, machine) for c in strides
        )
        if not collides or readers < MIN_READERS_OF_ROWS:
            return None
    return order


def _crowds(rows: int, row: int, stride: int, machine: Machine) -> bool:
    """Whether rows so far apart need much of the sets of the second cache that they fall on.

    Units: bytes, but for the number of rows.
    """
    places = L2_PERIOD // gcd(stride, L2_PERIOD)
    share = places * row / L2_PERIOD
    return share < 1 and rows * row > share * machine.l2_bytes / 2


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
