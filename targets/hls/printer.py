"""Functions of loops as HLS C++: arrays as parameters, and pragmas where loops are marked."""

from __future__ import annotations

from typing import Any

from ...dialects import memref
from ...dialects.marks import ENTRY, PIPELINE, REPLICATE
from ...ir.attributes import IntegerAttr
from ...ir.core import Operation, Value
from ...ir.types import MemRefType
from ..source.facts import Facts
from ..source.language import Language
from ..source.module import constant
from ..source.printer import FunctionPrinter
from .ranges import Ranges
from .storage import kind_of, parts_of


class HlsPrinter(FunctionPrinter):
    """Prints one function of hardware."""

    def __init__(
        self, language: Language, facts: Facts, op: Any, ranges: Ranges, top: str, exact: bool
    ) -> None:
        if ENTRY in op.attributes:
            facts.names[op.sym_name] = top
        super().__init__(language, facts, op)
        self.ranges, self.exact = ranges, exact

    def head(self, named: bool = False) -> str:
        """The declaration of the function; only the entry is visible to other files."""
        found = super().head(named)
        return found.removeprefix("static ") if ENTRY in self.op.attributes else found

    def parameters(self, arg: Value, hint: str, own: bool) -> list[str]:
        """An argument as an array of known size, partitioned by its parallel accesses."""
        if not isinstance(arg.type, MemRefType):
            return super().parameters(arg, hint, own)
        (name,) = self.bind_names(arg, hint)
        const = "const " if self.facts.reads.only(arg) else ""
        if ENTRY not in self.op.attributes:
            self.partition(name, arg)
        return [f"{const}{self.element_kind(arg)} {name}[{max(1, arg.type.num_elements)}]"]

    def given_type(self, arg: Value) -> str:
        """The type of the entry's own argument."""
        return f"{self.element_kind(arg)} *"

    def local(self, name: str, buffer: Value) -> None:
        """Declare an array, and how it is partitioned."""
        super().local(name, buffer)
        self.partition(name, buffer, self.first + 1)

    def partition(self, name: str, buffer: Value, at: int | None = None) -> None:
        """Add the pragma that partitions an array into several memories."""
        found = parts_of(self.ranges.of(buffer), buffer.type.num_elements)
        if found is not None:
            how = found.kind if found.count is None else f"{found.kind} factor={found.count}"
            line = f"#pragma HLS ARRAY_PARTITION variable={name} {how}"
            self.lines.insert(len(self.lines) if at is None else at, line)

    def element_kind(self, buffer: Value) -> str:
        """The smallest type that holds a buffer's elements."""
        return kind_of(self.ranges.of(buffer), super().element_kind(buffer), self.exact)

    def enter(self, op: Operation) -> None:
        """Print the pragmas of a loop."""
        interval = op.attributes.get(PIPELINE)
        if isinstance(interval, IntegerAttr):
            self.lines.append(f"#pragma HLS PIPELINE II={interval.value}")
        if REPLICATE in op.attributes:
            self.lines.append("#pragma HLS UNROLL")


def constant_text(
    op: memref.Global, name: str, language: Language, ranges: Ranges, exact: bool
) -> str:
    """A constant array in the smallest type that holds it; empty if nothing reads it."""
    found = ranges.constant(op.sym_name)
    if found is None:
        return ""
    declared = language.scalars[language.stored(op.type.element_type)]
    kind = kind_of(found, declared, exact)
    return constant(op, name, language, kind if kind != declared else "")
