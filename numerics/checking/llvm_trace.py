"""The results of operations of llvm functions, recorded by running a copy with extra stores.

After every operation with a scalar or vector result, the copy stores the result, and a mark, to a
place of its own:

    %s = llvm.fadd %a, %b : f32
    %at = llvm.inttoptr %place : i64 to !llvm.ptr
    llvm.store %s, %at : f32, !llvm.ptr

So an event has the value of the last execution. The events are in the order of the text.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...dialects import llvm
from ...ir.attributes import IntegerAttr
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.diagnostics import NncError
from ...ir.traits import ConstantLike, Terminator
from ...ir.types import FloatType, IntegerType, Type, VectorType, i8, i64, lane_type
from ..isolated import run_isolated
from ..native_functions import Leaf
from .running import Runner
from .subjects import Subject
from .trace import Event

_SLOT = 64
"""The bytes before each value, of which the first is the mark."""


@dataclasses.dataclass(frozen=True)
class _Slot:
    op: Operation
    type: Type
    offset: int


def trace_llvm(runner: Runner, subject: Subject, inputs: Callable[[], list[Any]]) -> list[Event]:
    """The events of running a module of the llvm dialect; [] if it cannot be run."""
    copy = runner.module.clone()
    slots, size = _slots(runner.module)
    memory = np.zeros(size + _SLOT, np.uint8)
    for slot, twin in zip(slots, _recorded(copy), strict=True):
        _record(twin, memory.ctypes.data + slot.offset)
    recording = Runner(copy, runner.options, runner.known)

    def work() -> bytes:
        recording.compiled(subject)(inputs())
        return memory.tobytes()

    try:
        data = run_isolated(work, seconds=runner.options.seconds).value
    except NncError:
        return []
    return [Event(slot.op, 0, [], [_value(data, slot)], []) for slot in slots if data[slot.offset]]


def _recorded(module: Operation) -> list[Operation]:
    """The operations whose results are recorded, in order."""
    return [
        op
        for function in module.body_block
        if isinstance(function, llvm.Func)
        for op in function.walk()
        if len(op.results) == 1 and _is_plain(op.results[0].type) and not _is_part_of_none(op)
    ]


def _is_part_of_none(op: Operation) -> bool:
    return (
        op.has_trait(ConstantLike)
        or op.has_trait(Terminator)
        or isinstance(op, llvm.Undef | llvm.Poison | llvm.Zero)
    )


def _is_plain(type: Type) -> bool:
    element = lane_type(type)
    if isinstance(element, IntegerType):
        return element.width in (8, 16, 32, 64) or (element.width == 1 and element is type)
    return isinstance(element, FloatType)


def _slots(module: Operation) -> tuple[list[_Slot], int]:
    slots, offset = [], 0
    for op in _recorded(module):
        type = op.results[0].type
        slots.append(_Slot(op, type, offset))
        count = math.prod(type.shape) if isinstance(type, VectorType) else 1
        offset += _SLOT + -(-8 * count // _SLOT) * _SLOT
    return slots, offset


def _record(op: Operation, address: int) -> None:
    """Insert stores of a mark and of the operation's result at the address."""
    builder = Builder.after_op(op)

    def constant(value: int, type: IntegerType) -> Value:
        return builder.insert(llvm.Constant(IntegerAttr(value, type), res=type)).results[0]

    def pointer(value: int) -> Value:
        return builder.insert(llvm.IntToPtr(constant(value, i64), res=llvm.ptr)).results[0]

    builder.insert(llvm.Store(constant(1, i8), pointer(address)))
    builder.insert(llvm.Store(op.results[0], pointer(address + _SLOT), alignment=1))


def _value(data: bytes, slot: _Slot) -> Any:
    leaf = Leaf(slot.type, (), 0)
    start = slot.offset + _SLOT
    return leaf.from_bytes(data[start : start + leaf.element_bytes * leaf.count])
