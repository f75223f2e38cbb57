"""The directives of llvm's functions, globals and aliases."""

from __future__ import annotations

from ....ir.syntax.directive import Directive, directive
from ....ir.syntax.parts import chain, dict_text
from ....ir.types import i8
from ...vocabulary import *
from ..types import ArrayType

WORDS = {"words": "| words BARE_ID"}
"""The grammar of the bare words in front of a symbol or a callee."""


class Words:
    """Bare words in front of a symbol, each a case of one of several properties."""

    def __init__(self, state: Any, words: Any) -> None:
        self.state = state
        self.left = chain(words)

    def take(self, field: str) -> None:
        """Set the property if one of its cases is among the words."""
        kind = self.state.definition.attributes[field].kind
        cases = kind.cases if kind.cases is not None else kind.cls.cases
        for i, (word, _) in enumerate(self.left):
            if word in cases:
                self.state.properties[field] = kind.from_python(word)
                del self.left[i]
                return

    def flag(self, field: str, name: str) -> None:
        """Set the unit property if its word is there."""
        for i, (word, _) in enumerate(self.left):
            if word == name:
                kind = self.state.definition.attributes[field].kind
                self.state.properties[field] = kind.from_python(True)
                del self.left[i]
                return

    def done(self) -> None:
        """Raise ParseError if a word is left that is no case of any property."""
        for word, pos in self.left:
            self.state.fail(f"expected '@' and a name, found '{word}'", pos)


def words_of(op: Any, *fields: str) -> str:
    """The words of properties that are not their usual value, each with a space before it."""
    usual = ("external", "default", "none", "ccc", None)
    return "".join(f" {w}" for f in fields if (w := getattr(op, f)) not in usual)


def dictionaries(found: list[Any]) -> ArrayAttr:
    """An array of dictionaries, empty ones for None."""
    return ArrayAttr(tuple(DictAttr(tuple((entries or {}).items())) for entries in found))


def _comdat_text(op: Any, printer: Any) -> str:
    comdat = op.properties.get("comdat")
    return f" comdat({printer.attribute(comdat)})" if comdat is not None else ""


_COMDAT = {"comdat": '| "comdat" "(" SYMBOL ")"'}


@directive("LLVMFunction")
class LLVMFunction(Directive):
    """`internal fastcc @f(%x: f32 {llvm.noundef}, ...) -> f32 vscale_range(1, 2) comdat(@c::@f)`

    Arguments: $sym_name, $function_type, $arg_attrs, $res_attrs, $body. The words are those of
    $linkage, $visibility_, $unnamed_addr and $CConv.
    """

    fragment = "words SYMBOL llvm_args llvm_result vscale comdat"
    rules = {  # noqa: RUF012
        **WORDS,
        **_COMDAT,
        "llvm_args": '"(" ")" | "(" llvm_arg_list ")"',
        "llvm_arg_list": 'llvm_arg | llvm_arg_list "," llvm_arg',
        "llvm_arg": 'VALUE ":" TYPE dict_opt [location] -> named '
        '| TYPE dict_opt [location] -> plain | "..." -> more',
        "llvm_result": '| "->" TYPE_NOT_FUNCTION | "->" "(" ")" | "->" "(" TYPE dict_opt ")"',
        "vscale": '| "vscale_range" "(" INTEGER "," INTEGER ")"',
    }

    def fields(self):
        yield from super().fields()
        for name in ("linkage", "CConv", "visibility_", "unnamed_addr", "comdat", "vscale_range"):
            yield "attribute", name

    def read(self, child: Any, state: Any) -> None:
        words, symbol, args, result, vscale, comdat = child
        taken = Words(state, words)
        # Written in this form, a function always says whether its address matters.
        kind = state.definition.attributes["unnamed_addr"].kind
        state.properties["unnamed_addr"] = kind.from_python("none")
        for field in ("linkage", "CConv", "visibility_", "unnamed_addr"):
            taken.take(field)
        taken.done()
        state.properties["sym_name"] = state.symbol_name(symbol)
        found = chain(args[0]) if args else []
        arguments = [a for a in found if a[0] != "more"]
        self._set_type(state, arguments, len(found) > len(arguments), result)
        if vscale:
            bounds = [IntegerAttr(int(token[0], 0), i32) for token in vscale]
            made: Any = registry.dialect("llvm").attributes["llvm.vscale_range"]
            state.properties["vscale_range"] = made(minRange=bounds[0], maxRange=bounds[1])
        if comdat:
            state.properties["comdat"] = comdat[0]

    @staticmethod
    def _set_type(state: Any, arguments: list[Any], variadic: bool, result: Any) -> None:
        named = [a for a in arguments if a[0] == "named"]
        if named and len(named) != len(arguments):
            state.fail("either all arguments have names or none has")
        types: Any = registry.dialect("llvm").types
        output = result[0] if result else types["llvm.void"]()
        skip = 2 if named else 1
        inputs = tuple(a[skip] for a in arguments)
        state.properties["function_type"] = types["llvm.func"](output, inputs, variadic)
        if any(a[skip + 1] for a in arguments):
            state.properties["arg_attrs"] = dictionaries([a[skip + 1] for a in arguments])
        if len(result) > 1 and result[1]:
            state.properties["res_attrs"] = dictionaries([result[1]])
        if named:
            state.entry_args["body"] = [(a[1], a[2], a[4]) for a in named]

    def write(self, op: Any, printer: Any) -> None:
        head = words_of(op, "linkage", "visibility_", "unnamed_addr", "CConv")
        type = op.function_type
        block = op.regions[0].blocks[0] if op.regions[0].blocks else None
        parts = []
        for i, input in enumerate(type.inputs):
            writer = printer.alias_reader() if block is not None else printer
            extra = dict_text(op.arg_attrs, i, writer)
            if block is not None:
                parts.append(printer.argument(block.args[i], extra))
            else:
                parts.append(printer.type(input) + extra)
        if type.variadic:
            parts.append("...")
        text = f"{head} {printer.attribute(SymbolRefAttr(op.sym_name))}({', '.join(parts)})"
        for output in type.results:
            extra, result = dict_text(op.res_attrs, 0, printer), printer.type(output)
            text += f" -> ({result}{extra})" if extra else f" -> {result}"
        if op.vscale_range is not None:
            low, high = (bound.value for bound in op.vscale_range.values)
            text += f" vscale_range({low}, {high})"
        printer.out.append(text + _comdat_text(op, printer))


