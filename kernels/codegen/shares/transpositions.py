"""Vectors that are read along one dimension of memory and written along another one.

Neighbouring threads of one layout ask for whole lines either where they read or where they write.
So the vector changes its layout in between, in workgroup memory:

    %v = vector.transfer_read %a[%j, %i]           %v = vector.transfer_read %a[%j, %i]
    ..                                     ->      vector.transfer_write %v, %buffer
    vector.transfer_write %w, %b[%i, %j]           %u = vector.transfer_read %buffer
                                                   ..
                                                   vector.transfer_write %w, %b[%i, %j]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dialects import gpu, memref, vector
from ....dialects.arith import Constant
from ....ir.affine import AffineDim, AffineMap
from ....ir.builder import Builder
from ....ir.core import Operation, Value
from ....ir.types import MemRefType, VectorType
from ....targets.attribute import target_of
from ...kernel_costs import buffer_bytes
from .alignment import Transfer, fastest_first, fastest_lane


def transpose_in_workgroup(
    kernel: gpu.GPUFuncOp, ops: Sequence[Operation], class_of: Callable[[Value], Value]
) -> int:
    """Put vectors through workgroup memory that are written along another dimension than read.

    `class_of` gives the same value for vectors that have the same layout. Returns how many vectors
    change their layout; those for which the memory does not suffice keep it.
    """
    written = dict[Value, list[int]]()
    for op in ops:
        if isinstance(op, vector.TransferWrite) and (lane := _lane(op)) is not None:
            written.setdefault(class_of(op.valueToStore), []).append(lane)
    room, found = _room(kernel), 0
    for op in ops:
        if not isinstance(op, vector.TransferRead) or (lane := _lane(op)) is None:
            continue
        lanes = written.get(class_of(op.results[0]), [])
        type = op.results[0].type
        assert isinstance(type, VectorType)
        bytes = buffer_bytes(MemRefType(type.shape, type.element_type)) or 0
        if lanes and lane not in lanes and bytes <= room:
            _through_rows(kernel, op)
            room -= bytes
            found += 1
    return found


def _lane(op: Transfer) -> int | None:
    """The dimension of several elements along which a vector lies side by side in global memory."""
    is_own = memref.base_buffer(op.base).defined_by(memref.Alloca) is not None
    lane = None if is_own or gpu.is_workgroup(op.base.type) else fastest_lane(op)
    value = op.results[0] if isinstance(op, vector.TransferRead) else op.valueToStore
    return lane if lane is not None and value.type.shape[lane] > 1 else None  # type: ignore[attr-defined]


def _room(kernel: gpu.GPUFuncOp) -> int:
    """The bytes of workgroup memory that a kernel's buffers leave."""
    made = [op.results[0] for op in kernel.walk() if isinstance(op, memref.Alloca)]
    taken = sum(buffer_bytes(b.type) or 0 for b in (*kernel.workgroup_buffers, *made))  # type: ignore[arg-type]
    return target_of(kernel).machine.nearest_memory.bytes - taken


def _through_rows(kernel: gpu.GPUFuncOp, read: vector.TransferRead) -> None:
    """Write what was read to a buffer, in rows as they lie in memory, and read it back."""
    value = read.results[0]
    type = value.type
    assert isinstance(type, VectorType)
    outwards = fastest_first(read, type.rank)
    order = list(reversed(outwards))
    shape = tuple(type.shape[d] for d in order)
    entry = Builder.at_start(kernel.body.blocks[0])
    memory = MemRefType(shape, type.element_type)
    buffer = entry.insert(memref.Alloca([], [], memref=memory)).results[0]
    at, users = Builder.after_op(read), list(value.uses)
    zero = at.insert(Constant.index(0)).result
    map = AffineMap(type.rank, 0, tuple(AffineDim(order.index(d)) for d in range(type.rank)))
    zeros, inside = [zero] * type.rank, [True] * type.rank
    at.insert(vector.TransferWrite.of(value, buffer, zeros, map, inside))
    beyond = at.insert(Constant.of(0, type.element_type)).result
    again = vector.TransferRead.of(buffer, zeros, beyond, type, map, inside)
    instead = at.insert(again).results[0]
    for user, number in users:
        user.set_operand(number, instead)
