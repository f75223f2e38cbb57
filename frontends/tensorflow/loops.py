"""Analyzes a loop before it is made: its number of iterations, and its unchanged states.

One iteration is imported for inspection, and dropped:

    i + 1 -> i, i < n     ->  n iterations where i starts at 0
    n -> n                ->  n stays outside
    set(list, i, item)    ->  the items of all iterations are the list
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects import nn
from ...ir.core import Block, Value
from ...ir.types import TensorType, i64
from ..common.graph import Graph
from ..common.layer import Layer
from .lists import NeedsStack, Stacks, TensorList

Given = Callable[..., Any]


@dataclass(frozen=True)
class Counted:
    """The unchanged states of a loop, and the number of iterations if it is known.

    `limit` is that number as a 0-d i64 computed at run time. `written` are the lists that are only
    written, with the element that each iteration writes, None for its own.
    """

    fixed: tuple[int, ...]
    written: dict[int, int | None]
    count: int | None = None
    limit: Value | None = None


def kept(body: Graph) -> tuple[int, ...]:
    """The inputs that a body returns unchanged."""
    makers = {node.outputs[0]: node for node in body.nodes if node.kind == "Identity"}
    found = []
    for i, (given, (_, value)) in enumerate(zip(body.inputs, body.outputs, strict=False)):
        for _ in range(len(makers) + 1):
            if value not in makers:
                break
            value = makers[value].inputs[0]
        if value == given.name:
            found.append(i)
    return tuple(found)


class Look:
    """Inspects a loop: one iteration, imported into a block that is dropped.

    `given` makes the body's states from block arguments, one for each carried state. Raises
    NeedsStack if the loop reads a list that it should only write.
    """

    def __init__(
        self,
        n: Layer,
        inits: Sequence[Any],
        cond: Callable[[Sequence[Any]], Value],
        body: Callable[[Sequence[Any]], list[Any]],
        given: Given,
        fixed: tuple[int, ...],
        carried: Sequence[int],
    ) -> None:
        self.n, self.inits, self.fixed = n, inits, fixed
        self.block = Block([_type(inits[i]) for i in carried])
        self.states: list[Any] = []
        arguments = iter(self.block.args)
        try:
            with n.builder.inside(self.block):
                self.states = [given(i, arguments) for i in range(len(inits))]
                self.going = cond(self.states)
                self.after = body(self.states)
        except (NeedsStack, Stacks):
            self.drop()
            raise

    def drop(self) -> None:
        """Drop the iteration."""
        self.block.erase()

    def result(self) -> Counted:
        """The result of the inspection; drops the iteration."""
        written: dict[int, int | None] = {}
        for i, value in enumerate(self.after):
            if isinstance(value, TensorList) and value.written is not None:
                at = value.written.index
                if not isinstance(at, int) and self._step(at, written_by=True) is None:
                    self.drop()
                    raise NeedsStack(i)
                written[i] = at if isinstance(at, int) else None
        count, limit = self._trips()
        self.drop()
        return Counted(self.fixed, written, count, limit)

    def _trips(self) -> tuple[int | None, Value | None]:
        """The number of iterations, known at import or computed."""
        bounds: list[Value] = []
        waiting = [self.going]
        while waiting:
            one = waiting.pop()
            known = self.n.known(one)
            if known is not None and known.all():
                continue
            op = one.defining_op
            if isinstance(op, nn.And):
                waiting += list(op.operands)
                continue
            if not isinstance(op, nn.Less):
                return None, None
            left, right = op.operands
            start = self._step(left)
            if start is None or self._is_inside(right):
                return None, None
            bounds.append(_difference(self.n, right, start))
        if not bounds:
            return None, None
        total = bounds[0]
        for other in bounds[1:]:
            total = self.n(nn.Min(total, other))
        total = self.n(nn.Max(total, self.n.constant(0, i64)))
        known = self.n.known(total)
        return (None, total) if known is None else (int(known), None)

    def _step(self, value: Value, written_by: bool = False) -> Value | None:
        """The start of a counter that goes up by one, if the value is its state; else None.

        An index that lists are written by has to start at 0.
        """
        value = _uncast(value)
        for i, state in enumerate(self.states):
            if state is not value or i in self.fixed:
                continue
            op = self.after[i].defining_op
            if not isinstance(op, nn.Add):
                return None
            by = [self.n.known(v) for v in op.operands]
            one = any(v is not None and v.size == 1 and np.all(v == 1) for v in by)
            if not one or not any(v is value for v in op.operands):
                return None
            start = self.inits[i]
            known = self.n.known(start)
            if written_by and (known is None or int(known.reshape(-1)[0])):
                return None
            return start
        return None

    def _is_inside(self, value: Value) -> bool:
        """Whether a value is made in the iteration, or is one of its states."""
        if value in self.block.args:
            return True
        op = value.defining_op
        return op is not None and op.parent is self.block


def _uncast(value: Value) -> Value:
    while isinstance(value.defining_op, nn.Cast | nn.Reshape):
        value = value.defining_op.operands[0]
    return value


def _difference(n: Layer, end: Value, start: Value) -> Value:
    """end - start as a 0-d i64, in the block outside."""
    wide = [n(nn.Reshape(n.cast(v, i64), out=TensorType((), i64))) for v in (end, start)]
    return n(nn.Sub(*wide))


def _type(state: Any) -> Any:
    """The type of a state, if the program has it as a value."""
    value = state.stack if isinstance(state, TensorList) else state
    assert isinstance(value, Value)
    return value.type
