"""Custom directives of arith.select, cf and scf."""

from __future__ import annotations

from typing import Any

from ..attributes import DenseArrayAttr, DenseElements
from ..types import VectorType, i1, i32, i64, index
from .directive import Directive, directive, listed
from .printer import has_implied_terminator

DYNAMIC = -(2**63)
"""The entry of a static list that stands for the next operand."""


def arrow_types(printer: Any, types: Any, bare_single: bool) -> str:
    """` -> (i32, f32)`, or nothing where there are no types."""
    if not types:
        return ""
    text = ", ".join(printer.type(t) for t in types)
    return f" -> {text}" if bare_single and len(types) == 1 else f" -> ({text})"


ARROW_RULES = {
    "arrow_types": '| "->" TYPE_NOT_FUNCTION -> one | "->" "(" types_opt ")" -> several',
}


def types_of_arrow(child: Any) -> list[Any]:
    """What a match of `arrow_types` says."""
    if not child:
        return []
    return [child[1]] if child[0] == "one" else child[1]


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


class _ArrowTypes(Directive):
    """`-> (f32, i32)` or `-> f32`, or nothing without results. Argument: type($outs)."""

    fragment = "arrow_types"
    rules = ARROW_RULES
    bare_single = False

    def read(self, child: Any, state: Any) -> None:
        state.types[self.names[0]] = types_of_arrow(child[0])

    def write(self, op: Any, printer: Any) -> None:
        types = [v.type for v in getattr(op, self.names[0])]
        printer.out.append(arrow_types(printer, types, self.bare_single))


@directive("ArrowTypes")
class ArrowTypes(_ArrowTypes):
    """`-> (f32)`, always written with parentheses."""


@directive("ScopeTypes")
class ScopeTypes(_ArrowTypes):
    """`-> (f32)`, after one more space, as upstream."""

    def write(self, op: Any, printer: Any) -> None:
        printer.out.append(" ")
        super().write(op, printer)


@directive("ArrowTypesOrOne")
class ArrowTypesOrOne(_ArrowTypes):
    """`-> f32`, written with parentheses around several types."""

    bare_single = True


@directive("CalleeType")
class CalleeType(Directive):
    """The function type of an indirect call's callee, which gives all other types.

    Arguments: type($callee), type($operands), type($outs).
    """

    fragment = "function_type"

    def read(self, child: Any, state: Any) -> None:
        callee, given, outs = self.names
        state.types[callee] = [child[0]]
        state.types[given] = list(child[0].inputs)
        state.types[outs] = list(child[0].results)

    def write(self, op: Any, printer: Any) -> None:
        printer.out.append(" " + printer.type(getattr(op, self.names[0]).type))


# -- cf ------------------------------------------------------------------------------------------


@directive("SwitchCases")
class SwitchCases(Directive):
    """`[ default: ^bb1(%a : i32), 42: ^bb2 ]`, a line for each case.

    Arguments: $flag, $default_dest, $default_args, $case_values, $case_operand_segments,
    $case_dests, $case_args.
    """

    fragment = '"[" "default" ":" switch_target switch_cases "]"'
    rules = {  # noqa: RUF012
        "switch_target": 'BLOCK | BLOCK "(" values ":" types ")"',
        "switch_cases": '| switch_cases "," INTEGER ":" switch_target',
    }

    def read(self, child: Any, state: Any) -> None:
        flag, default, default_args, values, segments, dests, args = self.names
        target, rest = child
        cases = [(int(number, 0), to) for (number, _), to in listed(rest, 2)]
        self._target(state, target, default, default_args)
        state.successors[dests] = [to[0] for _, to in cases]
        state.operands[args] = [name for _, to in cases if len(to) > 1 for name in to[1]]
        state.types[args] = [type for _, to in cases if len(to) > 1 for type in to[2]]
        counts = tuple(len(to[1]) if len(to) > 1 else 0 for _, to in cases)
        state.properties[segments] = DenseArrayAttr(i32, counts)
        type = state.types[flag][0]
        if cases:
            shape = VectorType((len(cases),), type)
            state.properties[values] = DenseElements.from_list([n for n, _ in cases], shape)

    @staticmethod
    def _target(state: Any, target: Any, dest: str, args: str) -> None:
        state.successors[dest] = [target[0]]
        state.operands[args] = list(target[1]) if len(target) > 1 else []
        state.types[args] = list(target[2]) if len(target) > 1 else []

    def write(self, op: Any, printer: Any) -> None:
        lines = [f"default: {self._text(printer, op.default_dest, op.default_args)}"]
        mask = (1 << op.flag.type.width) - 1
        for number, block, args in op.cases():
            lines.append(f"{number & mask}: {self._text(printer, block, args)}")
        inner = printer.indent + "  "
        body = ",".join(f"\n{inner}{line}" for line in lines)
        # Upstream closes the bracket on the line of a default that stands alone.
        end = f"\n{printer.indent}" if len(lines) > 1 else ""
        printer.out.append(f" [{body}{end}]")

    @staticmethod
    def _text(printer: Any, block: Any, args: Any) -> str:
        name = printer.block_name(block)
        if not args:
            return name
        types = ", ".join(printer.type(v.type) for v in args)
        return f"{name}({printer.values(args)} : {types})"


