"""The assembly directives of the nn ops with regions."""

from __future__ import annotations

from typing import Any

from ...ir.syntax.directive import Directive, directive
from ...ir.syntax.directives import WhileLoop
from ...ir.syntax.parts import ASSIGNMENTS, assignment_text, read_bound, read_region, region_text


@directive("BoundRegion")
class BoundRegion(Directive):
    """`(%a = %x, %b = %y) : (f32, f32) -> f32 {..}`: a region whose arguments are the operands.

    Arguments: $inputs, type($outs), $body.
    """

    fragment = 'bound_inputs ":" function_type region'
    rules = {"bound_inputs": '"(" ")" | assignments', **ASSIGNMENTS}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        inputs, outs, body = self.names
        assigned, type, region = child
        names = read_bound(state, assigned, type, inputs, outs)
        read_region(state, body, region, names, type.inputs)

    def write(self, op: Any, printer: Any) -> None:
        inputs, outs, body = (getattr(op, name) for name in self.names)
        type = printer.function_type([v.type for v in inputs], [v.type for v in outs])
        bound = assignment_text(printer, body.blocks[0].args, inputs)
        printer.out.append(f" {bound} : {type}")
        region_text(op, body, printer)


@directive("CarryingLoop")
class CarryingLoop(WhileLoop):
    """`(%x = %init) : (f32) -> f32 {..} do {..}`: the regions of a loop with carried values.

    The regions' arguments have the types of the first results; the initial values may have more or
    less precise types.
    """

    def carried(self, type: Any) -> Any:
        return type.results[: len(type.inputs)]
