"""Custom directives of structured ops: linalg, and vector ops with maps or a region."""

from __future__ import annotations

from typing import Any

from ..attributes import ArrayAttr, DenseArrayAttr, DictAttr, EnumAttr, StringAttr
from ..dialect import registry
from ..types import i64
from .directive import Directive, directive
from .directives_control import ARROW_RULES, arrow_types, types_of_arrow
from .literals import number_of

OPERANDS = {
    "ins": '| "ins" "(" values ":" types ")"',
    "outs": '| "outs" "(" values ":" types ")"',
}

TRAIT = {"trait": "dict -> written | ATTR_ALIAS -> named"}


def trait_entries(state: Any, child: Any) -> Any:
    """The entries of a match of `trait`: a dictionary, or an alias of one."""
    kind, found = child
    if kind == "written":
        return found
    name, pos = found
    value = state.session.attribute_aliases.get(name)
    if not isinstance(value, DictAttr):
        state.fail(f"expected '#{name.lstrip('#')}' to be defined as a dictionary before", pos)
    return dict(value.items())


def operands_text(printer: Any, word: str, values: Any) -> str:
    """` ins(%a, %b : f32, f32)`, or nothing where there are none."""
    if not values:
        return ""
    types = ", ".join([printer.type(v.type) for v in values])
    return f" {word}({printer.values(values)} : {types})"


def iterators_from_strings(state: Any, value: Any, enum: str) -> Any:
    """`["parallel"]` as the dialect's enumeration."""
    cls: Any = registry.dialects[enum.partition(".")[0]].attributes[enum]
    if not isinstance(value, ArrayAttr):
        state.fail("expected an array of iterator types")
    return ArrayAttr(
        tuple(cls(e.value) if isinstance(e, StringAttr) else e for e in value.elements)
    )


def iterators_to_strings(value: Any) -> Any:
    """An array of enumerations as an array of strings."""
    return ArrayAttr(
        tuple(StringAttr(e.value) if isinstance(e, EnumAttr) else e for e in value.elements)
    )


