"""Custom directives of the llvm dialect."""

from __future__ import annotations

from typing import Any

from ..attributes import (
    ArrayAttr,
    DenseArrayAttr,
    DenseElements,
    DictAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
)
from ..dialect import registry
from ..types import VectorType, i8, i32, i64
from .directive import Directive, directive, listed
from .directives import dict_text

VISIBILITIES = ("default", "hidden", "protected")
UNNAMED_ADDRESSES = ("none", "local_unnamed_addr", "unnamed_addr")
_WORDS = {"words": "| words BARE_ID"}
_LIST = {"flag_list": 'BARE_ID | flag_list "," BARE_ID'}


def chain(child: Any) -> list[Any]:
    """The items of a match of `list: item | list "," item` whose items are one child each."""
    return [item for (item,) in listed(child, 1)]


class _Words:
    """Bare words in front of a symbol, each a case of one of several properties."""

    def __init__(self, state: Any, words: list[Any]) -> None:
        self.state = state
        self.left = list(words)

    def take(self, field: str, cases: tuple[str, ...]) -> None:
        """Set the property if one of its cases is among the words."""
        for i, (word, _) in enumerate(self.left):
            if word in cases:
                kind = self.state.definition.attributes[field].kind
                self.state.properties[field] = kind.from_python(word)
                del self.left[i]
                return

    def number(self, field: str, cases: tuple[str, ...]) -> None:
        """Set an i64 property to the number of the case that is among the words."""
        for i, (word, _) in enumerate(self.left):
            if word in cases[1:]:
                self.state.properties[field] = IntegerAttr(cases.index(word), i64)
                del self.left[i]
                return

    def done(self) -> None:
        """Every word must have been taken."""
        for word, pos in self.left:
            self.state.fail(f"expected '@' and a name, found '{word}'", pos)


def _cases(op_or_definition: Any, field: str) -> tuple[str, ...]:
    return op_or_definition.attributes[field].kind.cls.cases


def _number_word(op: Any, field: str, cases: tuple[str, ...]) -> str:
    value = op.properties.get(field)
    number = value.value if value is not None else 0
    return f" {cases[number]}" if number else ""


@directive("LLVMFunction")
class LLVMFunction(Directive):
    """`internal fastcc @f(%x: f32 {llvm.noundef}, ...) -> f32 attributes {..} {..}`

    Arguments: $sym_name, $function_type, $linkage, $arg_attrs, $res_attrs, $body.
    """

    fragment = "words SYMBOL llvm_args llvm_result"
    rules = {  # noqa: RUF012
        **_WORDS,
        "llvm_args": '"(" ")" | "(" llvm_arg_list ")"',
        "llvm_arg_list": 'llvm_arg | llvm_arg_list "," llvm_arg',
        "llvm_arg": 'VALUE ":" TYPE dict_opt [location] -> named | TYPE dict_opt -> plain '
        '| "..." -> more',
        "llvm_result": '| "->" TYPE_NOT_FUNCTION | "->" "(" TYPE dict_opt ")"',
    }

    def fields(self):
        yield from super().fields()
        for name in ("CConv", "visibility_", "unnamed_addr"):
            yield "attribute", name

    def read(self, child: Any, state: Any) -> None:
        words, symbol, args, result = child
        taken = _Words(state, chain(words))
        taken.take("linkage", _cases(state.definition, "linkage"))
        taken.take("CConv", _cases(state.definition, "CConv"))
        taken.number("visibility_", VISIBILITIES)
        taken.number("unnamed_addr", UNNAMED_ADDRESSES)
        taken.done()
        state.properties["sym_name"] = state.symbol_name(symbol)
        arguments = [a for a in chain(args[0]) if a[0] != "more"] if args else []
        variadic = bool(args) and any(a[0] == "more" for a in chain(args[0]))
        named = [a for a in arguments if a[0] == "named"]
        if named and len(named) != len(arguments):
            state.fail("either all arguments have names or none has")
        types: Any = registry.dialect("llvm").types
        output = types["llvm.void"]() if not result else result[0]
        function = types["llvm.func"]
        state.properties["function_type"] = function(
            output, tuple(a[2] if a[0] == "named" else a[1] for a in arguments), variadic
        )
        dictionaries = [a[3] if a[0] == "named" else a[2] for a in arguments]
        if any(dictionaries):
            state.properties["arg_attrs"] = _dictionaries(dictionaries)
        if len(result) > 1 and result[1]:
            state.properties["res_attrs"] = _dictionaries([result[1]])
        if named:
            state.entry_args["body"] = [(a[1], a[2], a[4]) for a in named]

    def write(self, op: Any, printer: Any) -> None:
        head = f" {op.linkage}" if op.linkage != "external" else ""
        head += _number_word(op, "visibility_", VISIBILITIES)
        head += _number_word(op, "unnamed_addr", UNNAMED_ADDRESSES)
        head += f" {op.CConv}" if op.CConv != "ccc" else ""
        type = op.function_type
        block = op.regions[0].blocks[0] if op.regions[0].blocks else None
        parts = []
        for i, input in enumerate(type.inputs):
            extra = dict_text(op.arg_attrs, i, printer)
            if block is not None:
                parts.append(printer.argument(block.args[i], extra))
            else:
                parts.append(printer.type(input) + extra)
        if type.variadic:
            parts.append("...")
        printer.out.append(f"{head} {printer.attribute(SymbolRefAttr(op.sym_name))}")
        printer.out.append(f"({', '.join(parts)})")
        for output in type.results:
            attributes = dict_text(op.res_attrs, 0, printer)
            text = printer.type(output)
            printer.out.append(f" -> ({text}{attributes})" if attributes else f" -> {text}")


