"""The assembly directives of memref: globals, transfers, and maps without `affine_map`."""

from __future__ import annotations

from ...ir.syntax.directive import Directive, directive
from ...ir.syntax.directives import ArrowTypesOrOne
from ...ir.syntax.literals import dense_elements, sparse_elements
from ..vocabulary import *


@directive("ScopeTypes")
class ScopeTypes(ArrowTypesOrOne):
    """`-> (f32)`, with one more space before it, as upstream prints it."""

    bare_single = False

    def write(self, op: Any, printer: Any) -> None:
        printer.out.append(" ")
        super().write(op, printer)


@directive("MemRefTransfer")
class MemRefTransfer(Directive):
    """`%src[%i], %dst[%j], %n, %tag[%k], %stride, %chunk : memref<..>, memref<..>, memref<..>`

    Argument: the operands.
    """

    fragment = (
        'VALUE "[" values_opt "]" "," VALUE "[" values_opt "]" "," VALUE "," '
        'VALUE "[" values_opt "]" transfer_stride dict_opt ":" TYPE "," TYPE "," TYPE'
    )
    rules = {"transfer_stride": '| "," VALUE "," VALUE'}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        source, at, target, to, count, tag, tag_at, stride, attributes, *types = child
        state.add_attributes(attributes or {})
        name = self.names[0]
        state.operands[name] = [source, *at, target, *to, count, tag, *tag_at, *(stride or ())]
        first, second, third = (
            [t, *([index] * len(v))] for t, v in zip(types, (at, to, tag_at), strict=True)
        )
        numbers = [index] * len(stride or ())
        state.types[name] = [*first, *second, index, *third, *numbers]

    def write(self, op: Any, printer: Any) -> None:
        found, numbers = op.parts(op.values)
        access = [f"{printer.value(v)}[{printer.values(i)}]" for v, i in found]
        count, *stride = (printer.value(v) for v in numbers)
        parts = [*access[:2], count, access[2], *stride]
        types = [printer.type(v.type) for v, _ in found]
        printer.out.append(f" {', '.join(parts)}")
        printer.attr_dict(op)
        printer.out.append(f" : {', '.join(types)}")


@directive("GlobalMemrefOpTypeAndInitialValue")
class GlobalInitialValue(Directive):
    """`memref<2xf32> = dense<[1.0, 2.0]>`, `= uninitialized`, or the type alone.

    Arguments: $type, $initial_value.
    """

    fragment = "TYPE initial_value"
    rules = {  # noqa: RUF012
        "initial_value": '| "=" "uninitialized" -> uninitialized '
        '| "=" "dense" "<" ">" -> empty | "=" "dense" "<" element ">" -> dense '
        '| "=" "sparse" "<" ">" -> no_sparse | "=" "sparse" "<" element "," element ">" -> sparse '
        '| "=" "dense_resource" "<" key ">" -> resource',
    }

    def read(self, child: Any, state: Any) -> None:
        type_name, value_name = self.names
        type, initial = child
        state.properties[type_name] = type
        if not initial:
            return
        if not hasattr(type, "shape"):
            state.fail(f"type should be static shaped memref, but got {type}")
        tensor = TensorType(type.shape, type.element_type)
        match initial[0]:
            case "uninitialized":
                value: Any = UnitAttr()
            case "resource":
                key = initial[1][0]
                value = DenseResource(key, tensor, state.session.resources.blob(key))
            case "sparse" | "no_sparse":
                indices, values = initial[1:] or (None, None)
                value = sparse_elements(state.session, indices, values, tensor)
            case _:
                root = initial[1] if len(initial) > 1 else None
                value = dense_elements(state.session, root, tensor)
        state.properties[value_name] = value

    def write(self, op: Any, printer: Any) -> None:
        type_name, value_name = self.names
        text = f" {printer.type(op.properties[type_name])}"
        match op.properties.get(value_name):
            case None:
                pass
            case UnitAttr():
                text += " = uninitialized"
            case value:
                whole = printer.attribute(value)
                text += f" = {whole.removesuffix(f' : {printer.type(value.type)}')}"
        printer.out.append(text)


@directive("AffineMapBody")
class AffineMapBody(Directive):
    """`(d0, d1) -> (d1, d0)`, a map without `affine_map<..>`. Argument: the attribute."""

    fragment = 'affine_names affine_symbols "->" "(" affine_results ")"'

    def read(self, child: Any, state: Any) -> None:
        dims, symbols, results = child
        state.properties[self.names[0]] = AffineMapAttr(AffineMap(dims, symbols, tuple(results)))

    def write(self, op: Any, printer: Any) -> None:
        printer.out.append(f" {getattr(op, self.names[0]).map}")
