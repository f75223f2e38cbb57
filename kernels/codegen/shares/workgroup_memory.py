"""Buffers that a kernel allocates become those of its group of threads."""

from __future__ import annotations

from collections.abc import Callable

from ....dialects import gpu, memref
from ....ir.attributes import IntegerAttr
from ....ir.core import Operation, Value
from ....ir.types import MemRefType, i64


def is_of_group(op: Operation) -> bool:
    """Whether an operation makes a buffer in workgroup memory."""
    return isinstance(op, memref.Alloca) and gpu.is_workgroup(op.memref.type)


def move_to_group(kernel: gpu.GPUFuncOp, which: Callable[[Operation], bool] | None = None) -> None:
    """Turn allocations of constant size, or those in `which`, into workgroup memory arguments."""
    block = kernel.body.blocks[0]
    count = len(kernel.workgroup_buffers)
    for op in [o for o in kernel.walk() if isinstance(o, memref.Alloca)]:
        if which is not None and not which(op):
            continue
        type = op.results[0].type
        assert isinstance(type, MemRefType)
        place = MemRefType(type.shape, type.element_type, type.layout, gpu.WORKGROUP)
        buffer = block.add_arg(place)
        op.results[0].replace_all_uses_with(buffer)
        _retype(buffer)
        op.erase()
        count += 1
    kernel.attributes[gpu.SHARED] = IntegerAttr(count, i64)


def _retype(buffer: Value) -> None:
    """Set the memory space of a buffer's views to the buffer's."""
    for user, _ in list(buffer.uses):
        if not user.has_trait(memref.ViewLike):
            continue
        for result in user.results:
            type = result.type
            if isinstance(type, MemRefType):
                result.type = MemRefType(type.shape, type.element_type, type.layout, gpu.WORKGROUP)
                _retype(result)
