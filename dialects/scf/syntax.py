"""The assembly directives of scf: the heads of loops, and the cases of a switch."""

from __future__ import annotations

from ...ir.rewriting import constant_int
from ...ir.syntax.directive import Directive, directive, listed
from ...ir.syntax.parts import (
    ARROW_RULES,
    ASSIGNMENTS,
    DYNAMIC,
    INDEX_LIST,
    arrow_types,
    assignment_text,
    index_items,
    index_items_text,
    read_carried,
    read_region,
    region_text,
    types_of_arrow,
)
from ..vocabulary import *


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
        fault = "mismatch in number of loop-carried values and defined values"
        names, types = read_carried(state, carried, inits, outs, fault)
        read_region(state, body, region, [induction, *names], [type, *types])

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


def names_at(names: list[str], state: Any) -> list[Any]:
    """The names of a list in parentheses, with the operation's position."""
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
        names = names_at(variables, state)
        read_region(state, body, region, names, [index] * len(names))

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


@directive("ForallLoop")
class ForallLoop(Directive):
    """`(%i, %j) in (%n, 8) shared_outs(%x = %t) -> (tensor<4xf32>) {..}`, or with bounds
    `= (0, %a) to (%n, 8) step (1, 2)`.

    Arguments: for lower, upper and step bounds the dynamic operands and the static list;
    $shared, type($outs), $body.
    """

    fragment = "paren_values forall_range forall_outs region"
    rules = {  # noqa: RUF012
        "forall_range": '"in" index_tuple -> upto '
        '| "=" index_tuple "to" index_tuple "step" index_tuple -> full',
        "forall_outs": '| "shared_outs" assignments arrow_types',
        **INDEX_LIST,
        **ASSIGNMENTS,
        **ARROW_RULES,
    }

    def read(self, child: Any, state: Any) -> None:
        *fields, shared, outs, body = self.names
        variables, (kind, *ranges), given, region = child
        rank = len(variables)
        lists = [index_items(r) for r in ranges]
        if kind == "upto":
            lists = [([], [0] * rank), lists[0], ([], [1] * rank)]
        for i, (names, static) in enumerate(lists):
            if len(static) != rank:
                what = ("lower bound", "upper bound", "step")[i]
                state.fail(f"expected {rank} {what} values, got {len(static)}")
            state.operands[fields[2 * i]] = names
            state.types[fields[2 * i]] = [index] * len(names)
            state.properties[fields[2 * i + 1]] = DenseArrayAttr(i64, tuple(static))
        fault = "expects as many result types as shared outputs"
        names, types = read_carried(state, given, shared, outs, fault)
        args = [*names_at(variables, state), *names]
        read_region(state, body, region, args, [*[index] * rank, *types])

    def write(self, op: Any, printer: Any) -> None:
        *fields, shared_name, outs, body_name = self.names
        shared, body = getattr(op, shared_name), getattr(op, body_name)
        lists = [getattr(op, name) for name in fields]
        lower, upper, step = (index_items_text(printer, *lists[i : i + 2]) for i in range(0, 6, 2))
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


def _all_are(number: int, dynamic: Any, static: Any) -> bool:
    """Whether all bounds are the number, written as such or as constant operands."""
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