def _dictionaries(found: list[Any]) -> ArrayAttr:
    return ArrayAttr(tuple(DictAttr(tuple((entries or {}).items())) for entries in found))


@directive("LLVMGlobal")
class LLVMGlobal(Directive):
    """`internal constant @x(1 : i32)`

    Arguments: $linkage, $constant, $thread_local_, $sym_name, $value. The attribute
    dictionary, the type and the region follow.
    """

    fragment = 'words SYMBOL "(" global_value ")"'
    rules = {**_WORDS, "global_value": "| attribute"}  # noqa: RUF012

    def fields(self):
        yield from super().fields()
        for name in ("visibility_", "unnamed_addr"):
            yield "attribute", name

    def read(self, child: Any, state: Any) -> None:
        words, symbol, value = child
        taken = _Words(state, chain(words))
        taken.take("linkage", _cases(state.definition, "linkage"))
        taken.number("visibility_", VISIBILITIES)
        taken.number("unnamed_addr", UNNAMED_ADDRESSES)
        for flag, field in (("constant", "constant"), ("thread_local", "thread_local_")):
            if any(word == flag for word, _ in taken.left):
                taken.left = [w for w in taken.left if w[0] != flag]
                unit = state.definition.attributes[field].kind.from_python(True)
                state.properties[field] = unit
        taken.done()
        state.properties["sym_name"] = state.symbol_name(symbol)
        if value:
            state.properties["value"] = value[0]

    def write(self, op: Any, printer: Any) -> None:
        head = f" {op.linkage}" + _number_word(op, "visibility_", VISIBILITIES)
        head += " thread_local" if op.thread_local_ else ""
        head += _number_word(op, "unnamed_addr", UNNAMED_ADDRESSES)
        head += " constant" if op.constant else ""
        value = printer.attribute(op.value) if op.value is not None else ""
        printer.out.append(f"{head} {printer.attribute(SymbolRefAttr(op.sym_name))}({value})")


@directive("LLVMGlobalType")
class LLVMGlobalType(Directive):
    """`: i32`, or nothing where the value is a string. Arguments: $global_type, $value."""

    fragment = "global_type"
    rules = {"global_type": '| ":" TYPE'}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        (type,) = child
        if type:
            state.properties["global_type"] = type[0]
            return
        value = state.properties.get("value")
        if not isinstance(value, StringAttr):
            state.fail("expected ':' and a type: only a string implies the type of a global")
        array: Any = registry.dialect("llvm").types["llvm.array"]
        state.properties["global_type"] = array(len(value.value.encode()), i8)

    def write(self, op: Any, printer: Any) -> None:
        if not isinstance(op.value, StringAttr):
            printer.out.append(f" : {printer.type(op.global_type)}")


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

    def set_flags(self, state: Any, words: list[Any]) -> None:
        kind = state.definition.attributes[self.field].kind
        state.properties[self.field] = kind.from_python(",".join(word for word, _ in words))


@directive("OverflowFlags")
class OverflowFlags(_FlagList):
    """` overflow<nsw, nuw>`, or nothing. Argument: $overflowFlags."""

    fragment = "overflow_flags"
    rules = {**_LIST, "overflow_flags": '| "overflow" "<" flag_list ">"'}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        if child[0]:
            self.set_flags(state, chain(child[0][0]))

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

    def read(self, child: Any, state: Any) -> None:
        if child[0]:
            self.set_flags(state, chain(child[0][0]))

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


# -- control flow ------------------------------------------------------------------------------

_TARGET = {"branch_target": 'BLOCK | BLOCK "(" values ":" types ")"'}


def _target_text(printer: Any, block: Any, args: Any) -> str:
    name = printer.block_name(block)
    if not args:
        return name
    types = ", ".join(printer.type(v.type) for v in args)
    return f"{name}({printer.values(args)} : {types})"