# -- scf -----------------------------------------------------------------------------------------

ASSIGNMENTS = {
    "assignments": '"(" assignment_list ")"',
    "assignment_list": 'VALUE "=" VALUE | assignment_list "," VALUE "=" VALUE',
}


def assignments_of(child: Any) -> tuple[list[Any], list[Any]]:
    """The names and the values of a match of `assignments`."""
    pairs = listed(child[0], 2)
    return [name for name, _ in pairs], [value for _, value in pairs]


def assignment_text(printer: Any, args: Any, values: Any) -> str:
    """`(%arg1 = %a, %arg2 = %b)`"""
    pairs = [f"{printer.value(a)} = {printer.value(v)}" for a, v in zip(args, values, strict=True)]
    return f"({', '.join(pairs)})"


def region_text(op: Any, region: Any, printer: Any) -> None:
    """Write a region whose arguments the op's own syntax has declared."""
    printer.out.append(" ")
    printer.region(region, entry_args=False, terminators=not has_implied_terminator(op, region))


@directive("ForLoop")
class ForLoop(Directive):
    """`%i = %lb to %ub step %s iter_args(%x = %init) -> (f32) : i32 {..}`

    Arguments: $lower, $upper, $step, $inits, type($outs), $body.
    """

    fragment = 'VALUE "=" VALUE "to" VALUE "step" VALUE for_carried for_type region'
    rules = {  # noqa: RUF012
        "for_carried": '| "iter_args" assignments arrow_types',
        "for_type": '| ":" type',
        **ASSIGNMENTS,
        **ARROW_RULES,
    }

    def read(self, child: Any, state: Any) -> None:
        lower, upper, step, inits, outs, body = self.names
        induction, *bounds, carried, counted, region = child
        type = counted[0] if counted else index
        for name, value in zip((lower, upper, step), bounds, strict=True):
            state.operands[name] = [value]
            state.types[name] = [type]
        names, values = assignments_of(carried[0]) if carried else ([], [])
        types = types_of_arrow(carried[1]) if carried else []
        if len(types) != len(names):
            state.fail("mismatch in number of loop-carried values and defined values")
        state.operands[inits], state.types[inits] = values, types
        state.types[outs] = types
        state.regions[body] = [region]
        state.entry_args[body] = [
            (name, t, None) for name, t in zip([induction, *names], [type, *types], strict=True)
        ]

    def write(self, op: Any, printer: Any) -> None:
        lower, upper, step, inits, _, body = (getattr(op, name) for name in self.names)
        args = body.blocks[0].args
        value = printer.value
        head = f" {value(args[0])} = {value(lower)} to {value(upper)} step {value(step)}"
        if inits:
            head += f" iter_args{assignment_text(printer, args[1:], inits)}"
            head += arrow_types(printer, [v.type for v in inits], bare_single=False)
        if lower.type is not index:
            head += f"  : {printer.type(lower.type)}"  # upstream's two spaces
        printer.out.append(head)
        region_text(op, body, printer)


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
        names, values = assignments_of(assigned[0]) if assigned else ([], [])
        if len(values) != len(type.inputs):
            state.fail(
                f"expected as many input types as operands (expected {len(values)} got "
                f"{len(type.inputs)})"
            )
        state.operands[inits], state.types[inits] = values, list(type.inputs)
        state.types[outs] = list(type.results)
        state.regions[before], state.regions[after] = [before_region], [after_region]
        state.entry_args[before] = [
            (name, t, None) for name, t in zip(names, type.inputs, strict=True)
        ]

    def write(self, op: Any, printer: Any) -> None:
        inits, outs, before, after = (getattr(op, name) for name in self.names)
        if inits:
            printer.out.append(f" {assignment_text(printer, before.blocks[0].args, inits)}")
        type = printer.function_type([v.type for v in inits], [v.type for v in outs])
        printer.out.append(f" : {type}")
        region_text(op, before, printer)
        printer.out.append(" do ")
        printer.region(after)


