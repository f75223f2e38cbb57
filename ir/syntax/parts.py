"""Grammar rules, and functions that read and write by them, which several directives share."""

from __future__ import annotations

from typing import Any

from ..attributes import ArrayAttr, DenseArrayAttr, DictAttr, EnumAttr, StringAttr
from ..types import i32
from .directive import listed
from .printer import has_implied_terminator

DYNAMIC = -(2**63)
"""Marks an entry of a static list that is the next operand."""


def chain(child: Any) -> list[Any]:
    """The items of a match of `list: item | list "," item` whose items are one child each."""
    return [item for (item,) in listed(child, 1)]


def dict_text(attrs: Any, i: int, printer: Any) -> str:
    """` {..}` of entry `i` of a list of dictionaries, or nothing."""
    entries = attrs[i].items() if attrs is not None else ()
    return f" {{{printer.entries(entries)}}}" if entries else ""


ARROW_RULES = {
    "arrow_types": '| "->" TYPE_NOT_FUNCTION -> one | "->" "(" types_opt ")" -> several',
}


def types_of_arrow(child: Any) -> list[Any]:
    """The types of a match of `arrow_types`."""
    if not child:
        return []
    return [child[1]] if child[0] == "one" else child[1]


def arrow_types(printer: Any, types: Any, bare_single: bool) -> str:
    """` -> (i32, f32)`, or nothing where there are no types."""
    if not types:
        return ""
    text = ", ".join(printer.type(t) for t in types)
    return f" -> {text}" if bare_single and len(types) == 1 else f" -> ({text})"


ASSIGNMENTS = {
    "assignments": '"(" assignment_list ")"',
    "assignment_list": 'VALUE "=" VALUE | assignment_list "," VALUE "=" VALUE',
}


def assignments_of(child: Any) -> tuple[list[Any], list[Any]]:
    """(names, values) of a match of `assignments`."""
    pairs = listed(child[0], 2)
    return [name for name, _ in pairs], [value for _, value in pairs]


def read_carried(state: Any, child: Any, inits: str, outs: str, fault: str) -> Any:
    """Store the initial values of a match of `assignments arrow_types`, which may be empty.

    Gives the names of the block arguments and their types; `fault` is the error if they differ
    in number.
    """
    names, values = assignments_of(child[0]) if child else ([], [])
    types = types_of_arrow(child[1]) if child else []
    if len(types) != len(names):
        state.fail(fault)
    state.operands[inits], state.types[inits] = values, types
    state.types[outs] = types
    return names, types


def read_bound(state: Any, child: Any, type: Any, inits: str, outs: str) -> list[Any]:
    """Store the initial values of a match of `assignments`, which may be empty.

    `type` is the function type from initial values to results. Gives the block arguments' names.
    """
    names, values = assignments_of(child[0]) if child else ([], [])
    if len(values) != len(type.inputs):
        state.fail(
            f"expected as many input types as operands (expected {len(values)} got "
            f"{len(type.inputs)})"
        )
    state.operands[inits], state.types[inits] = values, list(type.inputs)
    state.types[outs] = list(type.results)
    return names


def read_region(state: Any, field: str, region: Any, names: Any, types: Any) -> None:
    """Store a region whose entry arguments the op's own syntax has declared."""
    state.regions[field] = [region]
    state.entry_args[field] = [(n, t, None) for n, t in zip(names, types, strict=True)]


def assignment_text(printer: Any, args: Any, values: Any) -> str:
    """`(%arg1 = %a, %arg2 = %b)`"""
    pairs = [f"{printer.value(a)} = {printer.value(v)}" for a, v in zip(args, values, strict=True)]
    return f"({', '.join(pairs)})"


def region_text(op: Any, region: Any, printer: Any) -> None:
    """Write a region whose arguments the op's own syntax has declared."""
    printer.out.append(" ")
    printer.region(region, entry_args=False, terminators=not has_implied_terminator(op, region))


TARGET = {"branch_target": 'BLOCK | BLOCK "(" values ":" types ")"'}


def read_targets(
    state: Any, targets: list[Any], dests: str, operands: str, segments: str | None = None
) -> None:
    """Store the blocks of matches of `branch_target`, and the values passed to each.

    `segments` names the property for the number of values of each block.
    """
    passed = [target[1:] or ((), ()) for target in targets]
    state.successors[dests] = [target[0] for target in targets]
    state.operands[operands] = [name for names, _ in passed for name in names]
    state.types[operands] = [type for _, types in passed for type in types]
    if segments is not None:
        counts = tuple(len(names) for names, _ in passed)
        state.properties[segments] = DenseArrayAttr(i32, counts)


def target_text(printer: Any, block: Any, args: Any) -> str:
    """`^bb1(%x : i64)`"""
    name = printer.block_name(block)
    if not args:
        return name
    types = ", ".join(printer.type(v.type) for v in args)
    return f"{name}({printer.values(args)} : {types})"


INDEX_LIST = {
    "index_list": '"[" "]" | "[" index_items "]"',
    "index_tuple": '"(" ")" | "(" index_items ")"',
    "index_items": 'index_item | index_items "," index_item',
    "index_item": "VALUE -> value | INTEGER -> number",
}


def index_items(child: Any) -> tuple[list[Any], list[int]]:
    """The names and the static entries of a match of `index_list` or `index_tuple`."""
    items = [item for (item,) in listed(child[0], 1)] if child else []
    names = [token for kind, token in items if kind == "value"]
    return names, [DYNAMIC if kind == "value" else int(token[0], 0) for kind, token in items]


def index_items_text(printer: Any, dynamic: Any, static: Any) -> str:
    """`%i, 4`"""
    rest = iter(dynamic)
    return ", ".join([printer.value(next(rest)) if s == DYNAMIC else str(s) for s in static])


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


def iterators_from_strings(state: Any, cls: type[EnumAttr]) -> None:
    """Replace the strings of `iterator_types = ["parallel"]` by the dialect's enumeration."""
    value = state.properties.get("iterator_types")
    if value is None:
        return
    if not isinstance(value, ArrayAttr):
        state.fail("expected an array of iterator types")
    state.properties["iterator_types"] = ArrayAttr(
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
