"""Enumerations of a dialect whose attributes are printed as `#dialect<enumeration CASE>`."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from ..ir.parameters import Parameter, ParameterError, word_of
from .vocabulary import *


@attribute_class
class EnumerationAttr(Attribute):
    """Base of a dialect's attribute for all of its enumerations: `#gpu<dim x>` is the case `x` of
    `dim`. A subclass sets `name`, the dialect's.
    """

    kind: str
    value: str
    grammar: ClassVar[str] = '"<" BARE_ID BARE_ID ">"'

    @classmethod
    def from_syntax(cls, child: Sequence[Any]) -> EnumerationAttr:
        """The attribute for the parse tree of `<dim x>`."""
        return cls(child[0][0], child[1][0])

    def parameters_text(self) -> str:
        """The text after the dialect's name."""
        return f"<{self.kind} {self.value}>"


OfDialect = TypeVar("OfDialect", bound=EnumerationAttr)


def enumeration_kind(of: type[OfDialect], kind: str, *cases: str) -> AttrKind[str]:
    """The enumeration `kind` with its cases, as attributes of the class `of`.

    In the assembly format of an op a case stands by itself: `x` in place of `#gpu<dim x>`.
    """

    def read(piece: Any) -> Attribute:
        word = word_of(piece)
        if word not in cases:
            raise ParameterError(f"expected one of {', '.join(cases)}; found '{word}'")
        return of(kind, word)

    def allows(a: Any) -> bool:
        return isinstance(a, of) and a.kind == kind and a.value in cases

    return AttrKind(
        f"{kind} attribute",
        allows,
        lambda a: a.value,
        lambda word: of(kind, word),
        parameter=Parameter(read, lambda value, printer: value.value),
    )
