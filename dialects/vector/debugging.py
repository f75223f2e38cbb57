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
        shown = ""
        if self.source is not None:
            shown = _shown(operands[0], getattr(self.source.type, "element_type", self.source.type))
            if getattr(self.source.type, "rank", None) == 0:
                shown = f"( {shown} )"
        frame.write(shown + marks[self.punctuation])
        return []


def _shown(value: Any, element: Type) -> str:
    """A number, or the parts of a vector; an index is printed without a sign, as upstream does."""
    if getattr(value, "ndim", 0):
        return "( " + ", ".join(_shown(part, element) for part in value) + " )"
    if isinstance(element, FloatType):
        return f"{float(value):g}"
    return str(int(value) % (1 << 64) if isinstance(element, IndexType) else int(value))


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
