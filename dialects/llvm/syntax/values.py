"""The directives of llvm's operations on values and memory, and of its branches."""

from __future__ import annotations

from ....ir.syntax.directive import Directive, directive
from ....ir.syntax.literals import number_of
from ....ir.syntax.parts import TARGET, chain, read_targets, target_text
from ...vocabulary import *

_LIST = {"flag_list": 'BARE_ID | flag_list "," BARE_ID'}


@directive("OptionalBody")
class OptionalBody(Directive):
    """A region with its block, or nothing. Argument: $region."""

    fragment = "optional_body"
    rules = {"optional_body": "| region"}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        if child[0]:
            state.regions[self.names[0]] = [child[0][0]]

    def write(self, op: Any, printer: Any) -> None:
        region = getattr(op, self.names[0])
        if region.blocks:
            printer.out.append(" ")
            printer.region(region)


class _FlagList(Directive):
    """Flags of an integer attribute, `none` being left out."""

    @property
    def field(self) -> str:
        return self.names[0]

    def read(self, child: Any, state: Any) -> None:
        if child[0]:
            self.set_flags(state, chain(child[0][0]))

    def set_flags(self, state: Any, words: list[Any]) -> None:
        kind = state.definition.attributes[self.field].kind
        state.properties[self.field] = kind.from_python(",".join(word for word, _ in words))


@directive("OverflowFlags")
class OverflowFlags(_FlagList):
    """` overflow<nsw, nuw>`, or nothing. Argument: $overflowFlags."""

    fragment = "overflow_flags"
    rules = {**_LIST, "overflow_flags": '| "overflow" "<" flag_list ">"'}  # noqa: RUF012

    def write(self, op: Any, printer: Any) -> None:
        flags = getattr(op, self.field)
        if flags != "none":
            printer.out.append(f" overflow<{flags}>")


@directive("GepFlags")
class GepFlags(_FlagList):
    """` inbounds|nuw`, or nothing. Argument: $noWrapFlags."""

    fragment = "gep_flags"
    rules = {  # noqa: RUF012
        "gep_flags": "| gep_flag_list",
        "gep_flag_list": 'BARE_ID | gep_flag_list "|" BARE_ID',
    }

    def write(self, op: Any, printer: Any) -> None:
        flags = getattr(op, self.field)
        if flags != "none":
            printer.out.append(" " + flags.replace(", ", "|"))


@directive("GepIndices")
class GepIndices(Directive):
    """`%i, 3`: dynamic and constant indices. Arguments: $dynamicIndices, $rawConstantIndices."""

    space = False
    fragment = "gep_index_list"
    rules = {  # noqa: RUF012
        "gep_index_list": '| gep_index | gep_index_list "," gep_index',
        "gep_index": "VALUES -> values | INTEGER -> constant",
    }

    def read(self, child: Any, state: Any) -> None:
        dynamic, constants = self.names
        names: list[Any] = []
        raw: list[int] = []
        for kind, value in chain(child[0]):
            if kind == "values":
                names += value
                raw += [-(2**31)] * len(value)
            else:
                raw.append(int(value[0], 0))
        state.operands[dynamic] = names
        state.properties[constants] = DenseArrayAttr(i32, tuple(raw))

    def write(self, op: Any, printer: Any) -> None:
        values = iter(getattr(op, self.names[0]))
        parts = [
            printer.value(next(values)) if raw == -(2**31) else str(raw)
            for raw in getattr(op, self.names[1])
        ]
        printer.out.append(", ".join(parts))


@directive("QuotedEnum")
class QuotedEnum(Directive):
    """`"slt"`: an enumeration as a string. Argument: $predicate."""

    fragment = "STRING"

    def read(self, child: Any, state: Any) -> None:
        kind = state.definition.attributes[self.names[0]].kind
        word, pos = child[0]
        if word not in kind.cases:
            state.fail(f"expected one of {', '.join(kind.cases)}; found '{word}'", pos)
        state.properties[self.names[0]] = kind.from_python(word)

    def write(self, op: Any, printer: Any) -> None:
        printer.out.append(f' "{getattr(op, self.names[0])}"')


@directive("AtomicAccess")
class AtomicAccess(Directive):
    """` atomic syncscope("agent") acquire`, or nothing. Arguments: $ordering, $syncscope."""

    fragment = "atomic_access"
    rules = {  # noqa: RUF012
        "atomic_access": '| "atomic" sync_scope BARE_ID',
        "sync_scope": '| "syncscope" "(" STRING ")"',
    }

    def read(self, child: Any, state: Any) -> None:
        if not child[0]:
            return
        scope, (word, pos) = child[0]
        ordering = state.definition.attributes[self.names[0]].kind
        if word not in ordering.cases:
            state.fail(f"expected one of {', '.join(ordering.cases)}; found '{word}'", pos)
        state.properties[self.names[0]] = ordering.from_python(word)
        if scope:
            state.properties[self.names[1]] = StringAttr(scope[0][0])

    def write(self, op: Any, printer: Any) -> None:
        ordering, scope = (getattr(op, name) for name in self.names)
        if ordering != "not_atomic":
            where = f' syncscope("{scope}")' if scope else ""
            printer.out.append(f" atomic{where} {ordering}")


