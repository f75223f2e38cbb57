"""The directives of stablehlo: types said once, dimensions, windows."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ...ir.syntax.directive import Directive, directive, listed
from ...ir.syntax.literals import number_of
from ..vocabulary import *
from . import region_syntax as region_syntax
from .attributes import (
    DIMENSION_LISTS,
    ConvDims,
    DotAlgorithm,
    DotDims,
    StablehloEnumeration,
    dimension_list,
)


def given_operands(state: Any) -> list[Any]:
    """The names of all operands, of a format that says `operands`."""
    return state.all_operands or []


@directive("SomeOperands")
class SomeOperands(Directive):
    """`%x, %y`: all operands, at least one, where a comma may follow. Argument: operands."""

    def grammar(self, grammar: Any) -> str:
        # No rule of its own: whether a comma goes on with values shows only behind it.
        return "values"

    def read(self, child: Any, state: Any) -> None:
        state.all_operands = child

    def write(self, op: Any, printer: Any) -> None:
        printer.out.append(f" {printer.values(op.operands)}")


class SaidOnce(Directive, ABC):
    """Base of the directives that leave out types which follow from others.

    Arguments: operands, type(results). A function type gives all of them.
    """

    fragment = "types"

    def read(self, child: Any, state: Any) -> None:
        types = child[0]
        if len(types) == 1 and isinstance(types[0], FunctionType):
            inputs, results = types[0].inputs, types[0].results
        else:
            inputs, results = self.expanded(types, len(given_operands(state)), state)
        state.set_all_types("operands", inputs)
        state.set_all_types("results", results)

    def write(self, op: Any, printer: Any) -> None:
        inputs, results = op.operand_types, op.result_types
        short = self.shortened(list(inputs), list(results))
        if short is None:
            printer.out.append(" " + printer.function_type(inputs, results))
        else:
            printer.out.append(" " + ", ".join([printer.type(t) for t in short]))

    @abstractmethod
    def expanded(self, types: Any, count: int, state: Any) -> Any:
        """The types of `count` operands and of the results, from those in the text."""

    @abstractmethod
    def shortened(self, inputs: list[Any], results: list[Any]) -> list[Any] | None:
        """The types for the text; None where all have to be given."""


@directive("SameOperandsAndResultType")
class SameOperandsAndResultType(SaidOnce):
    """`tensor<4xf32>` of all operands and the result, or `(tensor<4xi32>) -> tensor<4xf32>`."""

    def expanded(self, types: Any, count: int, state: Any) -> Any:
        """The one type of the text, for each operand and for the result."""
        if len(types) != 1:
            state.fail(f"expected one type, found {len(types)}")
        return [types[0]] * count, [types[0]]

    def shortened(self, inputs: list[Any], results: list[Any]) -> list[Any] | None:
        """The result's type, if all operands have it; else None."""
        return results if all(t is results[0] for t in inputs) else None


@directive("ComplexOpType")
class ComplexOpType(SaidOnce):
    """`tensor<4xcomplex<f32>>`, of the result; its parts have the operands' type."""

    def expanded(self, types: Any, count: int, state: Any) -> Any:
        """The operands' types, which follow from the result's, and that of the result."""
        parts = self.parts(types[0])
        if parts is None:
            state.fail(f"expected a tensor of complex elements, found '{types[0]}'")
        return [parts] * count, [types[0]]

    def shortened(self, inputs: list[Any], results: list[Any]) -> list[Any] | None:
        """The result's type, if the operands' types follow from it; else None."""
        return results if all(t is self.parts(results[0]) for t in inputs) else None

    @staticmethod
    def parts(type: Any) -> Any:
        """The type of real and imaginary parts."""
        element = getattr(type, "element_type", None)
        if not isinstance(type, TensorType) or not isinstance(element, ComplexType):
            return None
        return TensorType(type.shape, element.element_type, type.encoding)


@directive("SelectOpType")
class SelectOpType(SaidOnce):
    """`tensor<4xi1>, tensor<4xf32>`: the types of the predicate and of all others."""

    def expanded(self, types: Any, count: int, state: Any) -> Any:
        """The predicate's type, and the other one for both operands and the result."""
        if len(types) != 2:
            state.fail(f"expected two types, found {len(types)}")
        return [types[0], types[1], types[1]], [types[1]]

    def shortened(self, inputs: list[Any], results: list[Any]) -> list[Any] | None:
        """The types of predicate and result, if both operands have the result's type; else None."""
        same = inputs[1] is results[0] and inputs[2] is results[0]
        return inputs[:2] if same else None


@directive("TupleOpType")
class TupleOpType(SaidOnce):
    """`tuple<tensor<4xf32>>`: the type of the result."""

    def expanded(self, types: Any, count: int, state: Any) -> Any:
        """The types of the tuple's elements for the operands, and the tuple for the result."""
        if len(types) != 1 or not isinstance(types[0], TupleType):
            state.fail("expected a tuple type")
        return list(types[0].types), [types[0]]

    def shortened(self, inputs: list[Any], results: list[Any]) -> list[Any] | None:
        """The result's type, the tuple."""
        return results


