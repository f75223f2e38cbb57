"""Printing values, and what scalable vectors depend on."""

from __future__ import annotations

from ..vocabulary import *
from .attributes import PrintPunctuation


class Print(Op, name="vector.print", traits=(WritesMemory,)):
    """Write a value to the standard output of the program, for debugging."""

    source: OptionalOperand = optional_operand(AnyType)
    punctuation = attribute(instance(PrintPunctuation), default="newline")

    stringLiteral: str | None = attribute(STRING, optional=True)  # noqa: N815

    format = (
        "($source^ `:` type($source))? oilist(`str` $stringLiteral | `punctuation` $punctuation) "
        "attr-dict"
    )
    example = "vector.print %v : vector<4xf32>"

    def verify_op(self) -> None:
        """A string stands alone."""
        alone = self.source is None and self.punctuation == "newline"
        if self.stringLiteral is not None and not alone:
            raise self.error(
                "failed to verify that `source` or `punctuation` are not set when printing strings"
            )

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        if self.stringLiteral is not None:
            frame.write(self.stringLiteral)
            return []
        marks = {"no_punctuation": "", "newline": "\n", "comma": ", ", "open": "( ", "close": " )"}
        frame.write((_shown(operands[0]) if operands else "") + marks[self.punctuation])
        return []


def _shown(value: Any) -> str:
    if getattr(value, "ndim", 0):
        return "( " + ", ".join(_shown(part) for part in value) + " )"
    return f"{value:g}" if value.dtype.kind == "f" else str(int(value))


class Vscale(Op, name="vector.vscale", traits=(Pure,)):
    """The factor by which scalable vectors are longer than their type says; the
    interpreter's is 1.
    """

    res: Result = result(Index)

    result_name = "vscale"
    format = "attr-dict"
    example = "%n = vector.vscale"

    def evaluate(self) -> Any:
        return np.int64(1)
