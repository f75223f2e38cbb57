"""Custom directives of functions."""

from __future__ import annotations

from typing import Any

from ..attributes import ArrayAttr, DictAttr, StringAttr
from ..types import FunctionType
from .attribute_printer import symbol_text
from .directive import Directive, directive, listed


@directive("FunctionSignature")
class FunctionSignature(Directive):
    """`private @f(%x: i32 {a.b}) -> (f32 {c.d})`; a declaration lists argument types only.

    Arguments: $visibility, $name, $function_type, $arg_attrs, $res_attrs, $body.
    """

    fragment = 'visibility SYMBOL "(" arguments ")" function_results'
    rules = {  # noqa: RUF012
        "visibility": '| "public" -> public | "private" -> private | "nested" -> nested',
        "arguments": "| named_list -> with_names | typed_list -> types_only",
        "named_list": 'named | named_list "," named',
        "named": 'VALUE ":" TYPE dict_opt [location]',
        "typed_list": 'typed | typed_list "," typed',
        "typed": "TYPE dict_opt",
        "function_results": '| "->" TYPE_NOT_FUNCTION -> one | "->" "(" ")" '
        '| "->" "(" typed_list ")" -> several',
    }

    def read(self, child: Any, state: Any) -> None:
        visibility, name, function_type, arg_attrs, res_attrs, body = self.names
        word, symbol, given, returned = child
        if word:
            state.properties[visibility] = StringAttr(word[0])
        state.properties[name] = state.symbol_name(symbol)
        is_named = bool(given) and given[0] == "with_names"
        args = [item for (item,) in listed(given[1], 1)] if given else []
        results = self._results(returned)
        inputs = tuple(arg[1] if is_named else arg[0] for arg in args)
        state.properties[function_type] = FunctionType(inputs, tuple(r[0] for r in results))
        self._attributes(state, arg_attrs, [arg[2] if is_named else arg[1] for arg in args])
        self._attributes(state, res_attrs, [result[1] for result in results])
        if is_named:
            state.entry_args[body] = [(arg[0], arg[1], arg[3]) for arg in args]

    @staticmethod
    def _results(returned: Any) -> list[Any]:
        if not returned:
            return []
        if returned[0] == "one":
            return [(returned[1], None)]
        return [item for (item,) in listed(returned[1], 1)]

    @staticmethod
    def _attributes(state: Any, name: str, dicts: list[Any]) -> None:
        if any(dicts):
            entries = [DictAttr(tuple((d or {}).items())) for d in dicts]
            state.properties[name] = ArrayAttr(tuple(entries))

    def write(self, op: Any, printer: Any) -> None:
        visibility, name, type, arg_attrs, res_attrs, body = (
            getattr(op, field) for field in self.names
        )
        head = f" {visibility}" if visibility else ""
        head += f" {symbol_text(name)}({self._arguments(type, arg_attrs, body, printer)})"
        head += self._result_text(type.results, res_attrs, printer)
        printer.out.append(head)

    def _arguments(self, type: Any, attrs: Any, body: Any, printer: Any) -> str:
        parts = []
        for i, input in enumerate(type.inputs):
            writer = printer.alias_reader() if body.blocks else printer
            entry = dict_text(attrs, i, writer)
            if body.blocks:
                text = printer.argument(body.blocks[0].args[i], entry)
            else:
                text = f"{printer.type(input)}{entry}"
            parts.append(text)
        return ", ".join(parts)

    @staticmethod
    def _result_text(results: Any, attrs: Any, printer: Any) -> str:
        if not results:
            return ""
        parts = [f"{printer.type(t)}{dict_text(attrs, i, printer)}" for i, t in enumerate(results)]
        plain = len(results) == 1 and not isinstance(results[0], FunctionType)
        if plain and not dict_text(attrs, 0, printer):
            return f" -> {parts[0]}"
        return f" -> ({', '.join(parts)})"


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


def dict_text(attrs: Any, i: int, printer: Any) -> str:
    """` {..}` of entry `i` of a list of dictionaries, or nothing."""
    entries = attrs[i].items() if attrs is not None else ()
    return f" {{{printer.entries(entries)}}}" if entries else ""
