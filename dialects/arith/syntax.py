"""The directive of arith.select."""

from __future__ import annotations

from ...ir.syntax.directive import Directive, directive
from ..vocabulary import *


@directive("SelectType")
class SelectType(Directive):
    """`vector<4xi1>, vector<4xf32>`, or one type where the condition is i1.

    Arguments: type($condition), type($result).
    """

    fragment = "select_types"
    rules = {"select_types": 'type | type "," type'}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        types = child[0]
        condition, result = self.names
        state.types[condition] = [types[0] if len(types) == 2 else i1]
        state.types[result] = [types[-1]]

    def write(self, op: Any, printer: Any) -> None:
        condition, result = (getattr(op, name).type for name in self.names)
        text = printer.type(result)
        if condition is not i1:
            text = f"{printer.type(condition)}, {text}"
        printer.out.append(" " + text)