@directive("Successor")
class Successor(Directive):
    """`^bb1(%x : i64)`. Arguments: $dest, $operands, type($operands)."""

    fragment = "branch_target"
    rules = _TARGET

    def read(self, child: Any, state: Any) -> None:
        block, *passed = child[0]
        dest, operands = self.names[:2]
        state.successors[dest] = [block]
        state.operands[operands] = list(passed[0]) if passed else []
        state.types[operands] = list(passed[1]) if passed else []

    def write(self, op: Any, printer: Any) -> None:
        dest, operands = (getattr(op, name) for name in self.names[:2])
        printer.out.append(" " + _target_text(printer, dest, operands))


@directive("LLVMSwitchCases")
class LLVMSwitchCases(Directive):
    """`[ 1: ^bb1(%x : i64), -2: ^bb2 ]`, a line for each case.

    Arguments: $value, $case_values, $dests, $operands, type($operands), $segments.
    """

    fragment = '"[" case_list "]"'
    rules = {  # noqa: RUF012
        **_TARGET,
        "case_list": '| one_case | case_list "," one_case',
        "one_case": 'INTEGER ":" branch_target',
    }

    def read(self, child: Any, state: Any) -> None:
        value, values, dests, operands, _, segments = self.names
        cases = chain(child[0])
        targets = [target for _, target in cases]
        state.successors[dests] = [target[0] for target in targets]
        state.operands[operands] = [n for t in targets if len(t) > 1 for n in t[1]]
        state.types[operands] = [n for t in targets if len(t) > 1 for n in t[2]]
        counts = tuple(len(t[1]) if len(t) > 1 else 0 for t in targets)
        state.properties[segments] = DenseArrayAttr(i32, counts)
        if cases:
            type = VectorType((len(cases),), state.types[value][0])
            numbers = [int(token[0], 0) for token, _ in cases]
            state.properties[values] = DenseElements.from_list(numbers, type)

    def write(self, op: Any, printer: Any) -> None:
        inner = printer.indent + "  "
        lines = [
            f"\n{inner}{number}: {_target_text(printer, block, args)}"
            for number, block, args in op.cases()
        ]
        printer.out.append(f" [{','.join(lines)}\n{printer.indent}]")


@directive("CallHead")
class CallHead(Directive):
    """` tail fastcc @f(%x) vararg(!llvm.func<..>)`

    Arguments: $TailCallKind, $callee, $callee_operands, $var_callee_type.
    """

    fragment = 'words call_target "(" values_opt ")" call_vararg'
    rules = {  # noqa: RUF012
        **_WORDS,
        "call_target": "SYMBOL -> symbol | VALUE -> value",
        "call_vararg": '| "vararg" "(" TYPE ")"',
    }

    def fields(self):
        yield from super().fields()
        yield "attribute", "CConv"
        yield "attribute", "op_bundle_sizes"
        yield "value", "op_bundle_operands"
        yield "type", "op_bundle_operands"

    def read(self, child: Any, state: Any) -> None:
        tail, callee, operands, variadic = self.names
        words, (kind, target), names, vararg = child
        taken = _Words(state, chain(words))
        taken.take(tail, _cases(state.definition, tail))
        taken.take("CConv", _cases(state.definition, "CConv"))
        taken.done()
        if kind == "symbol":
            state.properties[callee] = target
            state.operands[operands] = list(names)
        else:
            state.operands[operands] = [target, *names]
        if vararg:
            state.properties[variadic] = vararg[0]

    def write(self, op: Any, printer: Any) -> None:
        tail, callee, operands, variadic = (getattr(op, name) for name in self.names)
        head = f" {tail}" if tail != "none" else ""
        head += f" {op.CConv}" if op.CConv != "ccc" else ""
        if callee is not None:
            head += f" {printer.attribute(op.properties[self.names[1]])}"
        else:
            head += f" {printer.value(operands[0])}"
            operands = operands[1:]
        head += f"({printer.values(operands)})"
        printer.out.append(head + (f" vararg({printer.type(variadic)})" if variadic else ""))


@directive("CallType")
class CallType(Directive):
    """`(f32) -> f32`, after `!llvm.ptr, ` for a call through a pointer.

    Arguments: $callee, $callee_operands, type($callee_operands), type($res).
    """

    fragment = "call_type"
    rules = {"call_type": 'function_type -> direct | TYPE "," function_type -> indirect'}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        operands, result = self.names[2], self.names[3]
        _, *pointer, function = child[0]
        state.types[operands] = [*pointer, *function.inputs]
        void = [t for t in function.results if str(t) != "!llvm.void"]
        state.types[result] = void

    def write(self, op: Any, printer: Any) -> None:
        types = [v.type for v in getattr(op, self.names[1])]
        head = " "
        if getattr(op, self.names[0]) is None:
            head = f" {printer.type(types[0])}, "
            types = types[1:]
        results = [v.type for v in op.results]
        printer.out.append(head + printer.function_type(types, results))


# -- aggregates and vectors ----------------------------------------------------------------------


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
