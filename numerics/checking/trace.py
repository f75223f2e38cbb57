"""Records the operations of a run: their results, and the buffers that they wrote.

Of an operation that is executed often, in a loop or function, the first executions are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects import func
from ...dialects.memref.aliasing import is_buffer
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.traits import Pure, WritesMemory
from ..interpreter import Interpreter, Observer, TooManyStepsError

EXECUTIONS = 4
"""How many executions of an operation are kept, at most."""
MAX_BYTES = 1 << 28
"""The most bytes that a trace may have."""


@dataclass
class Event:
    """An execution of an operation: operands before it, results, and written buffers after it."""

    op: Operation
    number: int
    operands: list[Any]
    results: list[Any]
    written: list[tuple[int, np.ndarray]]
    """The operands that were written, each as (index, contents)."""

    @property
    def values(self) -> list[Any]:
        """All results and written buffers of the execution."""
        return [*self.results, *(array for _, array in self.written)]


class Tracer(Observer):
    """Keeps the events of a run."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.bytes = 0
        self._counts: dict[Operation, int] = {}
        self._open: list[tuple[Operation, Event]] = []

    def before_op(self, op: Operation, operands: list[Any]) -> None:
        """Copy the operands of an operation that is kept."""
        number = self._counts.get(op, 0)
        self._counts[op] = number + 1
        if number >= EXECUTIONS or self.bytes > MAX_BYTES:
            return
        event = Event(op, number, [_copied(v) for v in operands], [], [])
        self.bytes += sum(getattr(v, "nbytes", 0) for v in event.operands)
        self._open.append((op, event))

    def after_op(self, op: Operation, operands: list[Any], results: list[Any]) -> None:
        """Keep the operation's results and written buffers."""
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


def buffers_written(op: Operation) -> list[int]:
    """The indices of the operands that are memrefs and may be written by the operation."""
    if isinstance(op, func.Call):
        return [i for i, v in enumerate(op.operands) if is_buffer(v)]
    if op.regions and not hasattr(op, "outputs"):
        return []
    outputs = list(getattr(op, "outputs", ()))
    if outputs:
        return [i for i, v in enumerate(op.operands) if v in outputs and is_buffer(v)]
    if not op.has_trait(WritesMemory):
        return []
    return [i for i, v in enumerate(op.operands) if is_buffer(v)]


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def trace(
    module: Operation, name: str, arguments: list[Any], max_steps: int
) -> tuple[bool, list[Event]]:
    """Whether the run finished, and its events in the order in which operations ended.

    If there are more than `max_steps` operations, the events are those up to there.
    """
    interpreter = Interpreter(module, max_steps=max_steps, write=lambda text: None)
    tracer = interpreter.observer = Tracer()
    with np.errstate(all="ignore"):
        try:
            interpreter.call(name, arguments)
        except TooManyStepsError:
            return False, tracer.events
        except NncError:
            pass
    return True, tracer.events


def is_view(op: Operation) -> bool:
    """Whether the operation only makes a view of a buffer."""
    return op.has_trait(Pure) and any(is_buffer(r) for r in op.results)