def names_at(names: list[str], state: Any) -> list[Any]:
    """Names of a parenthesized list, placed at the operation."""
    return [(name, state.pos) for name in names]


@directive("ParallelLoop")
class ParallelLoop(Directive):
    """`(%i, %j) = (%a, %b) to (%c, %d) step (%e, %f) init (%x) -> f32 {..}`

    Arguments: $lower, $upper, $step, $inits, type($outs), $body.
    """

    fragment = (
        'paren_values "=" paren_values "to" paren_values "step" paren_values parallel_init region'
    )
    rules = {  # noqa: RUF012
        "parallel_init": '| "init" paren_values arrow_types',
        **ARROW_RULES,
    }

    def read(self, child: Any, state: Any) -> None:
        lower, upper, step, inits, outs, body = self.names
        variables, *bounds, init, region = child
        for name, values in zip((lower, upper, step), bounds, strict=True):
            if len(values) != len(variables):
                state.fail(f"expected {len(variables)} operands, found {len(values)}")
            state.operands[name] = names_at(values, state)
            state.types[name] = [index] * len(values)
        values = init[0] if init else []
        types = types_of_arrow(init[1]) if init else []
        if len(types) != len(values):
            state.fail("expects as many result types as initial values")
        state.operands[inits], state.types[inits] = names_at(values, state), types
        state.types[outs] = types
        state.regions[body] = [region]
        state.entry_args[body] = [(name, index, None) for name in names_at(variables, state)]

    def write(self, op: Any, printer: Any) -> None:
        lower, upper, step, inits, outs, body = (getattr(op, name) for name in self.names)
        values = printer.values
        head = f" ({values(body.blocks[0].args)}) = ({values(lower)}) to ({values(upper)})"
        head += f" step ({values(step)})"
        if inits:
            head += f" init ({values(inits)})"
            head += arrow_types(printer, [v.type for v in outs], bare_single=True)
        printer.out.append(head + " ")
        printer.region(body, entry_args=False)


BOUNDS = {
    "bounds": '"(" ")" | "(" bound_list ")"',
    "bound_list": 'bound | bound_list "," bound',
    "bound": "VALUE -> value | INTEGER -> number",
}


def bounds_of(child: Any) -> tuple[list[Any], list[int]]:
    """The names and the static list (see `dialects/index_lists.py`) of a match of `bounds`."""
    items = [item for (item,) in listed(child[0], 1)] if child else []
    names = [token for kind, token in items if kind == "value"]
    return names, [DYNAMIC if kind == "value" else int(token[0], 0) for kind, token in items]


