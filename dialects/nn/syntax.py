"""The directive of nn's ops with a body."""

from __future__ import annotations

from typing import Any

from ...ir.syntax.directive import Directive, directive
from ...ir.syntax.parts import ASSIGNMENTS, assignment_text, assignments_of, region_text


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
        names, values = assignments_of(assigned[0]) if assigned else ([], [])
        if len(values) != len(type.inputs):
            state.fail(
                f"expected as many input types as operands (expected {len(values)} got "
                f"{len(type.inputs)})"
            )
        state.operands[inputs], state.types[inputs] = values, list(type.inputs)
        state.types[outs] = list(type.results)
        state.regions[body] = [region]
        state.entry_args[body] = [
            (name, t, None) for name, t in zip(names, type.inputs, strict=True)
        ]

    def write(self, op: Any, printer: Any) -> None:
        inputs, outs, body = (getattr(op, name) for name in self.names)
        type = printer.function_type([v.type for v in inputs], [v.type for v in outs])
        bound = assignment_text(printer, body.blocks[0].args, inputs)
        printer.out.append(f" {bound} : {type}")
        region_text(op, body, printer)
