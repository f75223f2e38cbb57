"""Custom directives of the affine dialect: maps applied to values, subscripts, loop bounds."""

from __future__ import annotations

from typing import Any

from ..affine import AffineConstant, AffineDim, AffineExpr, AffineMap, AffineSymbol
from ..attributes import AffineMapAttr, IndexAttr, IntegerAttr, IntegerSetAttr
from ..types import index
from .directive import Directive, directive
from .directives_control import (
    ARROW_RULES,
    ASSIGNMENTS,
    arrow_types,
    assignment_text,
    assignments_of,
    region_text,
    types_of_arrow,
)

APPLIED = {
    "applied": '"(" values_opt ")" applied_symbols',
    "applied_symbols": '| "[" values_opt "]"',
}


def applied_values(child: Any) -> tuple[list[Any], list[Any]]:
    """The dims and the symbols of a match of `applied`."""
    dims, symbols = child
    return dims, symbols[0] if symbols else []


def applied_text(printer: Any, count: int, values: Any) -> str:
    """`(%i)[%n]`, the first `count` values being dims."""
    dims, symbols = values[:count], values[count:]
    text = f"({printer.values(dims)})"
    return f"{text}[{printer.values(symbols)}]" if symbols else text


@directive("AffineApplied")
class AffineApplied(Directive):
    """`affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%n]`, or a set. Arguments: $map, $operands."""

    fragment = "attribute applied"
    rules = APPLIED

    def read(self, child: Any, state: Any) -> None:
        name, operands = self.names
        attribute, applied = child
        dims, symbols = applied_values(applied)
        if not isinstance(attribute, AffineMapAttr | IntegerSetAttr):
            state.fail(f"expected an affine map or set, found '{attribute}'")
        whole = attribute.map if isinstance(attribute, AffineMapAttr) else attribute.set
        if len(dims) != whole.dim_count or len(symbols) != whole.symbol_count:
            state.fail("dimension or symbol operand count and affine map do not match")
        state.properties[name] = attribute
        state.operands[operands] = [*dims, *symbols]
        state.types[operands] = [index] * len(state.operands[operands])

    def write(self, op: Any, printer: Any) -> None:
        name, operands = self.names
        attribute = op.properties[name]
        whole = attribute.map if isinstance(attribute, AffineMapAttr) else attribute.set
        text = printer.attribute(attribute)
        values = getattr(op, operands)
        printer.out.append(f" {text}{applied_text(printer, whole.dim_count, values)}")


@directive("AffineSubscript")
class AffineSubscript(Directive):
    """`%i + symbol(%n) * 2, 0`: one affine expression of values for each dimension.

    Arguments: $map, $operands.
    """

    fragment = "subscripts"
    rules = {  # noqa: RUF012
        "subscripts": "| some_subscripts",
        "some_subscripts": 'subscript_sum | some_subscripts "," subscript_sum',
        "subscript_sum": 'subscript_term | subscript_sum "+" subscript_term -> add '
        '| subscript_sum "-" subscript_term -> subtract',
        "subscript_term": 'subscript_factor | subscript_term "*" subscript_factor -> multiply '
        '| subscript_term "floordiv" subscript_factor -> floordiv '
        '| subscript_term "ceildiv" subscript_factor -> ceildiv '
        '| subscript_term "mod" subscript_factor -> mod',
        "subscript_factor": 'VALUE -> dim | "symbol" "(" VALUE ")" -> symbol | INTEGER -> number '
        '| "-" subscript_factor -> negate | "(" subscript_sum ")" -> inner',
    }

    def read(self, child: Any, state: Any) -> None:
        name, operands = self.names
        reader = _Subscripts()
        sums, at = [], child[0]
        at = at[0] if at else None
        while at:
            sums.append(at[-1])
            at = at[0] if len(at) == 2 else None
        exprs = tuple(reader.expr(one) for one in reversed(sums))
        dims, symbols = reader.dims, reader.symbols
        state.properties[name] = AffineMapAttr(AffineMap(len(dims), len(symbols), exprs))
        state.operands[operands] = [*dims.values(), *symbols.values()]
        state.types[operands] = [index] * (len(dims) + len(symbols))

    def write(self, op: Any, printer: Any) -> None:
        name, operands = self.names
        map_ = op.properties[name].map
        values = [printer.value(v) for v in getattr(op, operands)]
        dims, symbols = values[: map_.dim_count], values[map_.dim_count :]
        texts = [_spelled(str(expr), dims, symbols) for expr in map_.results]
        printer.out.append(", ".join(texts))


