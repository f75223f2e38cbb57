"""The directives that the formats of several dialects use."""

from __future__ import annotations

from typing import Any

from ..attributes import BoolAttr, DenseArrayAttr, IntegerAttr
from ..types import i32, i64, index
from .directive import Directive, directive
from .parts import (
    ARROW_RULES,
    ASSIGNMENTS,
    INDEX_LIST,
    arrow_types,
    assignment_text,
    index_items,
    index_items_text,
    read_bound,
    read_region,
    region_text,
    types_of_arrow,
)


@directive("FunctionBody")
class FunctionBody(Directive):
    """The body of a function, or nothing for a declaration. Argument: $body."""

    fragment = "function_body"
    rules = {"function_body": "| region"}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        (body,) = self.names
        (region,) = child
        if not region:
            state.entry_args.pop(body, None)
            return
        if not any(region[0]):
            state.fail("expected non-empty function body")
        has_arguments = bool(state.properties["function_type"].inputs)
        # Without names in the signature, the label of the first block gives them.
        if has_arguments and body not in state.entry_args and region[0][0]:
            state.fail("the arguments of a function with a body need names")
        state.regions[body] = [region[0]]

    def write(self, op: Any, printer: Any) -> None:
        body = getattr(op, self.names[0])
        if body.blocks:
            printer.out.append(" ")
            printer.region(body, entry_args=False)


@directive("ArrowTypesOrOne")
class ArrowTypesOrOne(Directive):
    """`-> (f32, i32)` or `-> f32`, or nothing without results. Argument: type($outs)."""

    fragment = "arrow_types"
    rules = ARROW_RULES
    bare_single = True
    """Whether a single type is written without parentheses."""

    def read(self, child: Any, state: Any) -> None:
        state.types[self.names[0]] = types_of_arrow(child[0])

    def write(self, op: Any, printer: Any) -> None:
        types = [v.type for v in getattr(op, self.names[0])]
        printer.out.append(arrow_types(printer, types, self.bare_single))


@directive("ArrowTypes")
class ArrowTypes(ArrowTypesOrOne):
    """`-> (f32)`, always written with parentheses."""

    bare_single = False


@directive("WhileLoop")
class WhileLoop(Directive):
    """`(%x = %init) : (f32) -> f32 {..} do {..}`

    Arguments: $inits, type($outs), $before, $after.
    """

    fragment = 'while_inits ":" function_type region "do" region'
    rules = {"while_inits": "| assignments", **ASSIGNMENTS}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        inits, outs, before, after = self.names
        assigned, type, before_region, after_region = child
        names = read_bound(state, assigned, type, inits, outs)
        read_region(state, before, before_region, names, self.carried(type))
        state.regions[after] = [after_region]

    def carried(self, type: Any) -> Any:
        """The types of the first region's arguments."""
        return type.inputs

    def write(self, op: Any, printer: Any) -> None:
        inits, outs, before, after = (getattr(op, name) for name in self.names)
        if inits:
            printer.out.append(f" {assignment_text(printer, before.blocks[0].args, inits)}")
        type = printer.function_type([v.type for v in inits], [v.type for v in outs])
        printer.out.append(f" : {type}")
        region_text(op, before, printer)
        printer.out.append(" do ")
        printer.region(after)


@directive("DynamicIndexList")
class DynamicIndexList(Directive):
    """`[%i, 4]`: indices that are partly values and partly constants.

    Arguments: the operands, and the attribute with the static entries.
    """

    fragment = "index_list"
    rules = INDEX_LIST

    def read(self, child: Any, state: Any) -> None:
        dynamic, static = self.names
        names, entries = index_items(child[0])
        state.operands[dynamic] = names
        state.types[dynamic] = [index] * len(names)
        state.properties[static] = DenseArrayAttr(i64, tuple(entries))

    def write(self, op: Any, printer: Any) -> None:
        dynamic, static = (getattr(op, name) for name in self.names)
        text = f"[{index_items_text(printer, dynamic, static)}]"
        printer.out.append(f" {text}" if self.space else text)


@directive("Prefetch")
class Prefetch(Directive):
    """`read, locality<3>, data`. Arguments: $isWrite, $localityHint, $isDataCache."""

    fragment = 'access "," "locality" "<" INTEGER ">" "," cache'
    rules = {  # noqa: RUF012
        "access": '"read" -> read | "write" -> write',
        "cache": '"data" -> data | "instr" -> instr',
    }

    def read(self, child: Any, state: Any) -> None:
        is_write, locality, is_data = self.names
        state.properties[is_write] = BoolAttr(child[0][0] == "write")
        state.properties[locality] = IntegerAttr(int(child[1][0], 0), i32)
        state.properties[is_data] = BoolAttr(child[2][0] == "data")

    def write(self, op: Any, printer: Any) -> None:
        is_write, locality, is_data = (getattr(op, name) for name in self.names)
        access = "write" if is_write else "read"
        cache = "data" if is_data else "instr"
        printer.out.append(f" {access}, locality<{locality}>, {cache}")


@directive("ElementsType")
class ElementsType(Directive):
    """The type of a shaped value; its element type is the type of the elements.

    Arguments: type($elements), type($shaped).
    """

    fragment = "TYPE"

    def read(self, child: Any, state: Any) -> None:
        elements, shaped = self.names
        element = getattr(child[0], "element_type", None)
        if element is None:
            state.fail(f"expected a vector or tensor type, found '{child[0]}'")
        state.types[shaped] = [child[0]]
        state.types[elements] = [element] * len(state.operands[elements])

    def write(self, op: Any, printer: Any) -> None:
        printer.out.append(f" {printer.type(getattr(op, self.names[1]).type)}")
