"""The assembly directives of linalg: operands in two groups, and bodies that follow
from the name.
"""

from __future__ import annotations

from ...ir.syntax.directive import Directive, directive
from ...ir.syntax.literals import number_of
from ...ir.syntax.parts import (
    ARROW_RULES,
    TRAIT,
    arrow_types,
    iterators_from_strings,
    structured_dict,
    trait_entries,
    types_of_arrow,
)
from ..vocabulary import *
from .attributes import IteratorType

OPERANDS = {
    "ins": '| "ins" "(" values ":" types ")"',
    "outs": '| "outs" "(" values ":" types ")"',
}


def operands_text(printer: Any, word: str, values: Any) -> str:
    """` ins(%a, %b : f32, f32)`, or "" if there are no values."""
    if not values:
        return ""
    types = ", ".join([printer.type(v.type) for v in values])
    return f" {word}({printer.values(values)} : {types})"


_GENERIC = ("doc", "indexing_maps", "iterator_types", "library_call")


@directive("LinalgGeneric")
class LinalgGeneric(Directive):
    """`{indexing_maps = .., iterator_types = ..} ins(..) outs(..) attrs = {..} {..} -> type`

    Arguments: $inputs, $outputs, $body_region, type($result_tensors), attr-dict.
    """

    fragment = "trait dict_opt ins outs generic_attrs region arrow_types"
    rules = {  # noqa: RUF012
        "generic_attrs": '| "attrs" "=" trait',
        **TRAIT,
        **OPERANDS,
        **ARROW_RULES,
    }

    def read(self, child: Any, state: Any) -> None:
        inputs, outputs, body, results = self.names[:4]
        head, more, ins, outs, attrs, region, arrow = child
        state.add_attributes(trait_entries(state, head))
        state.add_attributes(more or {})
        if attrs:
            state.add_attributes(trait_entries(state, attrs[0]))
        iterators_from_strings(state, IteratorType)
        for name, given in ((inputs, ins), (outputs, outs)):
            state.operands[name] = given[0] if given else []
            state.types[name] = given[1] if given else []
        state.regions[body] = [region]
        state.types[results] = types_of_arrow(arrow)

    def write(self, op: Any, printer: Any) -> None:
        inputs, outputs, body, results = (getattr(op, name) for name in self.names[:4])
        text = f" {structured_dict(op, _GENERIC, printer)}"
        text += operands_text(printer, "ins", inputs) + operands_text(printer, "outs", outputs)
        attributes = printer.free_attributes(op, _GENERIC)
        if attributes:
            text += f" attrs =  {{{printer.entries(attributes)}}}"
        printer.out.append(text + " ")
        printer.region(body)
        printer.out.append(arrow_types(printer, [v.type for v in results], True))


@directive("ImpliedBody")
class ImpliedBody(Directive):
    """A body that follows from the op's name, and is not in the text. Argument: $body_region.

    The op's method `complete` makes it. Maps that differ from the op's `implied_maps` are written
    before the operands: `indexing_maps = [..]`.
    """

    fragment = "given_maps properties_opt"
    rules = {"given_maps": '| "indexing_maps" "=" "[" attributes "]"'}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        if child[0]:
            state.properties["indexing_maps"] = ArrayAttr(tuple(child[0][0]))
        state.add_properties(child[1] or {})
        state.regions[self.names[0]] = [([], [])]
        state.finish.append(lambda op: op.complete())

    def write(self, op: Any, printer: Any) -> None:
        printer.elide("linalg.memoized_indexing_maps")
        maps = op.properties.get("indexing_maps")
        if maps is None:
            return
        printer.elide("indexing_maps")
        if maps != op.implied_maps():
            printer.out.append(f" indexing_maps = {printer.attribute(maps)}")


def write_region_with_arguments(region: Any, printer: Any) -> None:
    """The arguments and the region, indented on a new line."""
    inner = printer.indent + "  "
    args = ", ".join([printer.argument(arg) for arg in region.blocks[0].args])
    printer.out.append(f"\n{inner}({args}) ")
    printer.region(region, entry_args=False, indent=inner)


def payload_operands(block: Block, init_first: bool) -> list[Any]:
    """The operands of a body's only operation: the block's arguments in the order that it takes
    them.

    That is the inputs, or with `init_first` the result so far and then the inputs. If there are no
    inputs, it is the result so far.
    """
    *args, last = block.args
    return [last, *args] if init_first else args or [last]


def short_form(op: Any, region: Any, init_first: bool) -> Any:
    """The only operation of a body if the short form can express it, else None.

    It must take all `payload_operands` in order, and the body must yield its result.
    """
    block = region.blocks[0]
    if len(block.ops) != 2:
        return None
    payload, last = block.ops
    args = payload_operands(block, init_first)
    fits = list(payload._operands) == args and len(payload.results) == 1
    if not fits or payload.regions or list(last._operands) != [payload.results[0]]:
        return None
    return payload


def short_text(payload: Any, printer: Any) -> str:
    """The short form of a body: ` { arith.addf {fastmath = ..} }`."""
    attributes = printer.free_attributes(payload)
    rest = f" {{{printer.entries(attributes)}}}" if attributes else ""
    return f" {{ {payload.name}{rest} }}"