def structured_dict(op: Any, names: tuple[str, ...], printer: Any) -> str:
    """`{indexing_maps = [..], iterator_types = ["parallel"]}` of these properties."""
    entries = [
        (name, iterators_to_strings(value) if name == "iterator_types" else value)
        for name, value in sorted(op.properties.items())
        if name in names
    ]
    return f"{{{printer.entries(entries)}}}"


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
        if "iterator_types" in state.properties:
            state.properties["iterator_types"] = iterators_from_strings(
                state, state.properties["iterator_types"], "linalg.iterator_type"
            )
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
    """The body that an op's name implies: not in the text. Argument: $body_region.

    The op's method `complete` makes it. Maps other than the op's `implied_maps` are written
    before the operands, `indexing_maps = [..]`.
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


def short_form(op: Any, region: Any, init_first: bool) -> Any:
    """The only operation of a body that applies it to all arguments in order, else None."""
    block = region.blocks[0]
    if len(block.ops) != 2:
        return None
    payload, last = block.ops
    args = list(block.args)
    if init_first:
        args = [args[-1], *args[:-1]]
    elif len(args) > 1:
        args = args[:-1]
    fits = list(payload._operands) == args and len(payload.results) == 1
    if not fits or payload.regions or list(last._operands) != [payload.results[0]]:
        return None
    return payload


def short_text(payload: Any, printer: Any) -> str:
    """` { arith.addf {fastmath = ..} }`"""
    attributes = printer.free_attributes(payload)
    rest = f" {{{printer.entries(attributes)}}}" if attributes else ""
    return f" {{ {payload.name}{rest} }}"


@directive("LinalgReduce")
class LinalgReduce(Directive):
    """`ins(..) outs(..) dimensions = [1] (%in: f32, %init: f32) {..}`

    or, for a body of one operation, `{ arith.addf } ins(..) outs(..) dimensions = [1]`.
    Arguments: $values, $dimensions, $combiner, type($result_tensors), attr-dict.
    """

    fragment = 'reduce_payload ins outs "dimensions" "=" bare_array dict_opt reduce_body'
    rules = {  # noqa: RUF012
        "reduce_payload": '| "{" BARE_ID dict_opt "}"',
        "reduce_body": '| "(" block_args ")" region',
        **OPERANDS,
    }

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
        if body:
            state.regions[combiner] = [body[1]]
            state.entry_args[combiner] = [tuple(arg) for arg in body[0]]
        elif payload:
            make_payload(state, payload, combiner, types, init_first=True)
        else:
            state.fail("expected a body, or its only operation in braces")

    def write(self, op: Any, printer: Any) -> None:
        _, dimensions, combiner, _results = self.names[:4]
        region = getattr(op, combiner)
        payload = short_form(op, region, init_first=True)
        text = short_text(payload, printer) if payload is not None else ""
        text += operands_text(printer, "ins", op.inputs)
        text += operands_text(printer, "outs", op.outputs)
        numbers = ", ".join([str(n) for n in getattr(op, dimensions)])
        printer.out.append(f"{text} dimensions = [{numbers}] ")
        printer.attr_dict(op, (dimensions,))
        if payload is None:
            write_region_with_arguments(region, printer)


def is_memref(type: Any) -> bool:
    """Whether an output of the type gives no result."""
    from ..types import MemRefType

    return isinstance(type, MemRefType)


def make_payload(state: Any, payload: Any, region: str, types: list[Any], init_first: bool) -> None:
    """Have a body made of the one operation that a short form names."""
    (name, pos), attributes = payload
    cls = registry.find_op(name)
    if cls is None:
        state.fail(f"unknown operation '{name}'", pos)
    state.regions[region] = [([], [])]

    def finish(op: Any) -> None:
        from ..core import Block
        from ..types import MemRefType, TensorType

        shaped = (MemRefType, TensorType)
        block = Block([t.element_type if isinstance(t, shaped) else t for t in types])
        args = list(block.args)
        if init_first:
            args = [args[-1], *args[:-1]]
        elif len(args) > 1:
            args = args[:-1]
        made = cls(*args)  # type: ignore[misc]
        made.loc = op.loc
        for key, value in (attributes or {}).items():
            inherent = made.definition.is_inherent(key)
            (made.properties if inherent else made.attributes)[key] = value
        block.append(made)
        block.append(registry.ops["linalg.yield"].create([made.result], loc=op.loc))
        op.regions[0].append(block)

    state.finish.append(finish)


@directive("LinalgMap")
class LinalgMap(Directive):
    """`ins(..) outs(..) (%in: f32, %init: f32) {..}`, or `{ math.exp } ins(..) outs(..)`.

    Arguments: $inputs, $init, $mapper, type($result_tensors), attr-dict.
    """

    fragment = "map_payload ins outs dict_opt map_body"
    rules = {  # noqa: RUF012
        "map_payload": '| "{" BARE_ID dict_opt "}"',
        "map_body": '| "(" block_args ")" region',
        **OPERANDS,
    }

    def read(self, child: Any, state: Any) -> None:
        inputs, init, mapper, results = self.names[:4]
        payload, ins, outs, attributes, body = child
        if not outs or len(outs[0]) != 1:
            state.fail("expected one output, outs(..)")
        state.operands[inputs], state.types[inputs] = ins if ins else ([], [])
        state.operands[init], state.types[init] = outs
        state.types[results] = [t for t in outs[1] if not is_memref(t)]
        state.add_attributes(attributes or {})
        if body:
            state.regions[mapper] = [body[1]]
            state.entry_args[mapper] = [tuple(arg) for arg in body[0]]
        elif payload:
            types = [*(ins[1] if ins else []), *outs[1]]
            make_payload(state, payload, mapper, types, init_first=False)
        else:
            state.fail("expected a body, or its only operation in braces")

    def write(self, op: Any, printer: Any) -> None:
        region = getattr(op, self.names[2])
        payload = short_form(op, region, init_first=False)
        text = short_text(payload, printer) if payload is not None else ""
        text += operands_text(printer, "ins", op.inputs)
        printer.out.append(text + operands_text(printer, "outs", op.outputs))
        printer.attr_dict(op)
        if payload is None:
            write_region_with_arguments(region, printer)


# -- vector ---------------------------------------------------------------------------------------

_CONTRACT = ("indexing_maps", "iterator_types", "kind")


@directive("ContractAttributes")
class ContractAttributes(Directive):
    """`{indexing_maps = .., iterator_types = ["parallel"], kind = #vector.kind<add>}`

    Arguments: $indexing_maps, $iterator_types, $kind.
    """

    fragment = "trait"
    rules = TRAIT

    def read(self, child: Any, state: Any) -> None:
        state.add_attributes(trait_entries(state, child[0]))
        if "iterator_types" in state.properties:
            state.properties["iterator_types"] = iterators_from_strings(
                state, state.properties["iterator_types"], "vector.iterator_type"
            )

    def write(self, op: Any, printer: Any) -> None:
        printer.out.append(f" {structured_dict(op, _CONTRACT, printer)}")


@directive("ContractTypes")
class ContractTypes(Directive):
    """`vector<4x8xf32>, vector<8x4xf32>`; more types, as of masks in old texts, mean nothing.

    Arguments: type($lhs), type($rhs).
    """

    fragment = "types"

    def read(self, child: Any, state: Any) -> None:
        lhs, rhs = self.names
        (types,) = child
        if len(types) < 2:
            state.fail("expected at least two types of vectors")
        state.types[lhs], state.types[rhs] = [types[0]], [types[1]]

    def write(self, op: Any, printer: Any) -> None:
        texts = [printer.type(getattr(op, name).type) for name in self.names]
        printer.out.append(f" {', '.join(texts)}")


@directive("MaskedRegion")
class MaskedRegion(Directive):
    """`{ vector.load .. }`: one operation, its results yielded. Argument: $maskRegion."""

    fragment = '"{" ops "}"'

    def read(self, child: Any, state: Any) -> None:
        region = self.names[0]
        state.regions[region] = [(child[0], [])]
        state.at_region_end[region] = yield_all

    def write(self, op: Any, printer: Any) -> None:
        block = getattr(op, self.names[0]).blocks[0]
        inner = [o for o in block if o.name != "vector.yield"]
        if len(inner) == 1 and list(block._last._operands) == list(inner[0].results):
            named, written = False, inner
        else:
            named, written = True, list(block)
        printer.out.append(" { ")
        for one in written:
            printer.nested(one, named)
            printer.out.append(" ")
        printer.out.append("}")


def yield_all(region: Any) -> None:
    """End a block with a yield of what its last operation gives, if it has none."""
    from ..core import Block

    block = region.blocks[0] if region.blocks else region.append(Block())
    if block._last is not None and block._last.name == "vector.yield":
        return
    values = block._last.results if block._last is not None else ()
    block.append(registry.ops["vector.yield"].create(values))


@directive("Punctuation")
class Punctuation(Directive):
    """`punctuation <comma>`, nothing for a new line. Argument: $punctuation."""

    fragment = "print_end"
    rules = {"print_end": '| "punctuation" enum_case'}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        if child[0]:
            name = self.names[0]
            kind = self.definition.attributes[name].kind
            state.properties[name] = state.typed_attribute("enum_case", kind, child[0][0])

    def write(self, op: Any, printer: Any) -> None:
        value = getattr(op, self.names[0])
        if value != "newline":
            printer.out.append(f" punctuation <{value}>")