@directive("Successor")
class Successor(Directive):
    """`^bb1(%x : i64)`. Arguments: $dest, $operands, type($operands)."""

    fragment = "branch_target"
    rules = TARGET

    def read(self, child: Any, state: Any) -> None:
        dest, operands = self.names[:2]
        read_targets(state, [child[0]], dest, operands)

    def write(self, op: Any, printer: Any) -> None:
        dest, operands = (getattr(op, name) for name in self.names[:2])
        printer.out.append(" " + target_text(printer, dest, operands))


@directive("IndirectTargets")
class IndirectTargets(Directive):
    """`[ ^bb1(%x : i64), ^bb2 ]`, a line for each block.

    Arguments: $targets, $operands, type($operands), $segments.
    """

    fragment = '"[" target_list "]"'
    rules = {  # noqa: RUF012
        **TARGET,
        "target_list": '| branch_target | target_list "," branch_target',
    }

    def read(self, child: Any, state: Any) -> None:
        dests, operands, _, segments = self.names
        read_targets(state, chain(child[0]), dests, operands, segments)

    def write(self, op: Any, printer: Any) -> None:
        lines = [
            f"\n{printer.indent}{target_text(printer, block, args)}" for block, args in op.cases()
        ]
        printer.out.append(f" [{','.join(lines)}\n{printer.indent}]")


@directive("LLVMSwitchCases")
class LLVMSwitchCases(Directive):
    """`[ 1: ^bb1(%x : i64), -2: ^bb2 ]`, a line for each case.

    Arguments: $value, $case_values, $dests, $operands, type($operands), $segments.
    """

    fragment = '"[" case_list "]"'
    rules = {  # noqa: RUF012
        **TARGET,
        "case_list": '| one_case | case_list "," one_case',
        "one_case": 'INTEGER ":" branch_target',
    }

    def read(self, child: Any, state: Any) -> None:
        value, values, dests, operands, _, segments = self.names
        cases = chain(child[0])
        read_targets(state, [target for _, target in cases], dests, operands, segments)
        if cases:
            kind = state.types[value][0]
            numbers = [number_of(state.session, token, kind) for token, _ in cases]
            type = VectorType((len(cases),), kind)
            state.properties[values] = DenseElements.from_list(numbers, type)

    def write(self, op: Any, printer: Any) -> None:
        inner = printer.indent + "  "
        lines = [
            f"\n{inner}{number}: {target_text(printer, block, args)}"
            for number, block, args in op.cases()
        ]
        printer.out.append(f" [{','.join(lines)}\n{printer.indent}]")


@directive("InsertValue")
class InsertValue(Directive):
    """`%v, %s[0]`. Arguments: $container, $value, $position."""

    fragment = "values bare_array"

    def read(self, child: Any, state: Any) -> None:
        container, value, position = self.names
        names, tokens = child
        if len(names) != 2:
            state.wrong_operand_count(names, 2, 2)
        state.operands[value], state.operands[container] = [names[0]], [names[1]]
        kind = state.definition.attributes[position].kind
        state.properties[position] = state.typed_attribute("bare_array", kind, tokens)
        # The member's type follows from the aggregate's only; the value knows its own.

    def write(self, op: Any, printer: Any) -> None:
        container, value, _ = (getattr(op, name) for name in self.names)
        position = printer.bare_attribute(op.properties[self.names[2]])
        printer.out.append(f" {printer.value(value)}, {printer.value(container)}{position}")


@directive("InsertElement")
class InsertElement(Directive):
    """`%x, %v[%i : i64]`. Arguments: $vector, $value, $position, type($position)."""

    fragment = 'values "[" VALUE ":" TYPE "]"'

    def read(self, child: Any, state: Any) -> None:
        vector, value, position = self.names[:3]
        names, at, type = child
        if len(names) != 2:
            state.wrong_operand_count(names, 2, 2)
        state.operands[value], state.operands[vector] = [names[0]], [names[1]]
        state.operands[position], state.types[position] = [at], [type]

    def write(self, op: Any, printer: Any) -> None:
        vector, value, position = (getattr(op, name) for name in self.names[:3])
        printer.out.append(
            f" {printer.value(value)}, {printer.value(vector)}"
            f"[{printer.value(position)} : {printer.type(position.type)}]"
        )


@directive("HideZero")
class HideZero(Directive):
    """An attribute that is left out of the text where it is zero. Argument: $attribute."""

    fragment = "hide_zero"
    rules = {"hide_zero": ""}  # noqa: RUF012

    def fields(self):
        return iter(())

    def read(self, child: Any, state: Any) -> None:
        state.finish.append(self._forget_zero)

    def _forget_zero(self, op: Any) -> None:
        if getattr(op, self.names[0]) == 0:
            setattr(op, self.names[0], None)

    def write(self, op: Any, printer: Any) -> None:
        if getattr(op, self.names[0]) == 0:
            printer.elide(self.names[0])
