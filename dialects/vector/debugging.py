"""Printing values, and what scalable vectors depend on."""

from __future__ import annotations

from typing import Any

from ...ir.constraints import AnyType, Index
from ...ir.declare import (
    Op,
    OptionalOperand,
    Result,
    attribute,
    instance,
    optional_operand,
    result,
)
from ...ir.traits import Pure, WritesMemory
from .attributes import PrintPunctuation


class Print(Op, name="vector.print", traits=(WritesMemory,)):
    """Write a value to the standard output of the program, for debugging."""

    source: OptionalOperand = optional_operand(AnyType)
    punctuation = attribute(instance(PrintPunctuation), default="newline")

    format = "($source^ `:` type($source))? custom<Punctuation>($punctuation) attr-dict"
    example = "vector.print %v : vector<4xf32>"

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        marks = {"no_punctuation": "", "newline": "\n", "comma": ", ", "open": "( ", "close": " )"}
        frame.write((_shown(operands[0]) if operands else "") + marks[self.punctuation])
        return []


def _shown(value: Any) -> str:
    if getattr(value, "ndim", 0):
        return "( " + ", ".join(_shown(part) for part in value) + " )"
    return f"{value:g}" if value.dtype.kind == "f" else str(int(value))


class Vscale(Op, name="vector.vscale", traits=(Pure,)):
    """How many times longer scalable vectors are than their type says; 1 while interpreting."""

    res: Result = result(Index)

    result_name = "vscale"
    format = "attr-dict"
    example = "%n = vector.vscale"

    def evaluate(self) -> Any:
        import numpy as np

        return np.int64(1)
