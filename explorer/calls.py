"""The calls of kernels in the order of a run, and where each finds its buffers in memory."""

from __future__ import annotations

from dataclasses import dataclass

from ..dialects import memref
from ..dialects.memref.aliasing import ViewLike
from ..ir.core import Operation, Value
from ..ir.rewriting import constant_int
from ..ir.types import MemRefType
from ..memory.device_note import calls_of_kernels


@dataclass(frozen=True)
class Place:
    """A buffer's location: an offset in bytes into one of the model's memory blocks (the arena, the
    weights, an input or an output), which is given by its number.
    """

    block: int
    offset: int


@dataclass(frozen=True)
class KernelCall:
    """A call of a kernel, with the location of each of its arguments."""

    kernel: str
    places: tuple[Place, ...]


def calls_in_order(module: Operation) -> list[KernelCall]:
    """The calls of kernels that only take buffers, in the order of a planned module's text.

    A call in a loop or a branch occurs once. A buffer whose offset is known only at run time is a
    block of its own.
    """
    blocks: dict[Value | str, int] = {}

    def place(value: Value) -> Place:
        key, offset = _block_of(value)
        return Place(blocks.setdefault(key, len(blocks)), offset)

    return [
        KernelCall(call.callee, tuple(map(place, call.operands)))
        for call in calls_of_kernels(module)
        if all(isinstance(value.type, MemRefType) for value in call.operands)
    ]


def _block_of(value: Value) -> tuple[Value | str, int]:
    """The start of a chain of views, and the offset in bytes of the last view from it."""
    offset = 0
    while (op := value.defining_op) is not None and op.has_trait(ViewLike):
        source = op.operands[op.results.index(value)]
        step = _bytes_between(op, source, value)
        if step is None:
            break
        value, offset = source, offset + step
    if isinstance(op, memref.GetGlobal):
        return op.symbol, offset
    return value, offset


def _bytes_between(view: Operation, source: Value, value: Value) -> int | None:
    """The bytes from the first element of a view's source to that of the view; None if unknown."""
    if isinstance(view, memref.View):
        return constant_int(view.byte_shift)
    start, end = _offset(source), _offset(value)
    return None if start is None or end is None else end - start


def _offset(value: Value) -> int | None:
    """The bytes from a buffer's base to its first element; None if not static."""
    if not isinstance(value.type, MemRefType):
        return None
    found = value.type.strides_and_offset()
    if found is None or found[1] is None:
        return None
    return found[1] * value.type.element_type.byte_width