class _Subscripts:
    """Reads expressions of values as expressions of dims and symbols, numbered as they come."""

    def __init__(self) -> None:
        self.dims: dict[str, Any] = {}
        self.symbols: dict[str, Any] = {}

    def expr(self, node: Any) -> AffineExpr:
        match node:
            case ("add", a, b):
                return self.expr(a) + self.expr(b)
            case ("subtract", a, b):
                return self.expr(a) - self.expr(b)
            case ("multiply", a, b):
                return self.expr(a) * self.expr(b)
            case ("floordiv", a, b):
                return self.expr(a) // self.expr(b)
            case ("ceildiv", a, b):
                return self.expr(a).ceildiv(self.expr(b))
            case ("mod", a, b):
                return self.expr(a) % self.expr(b)
            case ("negate", a):
                return -self.expr(a)
            case ("inner", a):
                return self.expr(a)
            case ("number", token):
                return AffineConstant(int(token[0], 0))
            case ("dim", name):
                self.dims.setdefault(name[0], name)
                return AffineDim(list(self.dims).index(name[0]))
            case ("symbol", name):
                self.symbols.setdefault(name[0], name)
                return AffineSymbol(list(self.symbols).index(name[0]))
        return self.expr(node[0])


def _spelled(text: str, dims: list[str], symbols: list[str]) -> str:
    """An expression's text with values in place of d0, s0 and so on."""
    import re

    def value(found: re.Match[str]) -> str:
        kind, number = found[1], int(found[2])
        return dims[number] if kind == "d" else f"symbol({symbols[number]})"

    return re.sub(r"\b([ds])(\d+)\b", value, text)


@directive("AffineForLoop")
class AffineForLoop(Directive):
    """`%i = 0 to min affine_map<..>(%n) step 2 iter_args(%x = %init) -> (f32) {..}`

    Arguments: $lowerBoundMap, $lowerBoundOperands, $upperBoundMap, $upperBoundOperands, $step,
    $inits, type($results), $region.
    """

    fragment = 'VALUE "=" for_bound "to" for_bound for_step for_carried region'
    rules = {  # noqa: RUF012
        "for_bound": "attribute -> number | VALUE -> value | attribute applied -> map "
        '| "max" attribute applied -> map | "min" attribute applied -> map',
        "for_step": '| "step" INTEGER',
        "for_carried": '| "iter_args" assignments arrow_types',
        **APPLIED,
        **ASSIGNMENTS,
        **ARROW_RULES,
    }

    def read(self, child: Any, state: Any) -> None:
        (low_map, low, up_map, up, step, inits, results, body) = self.names
        induction, lower, upper, by, carried, region = child
        for bound, map_name, values in ((lower, low_map, low), (upper, up_map, up)):
            attribute, operands = _bound(bound, state)
            state.properties[map_name] = attribute
            state.operands[values] = operands
            state.types[values] = [index] * len(operands)
        state.properties[step] = IndexAttr(int(by[0][0], 0) if by else 1)
        names, values = assignments_of(carried[0]) if carried else ([], [])
        types = types_of_arrow(carried[1]) if carried else []
        if len(types) != len(names):
            state.fail("mismatch between the number of loop-carried values and results")
        state.operands[inits], state.types[inits] = values, types
        state.types[results] = types
        state.regions[body] = [region]
        state.entry_args[body] = [
            (name, t, None) for name, t in zip([induction, *names], [index, *types], strict=True)
        ]

    def write(self, op: Any, printer: Any) -> None:
        low_map, low, up_map, up, step, inits, _, body = (getattr(op, n) for n in self.names)
        args = body.blocks[0].args
        lower = _bound_text(printer, low_map, low, "max")
        upper = _bound_text(printer, up_map, up, "min")
        head = f" {printer.value(args[0])} = {lower} to {upper}"
        if step != 1:
            head += f" step {step}"
        if inits:
            head += f" iter_args{assignment_text(printer, args[1:], inits)}"
            head += arrow_types(printer, [v.type for v in inits], bare_single=False)
        printer.out.append(head)
        region_text(op, body, printer)


def _bound(child: Any, state: Any) -> tuple[Any, list[Any]]:
    """The map and the operands of a loop bound."""
    match child:
        case ("number", IntegerAttr(value)):
            return AffineMapAttr(AffineMap.constant(value)), []
        case ("value", name):
            return AffineMapAttr(AffineMap(0, 1, (AffineSymbol(0),))), [name]
        case ("map", AffineMapAttr() as attribute, applied):
            dims, symbols = applied_values(applied)
            return attribute, [*dims, *symbols]
    state.fail("expected a loop bound: an integer, a value or an applied affine map")
    raise AssertionError


def _bound_text(printer: Any, attribute: Any, values: Any, word: str) -> str:
    match attribute.map:
        case AffineMap(0, 0, (AffineConstant(value),)):
            return str(value)
        case AffineMap(0, 1, (AffineSymbol(0),)) | AffineMap(1, 0, (AffineDim(0),)):
            return printer.value(values[0])
    text = printer.attribute(attribute)
    text += applied_text(printer, attribute.map.dim_count, values)
    return text if len(attribute.map.results) == 1 else f"{word} {text}"
