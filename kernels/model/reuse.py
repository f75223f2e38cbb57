"""How much memory a run touches between two uses of a kernel's arguments: their reuse distances.

What a cache holds when a kernel begins follows from them. A cache keeps what was used last, so it
still holds an argument if no more bytes than it has were touched since the argument's last use:

    conv(x, w, y)     y: written; its memory is that of a buffer that is no longer needed
    relu(y, z)        y: the bytes of the convolution's arguments lie between, itself included
    ...               w: in the next run, after all that a run touches

Runs follow one another, so the weights of a model that fit the last-level cache stay there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...dialects import func, memref
from ...dialects.linalg.structured import StructuredOp
from ...dialects.marks import ENTRY, KERNEL
from ...dialects.memref import base_buffer
from ...ir.core import Operation, Value
from ...ir.types import MemRefType
from ..kernel_costs import buffer_bytes
from .executions import repetitions
from .extents import UNKNOWN_EXTENT

Reuse = tuple[tuple[float, ...], ...]
"""For each argument of a kernel, the bytes between its last use and this one in each of its calls;
none where that is unknown."""

Buffer = Value | str
"""A buffer: where it is allocated or handed in, or the name of a constant."""


def reuse_distances(module: Operation) -> dict[str, Reuse]:
    """The reuse distances of the arguments of all kernels that the entry calls, by kernel.

    Of a call in a loop, those of a later iteration.
    """
    events = list(_events(module))
    memory, last = _Memory(2 * len(events)), dict[func.Call, list[float | None]]()
    for event in (*events, *events):
        distances = memory.after(event)
        if event.call is not None:
            last[event.call] = distances
    found: dict[str, Reuse] = {}
    for call, distances in last.items():
        own = [() if one is None else (one,) for one in distances]
        known = found.get(call.callee, ((),) * len(own))
        found[call.callee] = tuple((*a, *b) for a, b in zip(known, own, strict=True))
    return found


# -- what happens in a run -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Event:
    """The call of a kernel or, if `call` is None, the end of a temporary buffer's life.

    `buffers` has (buffer, bytes) for each argument of the kernel; None for an argument that is no
    buffer, or of which the kernel reads only some elements, at computed indices.
    """

    call: func.Call | None
    buffers: tuple[tuple[Buffer, int] | None, ...]


def _events(module: Operation) -> Iterator[_Event]:
    """What a run of the entry does, in order; loops count as two iterations.

    In the first of them, loops inside count as one: it only fills the caches.
    """
    functions = func.functions_by_name(module)
    for function in functions.values():
        if ENTRY in function.attributes:
            yield from _inside(function, functions, {}, (), False)


def _inside(
    around: Operation,
    functions: Mapping[str, func.FuncOp],
    given: Mapping[Value, Buffer],
    callers: tuple[str, ...],
    once: bool,
) -> Iterator[_Event]:
    """What the regions of an operation do; `given` are the buffers of a function's arguments.

    Loops count as one iteration if `once` is set, else as two.
    """
    for region in around.regions:
        times = repetitions(around, region)
        count = min(2 if times is None else times, 1 if once else 2)
        for i in range(count):
            is_first = once or i + 1 < count
            for op in region.ops:
                if isinstance(op, func.Call):
                    yield from _called(op, functions, given, callers, is_first)
                elif isinstance(op, memref.Dealloc):
                    yield _Event(None, ((_buffer(op.operands[0], given), 0),))
                else:
                    yield from _inside(op, functions, given, callers, is_first)


def _called(
    call: func.Call,
    functions: Mapping[str, func.FuncOp],
    given: Mapping[Value, Buffer],
    callers: tuple[str, ...],
    once: bool,
) -> Iterator[_Event]:
    function = functions.get(call.callee)
    if function is None or call.callee in callers or not function.regions[0].blocks:
        return
    buffers = [_buffer(value, given) for value in call.operands]
    arguments = function.regions[0].blocks[0].args
    if KERNEL not in function.attributes:
        inner: dict[Value, Buffer] = dict(zip(arguments, buffers, strict=True))
        yield from _inside(function, functions, inner, (*callers, call.callee), once)
        return
    touched = [
        (buffer, _bytes(base_buffer(value))) if _is_read_whole(argument) else None
        for buffer, value, argument in zip(buffers, call.operands, arguments, strict=True)
    ]
    yield _Event(call, tuple(touched))


def _buffer(value: Value, given: Mapping[Value, Buffer]) -> Buffer:
    base = base_buffer(value)
    constant = base.defined_by(memref.GetGlobal)
    return given.get(base, base) if constant is None else constant.symbol


def _bytes(value: Value) -> int:
    found = buffer_bytes(value.type, UNKNOWN_EXTENT) if isinstance(value.type, MemRefType) else 0
    return found or 0


def _is_read_whole(argument: Value) -> bool:
    """Whether stages of a kernel have the argument or a view of it as an operand."""
    if not isinstance(argument.type, MemRefType):
        return False
    return any(
        isinstance(user, StructuredOp) or any(map(_is_read_whole, user.results))
        for user in argument.users
    )


# -- what lies where -------------------------------------------------------------------------------


@dataclass
class _Part:
    """Some bytes of a buffer, and the step of their last use."""

    bytes: int
    step: int


@dataclass
class _Memory:
    """All memory, with the step of its last use; each call of a kernel is one step.

    There are at most `steps` steps.
    """

    steps: int
    step: int = 0
    buffers: dict[Buffer, list[_Part]] = field(default_factory=dict)
    free: list[_Part] = field(default_factory=list)
    """The memory of buffers that have ended; the next one takes what ended last."""
    sums: list[int] = field(default_factory=list)
    """A Fenwick tree over the steps, of the bytes that were last used in each."""

    def __post_init__(self) -> None:
        self.sums = [0] * (self.steps + 2)

    def after(self, event: _Event) -> list[float | None]:
        """Carry out an event; returns the distances of the buffers that it touches."""
        if event.call is None:
            for ended in filter(None, event.buffers):
                self.free += self.buffers.pop(ended[0], [])
            return []
        own = [None if one is None else self._parts(*one) for one in event.buffers]
        total = self._until(self.step)
        found = [None if parts is None else self._distance(parts, total) for parts in own]
        self.step += 1
        for parts in filter(None, own):
            for part in parts:
                if part.step:
                    self._add(part.step, -part.bytes)
                part.step = self.step
                self._add(self.step, part.bytes)
        return found

    def _parts(self, buffer: Buffer, bytes: int) -> list[_Part]:
        """The memory of a buffer; a new temporary buffer first takes memory that is free."""
        if (known := self.buffers.get(buffer)) is not None:
            return known
        parts = self.buffers[buffer] = []
        is_temporary = isinstance(buffer, Value) and buffer.defined_by(memref.Alloc) is not None
        while is_temporary and bytes and self.free:
            last = self.free.pop()
            if last.bytes > bytes:
                self.free.append(_Part(last.bytes - bytes, last.step))
                last.bytes = bytes
            parts.append(last)
            bytes -= last.bytes
        if bytes:
            parts.append(_Part(bytes, 0))
        return parts

    def _distance(self, parts: list[_Part], total: int) -> float:
        """How many bytes were touched since the last use of `parts`, these included.

        It is the mean over all bytes of the parts; `total` are all bytes touched so far.
        """
        far = sum(part.bytes * (total - self._until(part.step - 1)) for part in parts)
        return far / max(1, sum(part.bytes for part in parts))

    def _until(self, step: int) -> int:
        """The bytes last used up to a step."""
        found = 0
        while step > 0:
            found += self.sums[step]
            step &= step - 1
        return found

    def _add(self, step: int, bytes: int) -> None:
        while step < len(self.sums):
            self.sums[step] += bytes
            step += step & -step
