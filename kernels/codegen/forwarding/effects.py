"""Which buffers the operations of a function read and write, and which may share memory."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from ....dialects import memref
from ....dialects.func import Call
from ....dialects.marks import KERNEL
from ....dialects.memref import ViewLike, base_buffer
from ....ir.core import BlockArgument, Operation, Value
from ....ir.rewriting import constant_int
from ....ir.traits import (
    AllocatesMemory,
    NoMemoryEffect,
    Pure,
    ReadsMemory,
    Terminator,
    WritesMemory,
)
from ....ir.types import MemRefType, UnrankedMemRefType


class Everything(frozenset):
    """The set of all buffers, for operations that may touch any."""

    def __contains__(self, item: object) -> bool:
        return True

    def __or__(self, other: Any) -> Everything:
        return self

    __ror__ = __or__


EVERYTHING = Everything()
NOTHING: frozenset = frozenset()
Buffers = frozenset


class Effects:
    """What the operations of a function do to memory.

    Each answer is found once and remembered, those of operations with regions too.
    """

    def __init__(self, function: Operation) -> None:
        self.function = function
        self._aliases: dict[Value, Hashable] = {}
        self._whole: dict[Operation, tuple[Buffers, Buffers]] = {}
        self._ranges = _view_ranges(function)
        is_kernel = KERNEL in function.attributes
        self._is_separate = is_kernel and all(map(self._is_known, _buffers(function)))

    # -- what may share memory -----------------------------------------------------------------

    def alias(self, buffer: Value) -> Hashable:
        """A key that is equal for all buffers that may share memory."""
        known = self._aliases.get(buffer)
        if known is None:
            known = self._aliases[buffer] = self._alias(buffer)
        return known

    def _alias(self, buffer: Value) -> Hashable:
        root = buffer
        while (op := root.defining_op) is not None and op.has_trait(ViewLike):
            if op in self._ranges:
                if self._is_separate or _is_made_here(base_buffer(root)):
                    return self._ranges[op]
                break
            root = op._operands[op.results.index(root)]
        if _is_made_here(root):
            return root
        if not self._is_separate:
            return "shared"
        made = root.defining_op
        return made.properties["name"] if isinstance(made, memref.GetGlobal) else root

    def _is_known(self, buffer: Value) -> bool:
        """Whether a buffer is certainly an argument, an allocation or a global of the function."""
        root = base_buffer(buffer)
        if isinstance(root, BlockArgument):
            return root.owner is self.function.regions[0].blocks[0]
        return isinstance(root.defining_op, memref.Alloc | memref.Alloca | memref.GetGlobal)

    # -- effects -----------------------------------------------------------------------------

    def of(self, op: Operation) -> tuple[Buffers, Buffers]:
        """The keys of the buffers that an operation touches, and of those that it writes."""
        if op.regions:
            known = self._whole.get(op)
            if known is None:
                known = self._whole[op] = self._of_nested(op)
            return known
        traits = type(op).traits
        if Pure in traits or NoMemoryEffect in traits or AllocatesMemory in traits:
            return NOTHING, NOTHING
        if Terminator in traits or isinstance(op, memref.Prefetch):
            return NOTHING, NOTHING
        if WritesMemory in traits or ReadsMemory in traits or isinstance(op, memref.Dealloc):
            values = [v for v in op._operands if isinstance(v.type, MemRefType)]
            if any(isinstance(v.type, UnrankedMemRefType) for v in op._operands):
                return EVERYTHING, EVERYTHING
            touched = frozenset(self.alias(v) for v in values)
            is_read = ReadsMemory in traits and WritesMemory not in traits
            return touched, (NOTHING if is_read else touched)
        return EVERYTHING, EVERYTHING

    def _of_nested(self, op: Operation) -> tuple[Buffers, Buffers]:
        touched: Buffers = NOTHING
        written: Buffers = NOTHING
        for region in op.regions:
            for inner in region.ops:
                one, two = self.of(inner)
                touched, written = touched | one, written | two
        return touched, written


def _is_made_here(root: Value) -> bool:
    return isinstance(root.defining_op, memref.Alloc | memref.Alloca)


def _buffers(function: Operation) -> Iterable[Value]:
    """The memrefs that operations which touch memory have as operands."""
    for op in function.walk():
        if Pure not in type(op).traits:
            for value in op._operands:
                if isinstance(value.type, MemRefType):
                    yield value


def _view_ranges(function: Operation) -> dict[Operation, Hashable]:
    """For each typed view of bytes at a known offset, a key that overlapping views share.

    Views of one source whose bytes do not overlap have different keys.
    """
    found: dict[Value, list[tuple[int, int, memref.View]]] = {}
    unknown: set[Value] = set()
    for op in function.walk():
        if isinstance(op, memref.View):
            start, type = constant_int(op.byte_shift), op.result.type
            others = (u for u in op.source.users if not isinstance(u, memref.View | Call))
            if start is None or not type.has_static_shape or any(others):
                unknown.add(op.source)
            else:
                found.setdefault(op.source, []).append((start, start + type.num_bytes, op))
    ranges: dict[Operation, Hashable] = {}
    for source, views in found.items():
        end, number = -1, -1
        for first, last, op in sorted(views, key=lambda v: v[:2]):
            if first >= end:
                number += 1
            end = max(end, last)
            if source not in unknown:
                ranges[op] = (source, number)
    return ranges
