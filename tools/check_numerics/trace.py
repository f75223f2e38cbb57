"""What the operations of one function made: values, and the buffers that they wrote.

Of an operation in a loop the first executions are kept. An operation that holds a loop counts
as one that writes what the loop writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects import func, llvm
from ...ir.core import Operation, Value
from ...ir.diagnostics import NncError
from ...ir.traits import Pure, WritesMemory
from ...ir.types import MemRefType
from ...runtime.interpreter import Interpreter, Observer

EXECUTIONS = 4
"""How many executions of an operation are kept."""
MAX_BYTES = 1 << 28
"""How much one trace may hold."""


@dataclass
class Event:
    """One execution: the operands as they were before, the results, the buffers after."""

    op: Operation
    number: int
    operands: list[Any]
    results: list[Any]
    written: list[tuple[int, np.ndarray]]
    """By operand, or by position in `buffers_written` for an operation with regions."""

    @property
    def values(self) -> list[Any]:
        """All that the execution made."""
        return [*self.results, *(array for _, array in self.written)]


class Tracer(Observer):
    """Keeps the events of one function's operations, of its first activation's calls too."""

    def __init__(self, function: Operation) -> None:
        self.function = function
        self.events: list[Event] = []
        self.bytes = 0
        self._counts: dict[Operation, int] = {}
        self._inside: dict[Operation, bool] = {}
        self._open: list[tuple[Operation, Event]] = []

    def before_op(self, op: Operation, operands: list[Any]) -> None:
        """Copy the operands of an operation that is kept."""
        if not self._is_inside(op):
            return
        number = self._counts.get(op, 0)
        self._counts[op] = number + 1
        if number >= EXECUTIONS or self.bytes > MAX_BYTES:
            return
        event = Event(op, number, [_copied(v) for v in operands], [], [])
        self.bytes += sum(getattr(v, "nbytes", 0) for v in event.operands)
        self._open.append((op, event))

    def after_op(self, op: Operation, operands: list[Any], results: list[Any]) -> None:
        """Keep what it made."""
        if not self._open or self._open[-1][0] is not op:
            return
        _, event = self._open.pop()
        event.results = [_copied(v) for v in results]
        for i in buffers_written(op):
            array = operands[i]
            if isinstance(array, np.ndarray):
                event.written.append((i, array.copy()))
        self.bytes += sum(getattr(v, "nbytes", 0) for v in event.values)
        self.events.append(event)

    def _is_inside(self, op: Operation) -> bool:
        found = self._inside.get(op)
        if found is None:
            at = op.parent_op
            while at is not None and at is not self.function:
                at = at.parent_op
            found = self._inside[op] = at is self.function
        return found


def buffers_written(op: Operation) -> list[int]:
    """The operands that are memrefs the operation may write to."""
    if isinstance(op, func.Call):
        return [i for i, v in enumerate(op.operands) if isinstance(v.type, MemRefType)]
    if op.regions and not hasattr(op, "outputs"):
        return []
    outputs = list(getattr(op, "outputs", ()))
    if outputs:
        return [i for i, v in enumerate(op.operands) if v in outputs and _is_buffer(v)]
    if not op.has_trait(WritesMemory):
        return []
    return [i for i, v in enumerate(op.operands) if _is_buffer(v)]


def _is_buffer(value: Value) -> bool:
    return isinstance(value.type, MemRefType)


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def trace(
    module: Operation, name: str, arguments: list[Any], max_steps: int
) -> tuple[list[Event], list[Any] | None]:
    """The events of a run, in the order in which operations ended, and its results.

    A run that fails or takes too long gives the events up to there, and None.
    """
    interpreter = Interpreter(module, max_steps=max_steps, write=lambda text: None)
    tracer = interpreter.observer = Tracer(interpreter.symbols[name])
    results = None
    with np.errstate(all="ignore"):
        try:
            results = interpreter.call(name, arguments)
        except NncError:
            results = None
    return tracer.events, results


def defining_event(events: list[Event], value: Value) -> Event | None:
    """The event whose operation defines the value."""
    for event in events:
        if event.op is value.defining_op:
            return event
    return None


def is_view(op: Operation) -> bool:
    """Whether the operation only looks at a buffer in another way."""
    return op.has_trait(Pure) and any(isinstance(r.type, MemRefType) for r in op.results)


def walk_functions(module: Operation) -> Iterator[Operation]:
    """The functions with a body."""
    for op in module.body_block:
        if isinstance(op, func.FuncOp | llvm.Func) and not op.is_declaration:
            yield op
