"""Which buffers operations read and write, also in the functions that they call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..dialects import cf, func, memref
from ..dialects.linalg.structured import StructuredOp
from ..ir.core import BlockArgument, Operation, Value
from ..ir.traits import (
    AllocatesMemory,
    NoMemoryEffect,
    Pure,
    ReadsMemory,
    RecursiveEffects,
    Terminator,
    WritesMemory,
)
from ..ir.types import MemRefType, UnrankedMemRefType

_NONE = (Pure, NoMemoryEffect, AllocatesMemory, Terminator)


@dataclass
class Touched:
    """The buffers that an operation reads or writes, and which of these it writes.

    If `unknown` is set, it may read and write any buffer.
    """

    used: set[Value | str] = field(default_factory=set)
    written: set[Value | str] = field(default_factory=set)
    unknown: bool = False

    def add(self, values: Iterable[Value], written: bool) -> None:
        """Add the buffers that these values are, or are views of."""
        for value in values:
            buffer = _buffer(value)
            if buffer is None:
                self.unknown = True
                continue
            self.used.add(buffer)
            if written:
                self.written.add(buffer)

    def merge(self, other: Touched) -> None:
        """Add the buffers that other operations touch."""
        self.used |= other.used
        self.written |= other.written
        self.unknown |= other.unknown

    def conflicts(self, other: Touched) -> bool:
        """Whether the order of both matters."""
        if self.unknown or other.unknown:
            return bool(self.unknown or self.used) and bool(other.unknown or other.used)
        return not (self.written.isdisjoint(other.used) and other.written.isdisjoint(self.used))


def _buffer(value: Value) -> Value | str | None:
    """The buffer, or the name of the global, behind a memref; None if it may be one of several.

    The arguments of a function are different buffers.
    """
    base = memref.base_buffer(value)
    made = base.defining_op
    if isinstance(made, memref.GetGlobal):
        return made.symbol
    if isinstance(made, memref.Alloc | memref.Alloca | func.Call):
        return base
    is_argument = isinstance(base, BlockArgument) and isinstance(base.owner.parent_op, func.FuncOp)
    return base if is_argument else None


class CallEffects:
    """What operations of a module's functions do to buffers."""

    def __init__(self, functions: dict[str, func.FuncOp]) -> None:
        self.functions = functions
        self._written: dict[str, Sequence[int] | None] = {}

    def of(self, op: Operation) -> Touched:
        """The buffers that an operation touches, its regions and what it calls included."""
        found = Touched()
        self._add(op, found)
        return found

    def _add(self, op: Operation, found: Touched) -> None:
        buffers = [v for v in op.operands if isinstance(v.type, MemRefType | UnrankedMemRefType)]
        match op:
            case StructuredOp():
                found.add(buffers, written=False)
                found.add(op.outputs, written=True)
            case memref.Copy():
                found.add([op.source], written=False)
                found.add([op.target], written=True)
            case func.Call():
                self._add_call(op, buffers, found)
            case cf.Assert():
                pass
            case _ if any(map(op.has_trait, _NONE)):
                pass
            case _ if op.has_trait(RecursiveEffects):
                for inner in (inner for region in op.regions for inner in region.ops):
                    self._add(inner, found)
            case _ if op.has_trait(ReadsMemory) or op.has_trait(WritesMemory):
                found.add(buffers, written=op.has_trait(WritesMemory))
            case _:
                found.unknown = True

    def _add_call(self, op: func.Call, buffers: list[Value], found: Touched) -> None:
        written = self._writes_of(op.callee)
        if written is None:
            found.unknown = True
            return
        found.add(buffers, written=False)
        found.add((op.args[i] for i in written), written=True)

    def _writes_of(self, name: str) -> Sequence[int] | None:
        """The numbers of the arguments that a function writes; None if it may write others."""
        if name not in self._written:
            self._written[name] = None  # of a function that calls itself
            function, found = self.functions.get(name), Touched(unknown=True)
            if function is not None and not function.is_declaration:
                found = Touched()
                for block in function.body.blocks:
                    for op in block:
                        self._add(op, found)
            only_buffers = not any(isinstance(one, str) for one in found.written)
            if not found.unknown and function is not None and only_buffers:
                self._written[name] = [a.index for a in function.args if a in found.written]
        return self._written[name]