@directive("Barrier")
class Barrier(Directive):
    """`%x, %y`, or `()` where there are none. Argument: $values."""

    fragment = "barrier"
    rules = {"barrier": 'values -> some | "(" ")" -> none'}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        kind, *values = child[0]
        state.operands[self.names[0]] = values[0] if kind == "some" else []

    def write(self, op: Any, printer: Any) -> None:
        values = getattr(op, self.names[0])
        printer.out.append(f" {printer.values(values)}" if values else "()")


@directive("ListedTypes")
class ListedTypes(Directive):
    """`: f32, i32`, or nothing where there are no values. Arguments: $values, type($outs)."""

    fragment = "listed_types"
    rules = {"listed_types": '| ":" types'}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        types = child[0][0] if child[0] else []
        for name in self.names:
            state.types[name] = list(types)

    def write(self, op: Any, printer: Any) -> None:
        if values := getattr(op, self.names[0]):
            printer.out.append(" : " + ", ".join([printer.type(v.type) for v in values]))


@directive("ReturnValues")
class ReturnValues(Directive):
    """`%x, %y`, or nothing but a space. Argument: $values."""

    fragment = "values_opt"

    def read(self, child: Any, state: Any) -> None:
        state.operands[self.names[0]] = child[0]

    def write(self, op: Any, printer: Any) -> None:
        printer.out.append(f" {printer.values(getattr(op, self.names[0]))}")


@directive("ReturnTypes")
class ReturnTypes(ListedTypes):
    """`: f32, i32` of the values. Argument: $values."""


@directive("ExponentMantissa")
class ExponentMantissa(Directive):
    """`e5m10`. Arguments: $exponent_bits, $mantissa_bits."""

    fragment = "BARE_ID"

    def read(self, child: Any, state: Any) -> None:
        word, pos = child[0]
        exponent, _, mantissa = word.removeprefix("e").partition("m")
        if not word.startswith("e") or not (exponent + mantissa).isdigit() or not mantissa:
            state.fail(f"expected a format such as e5m10, found '{word}'", pos)
        for name, digits in zip(self.names, (exponent, mantissa), strict=True):
            state.properties[name] = IntegerAttr(int(digits or 0), i32)

    def write(self, op: Any, printer: Any) -> None:
        exponent, mantissa = (getattr(op, name).value for name in self.names)
        printer.out.append(f" e{exponent}m{mantissa}")


@directive("SliceRanges")
class SliceRanges(Directive):
    """`[1:3, 0:6:2]`. Arguments: $start_indices, $limit_indices, $strides."""

    fragment = "slice_list"
    rules = {  # noqa: RUF012
        "slice_list": '"[" "]" | "[" ranges "]"',
        "ranges": 'range | ranges "," range',
        "range": 'INTEGER ":" INTEGER | INTEGER ":" INTEGER ":" INTEGER',
    }

    def read(self, child: Any, state: Any) -> None:
        items = [item for (item,) in listed(child[0][0], 1)] if child[0] else []
        columns = ([], [], [])
        for item in items:
            numbers = [number_of(state.session, token, i64) for token in item]
            for column, number in zip(columns, [*numbers, 1][:3], strict=True):
                column.append(number)
        for name, column in zip(self.names, columns, strict=True):
            state.properties[name] = DenseArrayAttr(i64, tuple(column))

    def write(self, op: Any, printer: Any) -> None:
        columns = [getattr(op, name) for name in self.names]
        parts = [
            f"{start}:{limit}" + (f":{stride}" if stride != 1 else "")
            for start, limit, stride in zip(*columns, strict=True)
        ]
        printer.out.append(f" [{', '.join(parts)}]")


# -- products --------------------------------------------------------------------------------------

_CONTRACTING = ("lhs_contracting_dimensions", "rhs_contracting_dimensions")
_BATCHING = ("lhs_batching_dimensions", "rhs_batching_dimensions")


@directive("DotDimensionNumbers")
class DotDimensionNumbers(Directive):
    """`batching_dims = [0] x [0], contracting_dims = [2] x [1]`. Argument: the attribute."""

    fragment = 'batching "contracting_dims" "=" bare_array "x" bare_array'
    rules = {"batching": '| "batching_dims" "=" bare_array "x" bare_array ","'}  # noqa: RUF012

    def read(self, child: Any, state: Any) -> None:
        batching, *contracting = child
        given = dict(zip(_CONTRACTING, contracting, strict=True))
        given |= dict(zip(_BATCHING, batching, strict=True)) if batching else {}
        numbers = {
            name: tuple(number_of(state.session, token, i64) for token in tokens)
            for name, tokens in given.items()
        }
        state.properties[self.names[0]] = DotDims(**numbers)

    def write(self, op: Any, printer: Any) -> None:
        value = getattr(op, self.names[0])
        batching, contracting = (
            " x ".join(f"[{', '.join(map(str, value.value(name)))}]" for name in names)
            for names in (_BATCHING, _CONTRACTING)
        )
        has_batch = any(value.value(name) for name in _BATCHING)
        head = f" batching_dims = {batching}," if has_batch else ""
        printer.out.append(f"{head} contracting_dims = {contracting}")


