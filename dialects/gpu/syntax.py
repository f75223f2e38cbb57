"""The directives of gpu: kernels, the arguments of launches, tokens."""

from __future__ import annotations

from ...ir.syntax.attribute_printer import symbol_text
from ...ir.syntax.directive import Directive, directive, listed
from ...ir.syntax.parts import ARROW_RULES, arrow_types, chain, dict_text, types_of_arrow
from ..vocabulary import *
from .attributes import TOKEN
from .functions import KERNEL, SHARED

_VALUES = {
    "typed_values": 'typed_value | typed_values "," typed_value',
    "typed_value": 'VALUE ":" TYPE',
}


def _pairs(child: Any) -> tuple[list[Any], list[Any]]:
    """(names, types) of a match of `typed_values`."""
    pairs = chain(child)
    return [name for name, _ in pairs], [type for _, type in pairs]


@directive("GpuFunction")
class GpuFunction(Directive):
    """`@f(%x: f32) -> f32 workgroup(%a : memref<..>) private(%b : memref<..>) kernel`

    Arguments: $function_type, $arg_attrs, $res_attrs, $body. Name, kind and buffers are
    attributes that it does not declare, as upstream.
    """

    fragment = 'SYMBOL "(" arguments ")" arrow_types workgroup private kernel'
    rules = {  # noqa: RUF012
        "arguments": "| argument_list",
        "argument_list": 'argument | argument_list "," argument',
        "argument": 'VALUE ":" TYPE dict_opt [location]',
        "workgroup": '| "workgroup" "(" typed_values ")"',
        "private": '| "private" "(" typed_values ")"',
        "kernel": '| "kernel" -> given',
        **_VALUES,
        **ARROW_RULES,
    }

    def fields(self):
        yield from super().fields()
        for name in ("sym_name", KERNEL, SHARED):
            yield "attribute", name

    def read(self, child: Any, state: Any) -> None:
        function_type, arg_attrs, _, body = self.names
        symbol, arguments, arrow, workgroup, private, kernel = child
        given = [item for (item,) in listed(arguments[0], 1)] if arguments else []
        inputs = tuple(type for _, type, _, _ in given)
        if any(entries for _, _, entries, _ in given):
            found = (DictAttr(tuple((entries or {}).items())) for _, _, entries, _ in given)
            state.properties[arg_attrs] = ArrayAttr(tuple(found))
        state.properties[function_type] = FunctionType(inputs, tuple(types_of_arrow(arrow)))
        buffers = []
        for found in (workgroup, private):
            names, types = _pairs(found[0]) if found else ([], [])
            buffers.append([(name, type, None) for name, type in zip(names, types, strict=True)])
        named = [(name, type, location) for name, type, _, location in given]
        state.entry_args[body] = [*named, *buffers[0], *buffers[1]]
        state.attributes["sym_name"] = state.symbol_name(symbol)
        state.attributes[SHARED] = IntegerAttr(len(buffers[0]), i64)
        if kernel:
            state.attributes[KERNEL] = UnitAttr()

    def write(self, op: Any, printer: Any) -> None:
        type = op.function_type
        parts = (
            printer.argument(arg, dict_text(op.arg_attrs, i, printer.alias_reader()))
            for i, arg in enumerate(op.args)
        )
        text = ", ".join(parts)
        head = f" {symbol_text(op.sym_name)}({text})"
        head += arrow_types(printer, type.results, bare_single=True)
        for word, buffers in (("workgroup", op.workgroup_buffers), ("private", op.private_buffers)):
            if buffers:
                pairs = (f"{printer.value(b)} : {printer.type(b.type)}" for b in buffers)
                head += f" {word}({', '.join(pairs)})"
        printer.out.append(head + (" kernel" if op.is_kernel else ""))


@directive("LaunchArguments")
class LaunchArguments(Directive):
    """`args(%x : f32, %m : memref<4xf32>)`, or nothing. Arguments: $values, type($values)."""

    fragment = "launch_arguments"
    rules = {"launch_arguments": '| "args" "(" typed_values ")"', **_VALUES}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        (found,) = child
        names, types = _pairs(found[0]) if found else ([], [])
        state.operands[self.names[0]], state.types[self.names[0]] = names, types

    def write(self, op: Any, printer: Any) -> None:
        pairs = [f"{printer.value(v)} : {printer.type(v.type)}" for v in getattr(op, self.names[0])]
        printer.out.append(f" args({', '.join(pairs)})" if pairs else " ")


@directive("AsyncDependencies")
class AsyncDependencies(Directive):
    """`async [%t, %u]`: a token as a result, and tokens to wait for; both may be absent.

    Arguments: type($asyncToken), $asyncDependencies.
    """

    fragment = "async tokens"
    rules = {"async": '| "async" -> given', "tokens": '| "[" values_opt "]"'}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        token, dependencies = self.names
        word, tokens = child
        names = tokens[0] if tokens else []
        state.operands[dependencies] = names
        state.types[dependencies] = [TOKEN] * len(names)
        state.types[token] = [TOKEN] if word else []

    def write(self, op: Any, printer: Any) -> None:
        token, dependencies = (getattr(op, name) for name in self.names)
        words = ["async"] if token is not None else []
        if dependencies:
            words.append(f"[{printer.values(dependencies)}]")
        printer.out.append(f" {' '.join(words)}")


@directive("ModuleTargets")
class ModuleTargets(Directive):
    """`<handler> [#target, #target]`: what a module is for; both may be absent.

    Arguments: $offloadingHandler, $targets.
    """

    fragment = "handler targets"
    rules = {  # noqa: RUF012
        "handler": '| "<" attribute ">"',
        "targets": '| "[" attributes "]"',
    }

    def read(self, child: Any, state: Any) -> None:
        for name, found in zip(self.names, child, strict=True):
            if found:
                value = found[0]
                is_list = isinstance(value, list | tuple)
                state.properties[name] = ArrayAttr(tuple(value)) if is_list else value

    def write(self, op: Any, printer: Any) -> None:
        handler, targets = (op.properties.get(name) for name in self.names)
        text = f"<{printer.attribute(handler)}>" if handler is not None else ""
        text += f" {printer.attribute(targets)}" if targets is not None else ""
        printer.out.append(text)
