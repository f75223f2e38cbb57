"""The ranges of integers that kernels read from constants of the module, such as tables of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...dialects import memref, vector
from ...ir.core import Operation, Value
from ...ir.rewriting import constant_int
from ...ir.symbols import lookup_symbol
from ...ir.types import IndexType, IntegerType, MemRefType

Range = tuple[int, int]
"""(least value, greatest value)."""


@dataclass
class Tables:
    """The ranges of a kernel's reads of constants, each computed once.

    `outside` maps arguments of functions to the operands passed for them.
    """

    outside: Mapping[Value, Value]
    _known: dict[Value, Range | None] = field(default_factory=dict)

    def read(self, op: Operation) -> Range | None:
        """The range of what an operation reads; None if it reads no constant of the module.

        It includes what lanes get that are masked off or outside of the constant.
        """
        match op:
            case memref.Load():
                return self._of(op.memref)
            case vector.Gather():
                return self._masked(op.base, op.pass_thru)
            case vector.TransferRead() if op.mask is None and all(op.bounds):
                return self._of(op.base)
            case vector.TransferRead():
                return self._masked(op.base, op.padding)
        return None

    def _masked(self, buffer: Value, other: Value) -> Range | None:
        found, instead = self._of(buffer), constant_int(other)
        if found is None or instead is None:
            return None
        return min(found[0], instead), max(found[1], instead)

    def _of(self, buffer: Value) -> Range | None:
        """The range of a buffer's elements."""
        root = self._root(buffer)
        if root not in self._known:
            self._known[root] = _elements(root)
        is_as_it_is = root.type.element_type is buffer.type.element_type  # type: ignore[attr-defined]
        return self._known[root] if is_as_it_is else None

    def _root(self, buffer: Value) -> Value:
        """The buffer of the host that a memref of the kernel is a view of."""
        while True:
            base = memref.base_buffer(buffer)
            outside = self.outside.get(base)
            if outside is None:
                return base
            buffer = outside


def _elements(buffer: Value) -> Range | None:
    op: Any = buffer.defined_by(memref.GetGlobal)
    if op is None or not isinstance(buffer.type, MemRefType) or not buffer.type.num_elements:
        return None
    made = lookup_symbol(op, op.symbol)
    is_integer = isinstance(buffer.type.element_type, IntegerType | IndexType)
    if not (is_integer and isinstance(made, memref.Global) and made.constant):
        return None
    elements = made.initial_array()
    return int(elements.min()), int(elements.max())