class _SymbolHead(Directive):
    """The words in front of a global's or an alias's name, and the name."""

    words: tuple[str, ...] = ()
    flags: tuple[tuple[str, str], ...] = ()

    def fields(self):
        yield from super().fields()
        for name in (*self.words, *(field for field, _ in self.flags)):
            yield "attribute", name

    def read_words(self, words: Any, symbol: Any, state: Any) -> None:
        taken = Words(state, words)
        if "unnamed_addr" in self.words:
            kind = state.definition.attributes["unnamed_addr"].kind
            state.properties["unnamed_addr"] = kind.from_python("none")
        for field in self.words:
            taken.take(field)
        for field, word in self.flags:
            taken.flag(field, word)
        taken.done()
        state.properties["sym_name"] = state.symbol_name(symbol)

    def head(self, op: Any, printer: Any) -> str:
        head = f" {op.linkage}" + words_of(op, "visibility_")
        head += " thread_local" if op.thread_local_ else ""
        head += words_of(op, "unnamed_addr")
        head += " constant" if ("constant", "constant") in self.flags and op.constant else ""
        return f"{head} {printer.attribute(SymbolRefAttr(op.sym_name))}"


@directive("LLVMGlobal")
class LLVMGlobal(_SymbolHead):
    """`internal constant @x(1 : i32) comdat(@c::@x)`

    Arguments: $sym_name, $value. The attribute dictionary, the type and the region follow.
    """

    words = ("linkage", "visibility_", "unnamed_addr")
    flags = (("constant", "constant"), ("thread_local_", "thread_local"))
    fragment = 'words SYMBOL "(" global_value ")" comdat'
    rules = {**WORDS, **_COMDAT, "global_value": "| attribute"}  # noqa: RUF012

    def fields(self):
        yield from super().fields()
        yield "attribute", "comdat"

    def read(self, child: Any, state: Any) -> None:
        words, symbol, value, comdat = child
        self.read_words(words, symbol, state)
        if value:
            state.properties["value"] = value[0]
        if comdat:
            state.properties["comdat"] = comdat[0]

    def write(self, op: Any, printer: Any) -> None:
        value = printer.attribute(op.value) if op.value is not None else ""
        printer.out.append(f"{self.head(op, printer)}({value}){_comdat_text(op, printer)}")


@directive("LLVMAlias")
class LLVMAlias(_SymbolHead):
    """`external hidden @x`. Argument: $sym_name."""

    words = ("linkage", "visibility_", "unnamed_addr")
    flags = (("thread_local_", "thread_local"),)
    fragment = "words SYMBOL"
    rules = WORDS

    def read(self, child: Any, state: Any) -> None:
        words, symbol = child
        self.read_words(words, symbol, state)

    def write(self, op: Any, printer: Any) -> None:
        printer.out.append(self.head(op, printer))


@directive("LLVMIFunc")
class LLVMIFunc(_SymbolHead):
    """`external hidden @x`. Argument: $sym_name."""

    words = ("linkage", "visibility_", "unnamed_addr")
    fragment = "words SYMBOL"
    rules = WORDS

    def read(self, child: Any, state: Any) -> None:
        words, symbol = child
        self.read_words(words, symbol, state)

    def write(self, op: Any, printer: Any) -> None:
        head = f" {op.linkage}" + words_of(op, "visibility_", "unnamed_addr")
        printer.out.append(f"{head} {printer.attribute(SymbolRefAttr(op.sym_name))}")


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
        size = len(value.value.encode("utf-8", "surrogateescape"))
        state.properties["global_type"] = ArrayType(size, i8)

    def write(self, op: Any, printer: Any) -> None:
        if not isinstance(op.value, StringAttr):
            printer.out.append(f" : {printer.type(op.global_type)}")
