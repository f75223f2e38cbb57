"""The directives of stablehlo's ops with regions: reductions and loops."""

from __future__ import annotations

from ...ir.syntax.directive import Directive, directive, listed
from ...ir.syntax.literals import number_of
from ...ir.syntax.parts import ASSIGNMENTS, assignment_text, assignments_of
from ..vocabulary import *


@directive("Reduce")
class Reduce(Directive):
    """`(%x init: %a), (%y init: %b) across dimensions = [0] : (..) -> ..`, then
    `reducer(%0: .., %1: ..) (%2: .., %3: ..)  {..}`; or before `across`, `applies OP` for a body of
    one commutative operation.

    Arguments: $values, $dimensions, type($outs), $body, attr-dict.
    """

    fragment = 'pairs applies "across" "dimensions" "=" bare_array dict_opt ":" function_type body'
    rules = {  # noqa: RUF012
        "pairs": '"(" VALUE "init" ":" VALUE ")" | pairs "," "(" VALUE "init" ":" VALUE ")"',
        "applies": '| "applies" BARE_ID',
        "body": '| "reducer" reducer_args region',
        "reducer_args": '"(" block_arg "," block_arg ")" '
        '| reducer_args "(" block_arg "," block_arg ")"',
    }

    def read(self, child: Any, state: Any) -> None:
        values, dimensions, outs, body = self.names[:4]
        pairs, applies, dims, attributes, type, given = child
        pairs = listed(pairs, 2)
        state.operands[values] = [pair[0] for pair in pairs] + [pair[1] for pair in pairs]
        state.types[values], state.types[outs] = list(type.inputs), list(type.results)
        numbers = tuple(number_of(state.session, token, i64) for token in dims)
        state.properties[dimensions] = DenseArrayAttr(i64, numbers)
        state.add_attributes(attributes or {})
        if given and not applies:
            args = listed(given[0], 2)
            state.regions[body] = [given[1]]
            state.entry_args[body] = [
                tuple(arg) for side in (0, 1) for arg in (a[side] for a in args)
            ]
        elif applies and not given:
            _apply(state, applies[0], body, type.inputs)
        else:
            state.fail("expected the name of an operation, or a reducer")

    def write(self, op: Any, printer: Any) -> None:
        values, dimensions, _, body = (getattr(op, name) for name in self.names[:4])
        value, count = printer.value, len(values) // 2
        pairs = [f"({value(values[i])} init: {value(values[count + i])})" for i in range(count)]
        applied = applied_op(body, count)
        head = ", ".join(pairs) + (f" applies {applied}" if applied else "")
        numbers = ", ".join(map(str, dimensions))
        printer.out.append(f"{head} across dimensions = [{numbers}]")
        printer.attr_dict(op, (self.names[1],))
        printer.out.append(" : " + printer.function_type(op.operand_types, op.result_types))
        if not applied:
            args = body.blocks[0].args
            sides = zip(args[:count], args[count:], strict=True)
            text = "".join(f"({printer.argument(a)}, {printer.argument(b)}) " for a, b in sides)
            printer.out.append(f"\n{printer.indent} reducer{text} ")
            printer.region(body, entry_args=False)


def applied_op(body: Any, count: int) -> str:
    """The only operation of a reducer's body, where it may stand for the body."""
    ops = list(body.blocks[0].ops) if len(body.blocks) == 1 else []
    if count != 1 or len(ops) != 2:
        return ""
    made, last = ops
    args = list(body.blocks[0].args)
    plain = not made.attributes and not made.properties and not made.regions
    if not plain or list(made.operands) != args or list(last.operands) != list(made.results):
        return ""
    types = {value.type for value in (*made.operands, *made.results)}
    return made.name if made.name in COMMUTATIVE and len(types) == 1 else ""


COMMUTATIVE = frozenset(
    f"stablehlo.{word}" for word in ("add", "and", "maximum", "minimum", "multiply", "or", "xor")
)


def _apply(state: Any, token: Any, field: str, inputs: Any) -> None:
    """Have a body made of the operation that stands for it."""
    name, pos = token
    if name not in COMMUTATIVE:
        state.fail(f"expected an operation that may be reordered, found '{name}'", pos)
    if len(inputs) != 2 or not isinstance(inputs[0], TensorType):
        state.fail("only a reduction of one tensor can be said by an operation")
    state.regions[field] = [([], [])]
    element = TensorType((), inputs[0].element_type)

    def finish(op: Any) -> None:
        block = Block([element, element])
        cls: Any = registry.find_op(name)
        made = cls(*block.args, result=element, loc=op.loc)
        block.append(made)
        give: Any = registry.find_op("stablehlo.return")
        block.append(give.create([made.result], loc=op.loc))
        op.regions[0].append(block)

    state.finish.append(finish)


@directive("HloWhile")
class HloWhile(Directive):
    """`(%i = %a) : tensor<i32> attributes {..}`, then `cond {..} do {..}`.

    Arguments: $inits, type($outs), $cond, $body, attr-dict.
    """

    fragment = 'loop_inits keyword_dict_opt "cond" region "do" region'
    rules = {  # noqa: RUF012
        "loop_inits": '"(" ")" | assignments ":" types',
        **ASSIGNMENTS,
    }

    def read(self, child: Any, state: Any) -> None:
        inits, outs, cond, body = self.names[:4]
        given, attributes, first, second = child
        names, values = assignments_of(given[0]) if given else ([], [])
        types = list(given[1]) if given else []
        if len(types) != len(values):
            state.fail(f"expected as many types as values ({len(values)}), found {len(types)}")
        state.operands[inits] = values
        state.types[inits] = state.types[outs] = types
        state.add_attributes(attributes or {})
        for field, region in ((cond, first), (body, second)):
            state.regions[field] = [region]
            state.entry_args[field] = [(n, t, None) for n, t in zip(names, types, strict=True)]

    def write(self, op: Any, printer: Any) -> None:
        inits, _, cond, body = (getattr(op, name) for name in self.names[:4])
        text = "()"
        if inits:
            types = ", ".join([printer.type(v.type) for v in inits])
            text = f"{assignment_text(printer, cond.blocks[0].args, inits)} : {types}"
        printer.out.append(text)
        printer.attr_dict(op, keyword="attributes")
        printer.out.append(f"\n{printer.indent}cond ")
        printer.region(cond, entry_args=False)
        printer.out.append(" do ")
        printer.region(body, entry_args=False)
