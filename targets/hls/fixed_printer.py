"""Functions on fixed-point numbers as HLS C++; floats remain where no such format fits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...dialects import arith, memref
from ...ir.core import Operation, Value
from ..source.memory import grouped
from ..source.printing import stripped
from ..source.vectors import address
from .fixed import EXACT, is_single
from .formats import Format
from .printer import HlsPrinter

_SIGNS = {"arith.addf": "+", "arith.subf": "-", "arith.mulf": "*"}


class FixedPrinter(HlsPrinter):
    """Prints one function whose floats are fixed-point numbers."""

    def format(self, value: Value) -> Format | None:
        """The fixed-point format of a value; None if it has none."""
        return self.ranges.formats.get(value)

    def declare(self, value: Value, expression: str) -> str:
        """Declare a name of the value's own type for an expression."""
        found = self.format(value)
        if found is None:
            return super().declare(value, expression)
        name = self.fresh("v")
        self.constant(found.text, name, expression)
        self.values[value] = name
        return name

    def operation(self, op: Operation) -> None:
        """Print an operation; a store converts its value to the buffer's format."""
        if not isinstance(op, memref.Store) or not is_single(op.value.type):
            super().operation(op)
            return
        base, at = address(self, op.memref, op.indices)
        found = self.ranges.of(op.memref)
        keeps = found.format is not None and not found.kind
        text = self.text_of(op.value) if keeps else self.as_float(op.value)
        self.line(f"{grouped(base)}[{at}] = {stripped(text)};")

    def expression(self, op: Operation) -> None:
        """Print an operation whose result is a fixed-point number, or is computed in floats."""
        (result,) = op.results
        found = self.format(result)
        if isinstance(op, arith.Constant) and found is not None:
            number = float(op.properties["value"].value)  # type: ignore[attr-defined]
            self.values[result] = f"{found.text}({number!r})"
        elif isinstance(op, memref.Load) and found is not None:
            base, at = address(self, op.memref, op.indices)
            self.declare(result, f"{found.text}({grouped(base)}[{at}])")
        elif op.name in EXACT and found is not None:
            self.declare(result, self.exact_text(op, found))
        elif op.name == "arith.cmpf" and all(map(self.format, op.operands)):
            super().expression(op)
        else:
            with self.floats(op):
                super().expression(op)

    def exact_text(self, op: Operation, found: Format) -> str:
        """The text of an operation that is exact in fixed point."""
        texts = [self.text_of(v) for v in op.operands]
        if op.name in _SIGNS:
            return f"{texts[0]} {_SIGNS[op.name]} {texts[1]}"
        if op.name == "arith.negf":
            return f"-{texts[0]}"
        if op.name == "arith.sitofp":
            bits = max(8, self.language.bits(op.operands[0].type))
            return f"{found.text}(({self.language.scalars[f'i{bits}']}){texts[0]})"
        a, b = (f"{found.text}({text})" for text in texts[-2:])
        test = texts[0] if op.name == "arith.select" else ""
        if not test:
            test = f"{texts[0]} {'>' if 'max' in op.name else '<'} {texts[1]}"
        return f"{grouped(test)} ? {a} : {b}"

    def as_float(self, value: Value) -> str:
        """A value converted to a float."""
        text = self.text_of(value)
        return text if self.format(value) is None else f"{grouped(text)}.to_float()"

    @contextmanager
    def floats(self, op: Operation) -> Iterator[None]:
        """Present fixed-point operands as floats while an operation is printed."""
        kept = {v: self.values[v] for v in op.operands if self.format(v) is not None}
        self.values.update({v: self.as_float(v) for v in kept})
        yield
        self.values.update(kept)