class _Payload(Directive):
    """Base of the directives of ops whose body may be written as its only operation."""

    init_first = False
    """Whether that operation takes the result so far as its first operand."""
    rules = {  # noqa: RUF012
        "payload": '| "{" BARE_ID dict_opt "}"',
        "payload_body": '| "(" block_args ")" region',
        **OPERANDS,
    }

    def read_body(self, state: Any, payload: Any, body: Any, field: str, types: list[Any]) -> None:
        """Store the body that was parsed in its long or short form; `types` are those of all
        operands.
        """
        if body:
            state.regions[field] = [body[1]]
            state.entry_args[field] = [tuple(arg) for arg in body[0]]
        elif payload:
            make_payload(state, payload, field, types, self.init_first)
        else:
            state.fail("expected a body, or its only operation in braces")

    def write_around(self, op: Any, region: Any, printer: Any, tail: str, *elided: str) -> None:
        """Write the operands and `tail`, with the body's short form before or its long form after
        them.
        """
        payload = short_form(op, region, self.init_first)
        text = short_text(payload, printer) if payload is not None else ""
        text += operands_text(printer, "ins", op.inputs)
        text += operands_text(printer, "outs", op.outputs)
        printer.out.append(text + tail)
        printer.attr_dict(op, elided)
        if payload is None:
            write_region_with_arguments(region, printer)


@directive("LinalgReduce")
class LinalgReduce(_Payload):
    """`ins(..) outs(..) dimensions = [1] (%in: f32, %init: f32) {..}`

    or, for a body of one operation, `{ arith.addf } ins(..) outs(..) dimensions = [1]`.
    Arguments: $values, $dimensions, $combiner, type($result_tensors), attr-dict.
    """

    init_first = True
    fragment = 'payload ins outs "dimensions" "=" bare_array dict_opt payload_body'

    def read(self, child: Any, state: Any) -> None:
        values, dimensions, combiner, results = self.names[:4]
        payload, ins, outs, dims, attributes, body = child
        both = [given for given in (ins, outs) if given]
        state.operands[values] = [name for given in both for name in given[0]]
        types = [type for given in both for type in given[1]]
        state.types[values] = types
        state.types[results] = [t for t in (outs[1] if outs else []) if not is_memref(t)]
        state.properties[dimensions] = DenseArrayAttr(
            i64, tuple(number_of(state.session, token, i64) for token in dims)
        )
        state.add_attributes(attributes or {})
        self.read_body(state, payload, body, combiner, types)

    def write(self, op: Any, printer: Any) -> None:
        _, dimensions, combiner, _results = self.names[:4]
        numbers = ", ".join([str(n) for n in getattr(op, dimensions)])
        tail = f" dimensions = [{numbers}] "
        self.write_around(op, getattr(op, combiner), printer, tail, dimensions)


def is_memref(type: Any) -> bool:
    """Whether the type is a memref; outputs of this type have no result."""
    return isinstance(type, MemRefType)


def make_payload(state: Any, payload: Any, region: str, types: list[Any], init_first: bool) -> None:
    """Arrange that the parsed op gets a body of the one operation that the short form names."""
    (name, pos), attributes = payload
    cls = registry.find_op(name)
    if cls is None:
        state.fail(f"unknown operation '{name}'", pos)
    state.regions[region] = [([], [])]

    def finish(op: Any) -> None:

        shaped = (MemRefType, TensorType)
        block = Block([t.element_type if isinstance(t, shaped) else t for t in types])
        made = cls(*payload_operands(block, init_first))  # type: ignore[misc]
        made.loc = op.loc
        for key, value in (attributes or {}).items():
            inherent = made.definition.is_inherent(key)
            (made.properties if inherent else made.attributes)[key] = value
        block.append(made)
        block.append(registry.ops["linalg.yield"].create([made.result], loc=op.loc))
        op.regions[0].append(block)

    state.finish.append(finish)


@directive("LinalgMap")
class LinalgMap(_Payload):
    """`ins(..) outs(..) (%in: f32, %init: f32) {..}`, or `{ math.exp } ins(..) outs(..)`.

    Arguments: $inputs, $init, $mapper, type($result_tensors), attr-dict.
    """

    fragment = "payload ins outs dict_opt payload_body"

    def read(self, child: Any, state: Any) -> None:
        inputs, init, mapper, results = self.names[:4]
        payload, ins, outs, attributes, body = child
        if not outs or len(outs[0]) != 1:
            state.fail("expected one output, outs(..)")
        state.operands[inputs], state.types[inputs] = ins if ins else ([], [])
        state.operands[init], state.types[init] = outs
        state.types[results] = [t for t in outs[1] if not is_memref(t)]
        state.add_attributes(attributes or {})
        self.read_body(state, payload, body, mapper, [*(ins[1] if ins else []), *outs[1]])

    def write(self, op: Any, printer: Any) -> None:
        self.write_around(op, getattr(op, self.names[2]), printer, "")