@directive("ForallLoop")
class ForallLoop(Directive):
    """`(%i, %j) in (%n, 8) shared_outs(%x = %t) -> (tensor<4xf32>) {..}`, or with bounds
    `= (0, %a) to (%n, 8) step (1, 2)`.

    Arguments: for lower, upper and step bounds the dynamic operands and the static list;
    $shared, type($outs), $body.
    """

    fragment = "paren_values forall_range forall_outs region"
    rules = {  # noqa: RUF012
        "forall_range": '"in" bounds -> upto | "=" bounds "to" bounds "step" bounds -> full',
        "forall_outs": '| "shared_outs" assignments arrow_types',
        **BOUNDS,
        **ASSIGNMENTS,
        **ARROW_RULES,
    }

    def read(self, child: Any, state: Any) -> None:
        *fields, shared, outs, body = self.names
        variables, (kind, *ranges), given, region = child
        rank = len(variables)
        lists = [bounds_of(r) for r in ranges]
        if kind == "upto":
            lists = [([], [0] * rank), lists[0], ([], [1] * rank)]
        for i, (names, static) in enumerate(lists):
            if len(static) != rank:
                what = ("lower bound", "upper bound", "step")[i]
                state.fail(f"expected {rank} {what} values, got {len(static)}")
            state.operands[fields[2 * i]] = names
            state.types[fields[2 * i]] = [index] * len(names)
            state.properties[fields[2 * i + 1]] = DenseArrayAttr(i64, tuple(static))
        names, values = assignments_of(given[0]) if given else ([], [])
        types = types_of_arrow(given[1]) if given else []
        if len(types) != len(values):
            state.fail("expects as many result types as shared outputs")
        state.operands[shared], state.types[shared] = values, types
        state.types[outs] = types
        state.regions[body] = [region]
        args = [*names_at(variables, state), *names]
        all_types = [*[index] * rank, *types]
        state.entry_args[body] = [(n, t, None) for n, t in zip(args, all_types, strict=True)]

    def write(self, op: Any, printer: Any) -> None:
        *fields, shared_name, outs, body_name = self.names
        shared, body = getattr(op, shared_name), getattr(op, body_name)
        lists = [getattr(op, name) for name in fields]
        lower, upper, step = (self._bounds(printer, lists[i], lists[i + 1]) for i in range(0, 6, 2))
        rank = len(lists[1])
        args = body.blocks[0].args
        head = f" ({printer.values(args[:rank])})"
        if _all_are(0, *lists[:2]) and _all_are(1, *lists[4:6]):
            head += f" in ({upper})"
        else:
            head += f" = ({lower}) to ({upper}) step ({step})"
        if shared:
            head += f" shared_outs{assignment_text(printer, args[rank:], shared)}"
            head += arrow_types(printer, [v.type for v in getattr(op, outs)], bare_single=False)
        printer.out.append(head)
        region_text(op, body, printer)

    @staticmethod
    def _bounds(printer: Any, dynamic: Any, static: Any) -> str:
        rest = iter(dynamic)
        return ", ".join(printer.value(next(rest)) if s == DYNAMIC else str(s) for s in static)


def _all_are(number: int, dynamic: Any, static: Any) -> bool:
    """Whether all bounds are the number, as constants of the text or of operations."""
    from ..rewriting import constant_int

    return all(s in (number, DYNAMIC) for s in static) and all(
        constant_int(value) == number for value in dynamic
    )


@directive("IndexSwitchRegions")
class IndexSwitchRegions(Directive):
    """`case 2 {..} case -5 {..} default {..}`, a line for each.

    Arguments: $cases, $case_regions, $default_region.
    """

    fragment = 'index_cases "default" region'
    rules = {"index_cases": '| index_cases "case" INTEGER region'}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        cases, case_regions, default_region = self.names
        rest, default = child
        items = listed(rest, 2)
        numbers = tuple(int(number, 0) for (number, _), _ in items)
        state.properties[cases] = DenseArrayAttr(i64, numbers)
        state.regions[case_regions] = [region for _, region in items]
        state.regions[default_region] = [default]

    def write(self, op: Any, printer: Any) -> None:
        cases, case_regions, default_region = (getattr(op, name) for name in self.names)
        printer.out.append(" ")
        for number, region in zip(cases, case_regions, strict=True):
            # Upstream writes the terminators of the cases, and not that of the default.
            printer.out.append(f"\n{printer.indent}case {number} ")
            printer.region(region, entry_args=False)
        printer.out.append(f"\n{printer.indent}default")
        region_text(op, default_region, printer)