@directive("Precision")
class Precision(Directive):
    """`, precision = [HIGH, DEFAULT], algorithm = <..>`, or nothing.

    Arguments: $precision_config, and perhaps $algorithm.
    """

    fragment = "precision"
    rules = {  # noqa: RUF012
        "precision": '| "," "precision" "=" precision_list algorithm -> both '
        '| "," "algorithm" "=" parameters -> one',
        "precision_list": '"[" "]" | "[" precisions "]"',
        "precisions": 'BARE_ID | precisions "," BARE_ID',
        "algorithm": '| "," "algorithm" "=" parameters',
    }

    def read(self, child: Any, state: Any) -> None:
        kind, *parts = child[0] or ("",)
        if kind == "both":
            words = [w for ((w, _),) in listed(parts[0][0], 1)] if parts[0] else []
            made = ArrayAttr(tuple(StablehloEnumeration("precision", word) for word in words))
            state.properties[self.names[0]] = made
            parts = list(parts[1])
        if parts:
            if len(self.names) < 2:
                state.fail("no algorithm can be given here")
            state.properties[self.names[1]] = DotAlgorithm.from_syntax((parts[0],))

    def write(self, op: Any, printer: Any) -> None:
        config, *algorithm = (getattr(op, name) for name in self.names)
        if config is not None:
            printer.out.append(f", precision = [{', '.join(word.value for word in config)}]")
        if algorithm and algorithm[0] is not None:
            printer.out.append(f", algorithm = {algorithm[0].write_parameters(printer)}")


@directive("ConvolutionDimensions")
class ConvolutionDimensions(Directive):
    """`[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`. Argument: the attribute."""

    fragment = 'dims "x" dims "->" dims'
    rules = DIMENSION_LISTS

    def read(self, child: Any, state: Any) -> None:
        state.properties[self.names[0]] = ConvDims(*map(dimension_list, child))

    def write(self, op: Any, printer: Any) -> None:
        printer.out.append(f" {getattr(op, self.names[0]).text()}")


_WINDOW = ("stride", "pad", "lhs_dilate", "rhs_dilate", "reverse")


@directive("WindowAttributes")
class WindowAttributes(Directive):
    """`stride = [2, 2], pad = [[1, 1], [0, 1]], lhs_dilate = .., rhs_dilate = .., reverse = ..`,
    those that there are.

    Arguments: $window_strides, $padding, $lhs_dilation, $rhs_dilation, $window_reversal.
    """

    fragment = "window"
    rules = {  # noqa: RUF012
        "window": "| window_items",
        "window_items": 'window_item | window_items "," window_item',
        "window_item": " | ".join(
            f'"{word}" "=" {"pads" if word == "pad" else "bare_array"} -> {word}'
            for word in _WINDOW
        ),
        "pads": '"[" "]" | "[" pad_items "]"',
        "pad_items": 'bare_array | pad_items "," bare_array',
    }

    def read(self, child: Any, state: Any) -> None:
        fields = dict(zip(_WINDOW, self.names, strict=True))
        items = [item for (item,) in listed(child[0][0], 1)] if child[0] else []
        for word, value in items:
            name = fields.pop(word, None)
            if name is None:
                state.fail(f"'{word}' is given twice")
            state.properties[name] = self.attribute(word, value, state)

    @staticmethod
    def attribute(word: str, value: Any, state: Any) -> Any:
        """The attribute for the parsed value after a word."""

        def numbers(tokens: Any, type: Any) -> list[Any]:
            return [number_of(state.session, token, type) for token in tokens]

        if word == "reverse":
            return DenseArrayAttr(i1, tuple(bool(n) for n in numbers(value, i1)))
        if word != "pad":
            return DenseArrayAttr(i64, tuple(numbers(value, i64)))
        pads = [numbers(pair, i64) for (pair,) in listed(value[0], 1)] if value else []
        if any(len(pair) != 2 for pair in pads):
            state.fail("expected two numbers for the padding of each dimension")
        type = TensorType((len(pads), 2), i64)
        return DenseElements.from_list([n for pair in pads for n in pair], type)

    def write(self, op: Any, printer: Any) -> None:
        parts = []
        for word, name in zip(_WINDOW, self.names, strict=True):
            value = op.properties.get(name)
            if isinstance(value, DenseElements):
                pads = ", ".join(f"[{low}, {high}]" for low, high in value.to_numpy())
                parts.append(f"{word} = [{pads}]")
            elif value is not None:
                parts.append(f"{word} = {printer.bare_attribute(value)}")
        printer.out.append(", ".join(parts))
