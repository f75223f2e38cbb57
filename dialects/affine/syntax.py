"""The directives of affine: maps applied to values, subscripts, loop bounds."""

from __future__ import annotations

import re

from ...ir.affine import AffineSymbol
from ...ir.attributes import IntegerSetAttr
from ...ir.syntax.directive import Directive, directive, listed
from ...ir.syntax.directives import DynamicIndexList
from ...ir.syntax.parts import (
    ARROW_RULES,
    ASSIGNMENTS,
    arrow_types,
    assignment_text,
    index_items_text,
    read_carried,
    read_region,
    region_text,
    types_of_arrow,
)
from ..vocabulary import *

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
        self._check_inputs(state, whole, len(dims), len(symbols))
        state.properties[name] = attribute
        state.operands[operands] = [*dims, *symbols]
        state.types[operands] = [index] * len(state.operands[operands])

    @staticmethod
    def _check_inputs(state: Any, whole: Any, dims: int, symbols: int) -> None:
        if not isinstance(whole, AffineMap):
            for word, found, wanted in (
                ("dim", dims, whole.dim_count),
                ("symbol", symbols, whole.symbol_count),
            ):
                if found != wanted:
                    state.fail(f"{word} operand count and integer set {word} count must match")
            return
        fits = (dims, symbols) == (whole.dim_count, whole.symbol_count)
        if state.definition.cls.splits_inputs and not fits:
            state.fail("dimension or symbol index mismatch")

    def write(self, op: Any, printer: Any) -> None:
        name, operands = self.names
        attribute = op.properties[name]
        whole = attribute.map if isinstance(attribute, AffineMapAttr) else attribute.set
        text = printer.attribute(attribute)
        values = getattr(op, operands)
        printer.out.append(f" {text}{applied_text(printer, whole.dim_count, values)}")


SUBSCRIPTS = {
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


def sums_of(child: Any) -> list[Any]:
    """The expressions, in order, of a match of `subscripts`."""
    sums, at = [], child[0] if child else None
    while at:
        sums.append(at[-1])
        at = at[0] if len(at) == 2 else None
    return sums[::-1]


def subscripts_text(printer: Any, exprs: Any, dims: Any, symbols: Any) -> str:
    """`%i + symbol(%n), 0`"""
    places = [printer.value(v) for v in dims], [printer.value(v) for v in symbols]
    return ", ".join([_spelled(str(expr), *places) for expr in exprs])


@directive("AffineSubscript")
class AffineSubscript(Directive):
    """`%i + symbol(%n) * 2, 0`: one affine expression of values for each dimension.

    Arguments: $map, $operands.
    """

    fragment = "subscripts"
    rules = SUBSCRIPTS

    def read(self, child: Any, state: Any) -> None:
        name, operands = self.names
        reader = _Subscripts()
        exprs = tuple(reader.expr(one) for one in sums_of(child[0]))
        dims, symbols = reader.dims, reader.symbols
        state.properties[name] = AffineMapAttr(AffineMap(len(dims), len(symbols), exprs))
        state.operands[operands] = [*dims.values(), *symbols.values()]
        state.types[operands] = [index] * (len(dims) + len(symbols))

    def write(self, op: Any, printer: Any) -> None:
        name, operands = self.names
        map_ = op.properties[name].map
        values = getattr(op, operands)
        dims, symbols = values[: map_.dim_count], values[map_.dim_count :]
        printer.out.append(subscripts_text(printer, map_.results, dims, symbols))


class _Subscripts:
    """Reads expressions of values as expressions of dims and symbols, numbered as they come.

    A value that is a dim stays one within an expression list, `symbol(..)` or not.
    """

    def __init__(self) -> None:
        self.dims: dict[str, Any] = {}
        self.symbols: dict[str, Any] = {}
        self.mixes = True
        """Whether a value used both as a dimension and as a symbol is one operand."""

    def place(self, kind: str, name: Any) -> AffineExpr:
        """The dim or symbol of a value."""
        for group, make in ((self.dims, AffineDim), (self.symbols, AffineSymbol)):
            if name[0] in group and (self.mixes or (group is self.dims) == (kind == "dim")):
                return make(list(group).index(name[0]))
        group, make = (self.dims, AffineDim) if kind == "dim" else (self.symbols, AffineSymbol)
        group[name[0]] = name
        return make(len(group) - 1)

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
            case ("dim" | "symbol" as kind, name):
                return self.place(kind, name)
        return self.expr(node[0])


def _spelled(text: str, dims: list[str], symbols: list[str]) -> str:
    """An expression's text with values in place of d0, s0 and so on."""

    def value(found: re.Match[str]) -> str:
        kind, number = found[1], int(found[2])
        # Upstream accepts a parallel loop that lacks operands of its bounds.
        group = dims if kind == "d" else symbols
        name = group[number] if number < len(group) else "<<UNKNOWN SSA VALUE>>"
        return name if kind == "d" else f"symbol({name})"

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
        '| "max" attribute applied -> max | "min" attribute applied -> min',
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
            attribute, operands = _bound(bound, state, is_lower=bound is lower)
            state.properties[map_name] = attribute
            state.operands[values] = operands
            state.types[values] = [index] * len(operands)
        state.properties[step] = IndexAttr(int(by[0][0], 0) if by else 1)
        if by and state.properties[step].value < 0:
            state.fail("expected step to be representable as a positive signed integer")
        fault = "mismatch between the number of loop-carried values and results"
        names, types = read_carried(state, carried, inits, results, fault)
        read_region(state, body, region, [induction, *names], [index, *types])

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


def _bound(child: Any, state: Any, is_lower: bool) -> tuple[Any, list[Any]]:
    """The map and the operands of a loop bound."""
    side, prefix = ("lower", "max") if is_lower else ("upper", "min")
    match child:
        case ("number", IntegerAttr(value)):
            return AffineMapAttr(AffineMap.constant(value)), []
        case ("value", name):
            return AffineMapAttr(AffineMap(0, 1, (AffineSymbol(0),))), [name]
        case ("map" | "min" | "max" as word, AffineMapAttr() as attribute, applied):
            if word not in ("map", prefix):
                state.fail(f"unexpected '{word}' in the {side} loop bound")
            if word == "map" and len(attribute.map.results) > 1:
                state.fail(
                    f"{side} loop bound affine map with multiple results requires '{prefix}' prefix"
                )
            dims, symbols = applied_values(applied)
            found, wanted = (len(dims), len(symbols)), attribute.map
            if found != (wanted.dim_count, wanted.symbol_count):
                state.fail("dim operand count and affine map dim count must match")
            return attribute, [*dims, *symbols]
    state.fail("expected a loop bound: an integer, a value or an applied affine map")
    raise AssertionError


def _bound_text(printer: Any, attribute: Any, values: Any, word: str) -> str:
    match attribute.map:
        case AffineMap(0, 0, (AffineConstant(value),)):
            return str(value)
        case AffineMap(0, 1, (AffineSymbol(0),)):
            return printer.value(values[0])
    text = printer.attribute(attribute)
    text += applied_text(printer, attribute.map.dim_count, values)
    return text if len(attribute.map.results) == 1 else f"{word} {text}"


@directive("AffineTransfer")
class AffineTransfer(Directive):
    """`%src[%i + 1], %dst[%j], %tag[0], %n : memref<..>, memref<..>, memref<..>`

    The op's `map_names` are the attributes of the maps. Argument: the operands.
    """

    fragment = 'transfer_parts ":" types'
    rules = {  # noqa: RUF012
        "transfer_parts": 'transfer_part | transfer_parts "," transfer_part',
        "transfer_part": 'VALUE -> number | VALUE "[" subscripts "]" -> access',
        **SUBSCRIPTS,
    }

    def read(self, child: Any, state: Any) -> None:
        parts, types = child
        items = [one for (one,) in listed(parts, 1)]
        found = [rest for kind, *rest in items if kind == "access"]
        numbers = [value for kind, value, *_ in items[len(found) :]]
        names = state.definition.cls.map_names
        if len(found) != len(names) or len(types) != len(names):
            state.fail(f"expected {len(names)} memrefs with indices, and as many types")
        operands, all_types = [], []
        for name, (memref, subscripts), type in zip(names, found, types, strict=True):
            reader = _Subscripts()
            exprs = tuple(reader.expr(one) for one in sums_of(subscripts))
            values = [*reader.dims.values(), *reader.symbols.values()]
            map_ = AffineMap(len(reader.dims), len(reader.symbols), exprs)
            state.attributes[name] = AffineMapAttr(map_)
            operands += [memref, *values]
            all_types += [type, *([index] * len(values))]
        name = self.names[0]
        state.operands[name] = [*operands, *numbers]
        state.types[name] = [*all_types, *([index] * len(numbers))]

    def write(self, op: Any, printer: Any) -> None:
        found, numbers = op.accesses(*op.map_names)
        parts = []
        for name, (memref, values) in zip(op.map_names, found, strict=True):
            map_ = op.map_named(name)
            dims, symbols = values[: map_.dim_count], values[map_.dim_count :]
            text = subscripts_text(printer, map_.results, dims, symbols)
            parts.append(f"{printer.value(memref)}[{text}]")
        parts += [printer.value(v) for v in numbers]
        types = ", ".join([printer.type(memref.type) for memref, _ in found])
        printer.out.append(f" {', '.join(parts)} : {types}")


@directive("AffineParallelLoop")
class AffineParallelLoop(Directive):
    """`(%i, %j) = (0, max(%a, 3)) to (%n, 8) step (2, 1) reduce ("addf") -> (f32) {..}`

    Arguments: $lowerBoundsMap, $lowerBoundsGroups, $upperBoundsMap, $upperBoundsGroups, $steps,
    $reductions, $mapOperands, type($results), $region.
    """

    fragment = (
        '"(" values_opt ")" "=" "(" bounds_opt ")" "to" "(" bounds_opt ")" parallel_step '
        "parallel_reduce region"
    )
    rules = {  # noqa: RUF012
        "bounds_opt": "| some_bounds",
        "some_bounds": 'parallel_bound | some_bounds "," parallel_bound',
        "parallel_bound": 'subscript_sum -> one | "min" "(" subscripts ")" -> several '
        '| "max" "(" subscripts ")" -> several',
        "parallel_step": '| "step" "(" bare_numbers ")"',
        "parallel_reduce": '| "reduce" "(" kind_list ")" arrow_types',
        "kind_list": 'STRING | kind_list "," STRING',
        **SUBSCRIPTS,
        **ARROW_RULES,
    }

    def read(self, child: Any, state: Any) -> None:
        low_map, low_groups, up_map, up_groups, steps, reductions, operands, results, body = (
            self.names
        )
        names, lower, upper, step, reduced, region = child
        found = []
        for bounds, map_name, groups in ((lower, low_map, low_groups), (upper, up_map, up_groups)):
            map_, sizes, values = _parallel_bounds(bounds)
            state.properties[map_name] = AffineMapAttr(map_)
            groups_type = TensorType((len(sizes),), i32)
            state.properties[groups] = DenseElements.from_list(sizes, groups_type)
            found += values
        state.operands[operands] = found
        state.types[operands] = [index] * len(found)
        numbers = [int(n, 0) for n, _ in step[0]] if step else [1] * len(names)
        state.properties[steps] = ArrayAttr(tuple(IntegerAttr(n, i64) for n in numbers))
        kinds = listed(reduced[0], 1) if reduced else []
        state.properties[reductions] = ArrayAttr(
            tuple(self._kind(state, kind) for (kind,) in kinds)
        )
        state.types[results] = types_of_arrow(reduced[1]) if reduced else []
        read_region(state, body, region, names, [index] * len(names))

    @staticmethod
    def _kind(state: Any, token: Any) -> IntegerAttr:
        word, pos = token
        number = state.definition.cls.reduction_kinds.get(word)
        if number is None:
            raise state.error(f'invalid reduction value: "{word}"', pos)
        return IntegerAttr(number, i64)

    def write(self, op: Any, printer: Any) -> None:
        low_map, low_groups, up_map, up_groups, steps, _, operands, results, body = (
            getattr(op, name) for name in self.names
        )
        args = ", ".join([printer.value(arg) for arg in body.blocks[0].args])
        split = low_map.map.dim_count + low_map.map.symbol_count
        lower = _parallel_text(printer, low_map.map, low_groups, operands[:split], "max")
        upper = _parallel_text(printer, up_map.map, up_groups, operands[split:], "min")
        text = f" ({args}) = ({lower}) to ({upper})"
        if any(step != 1 for step in steps):
            text += f" step ({', '.join(map(str, steps))})"
        if results:
            kinds = ", ".join([f'"{kind}"' for kind in op.kinds])
            text += f" reduce ({kinds}) -> ({', '.join([printer.type(v.type) for v in results])})"
        printer.out.append(text)
        region_text(op, body, printer)


def _parallel_bounds(child: Any) -> tuple[AffineMap, list[int], list[Any]]:
    """The map of all bounds, how many results belong to each, and the operands."""
    reader = _Subscripts()
    reader.mixes = False
    exprs: list[AffineExpr] = []
    sizes = []
    for (bound,) in listed(child[0], 1) if child else ():
        kind, content = bound
        if kind == "one":
            exprs.append(reader.expr(content))
            sizes.append(1)
            continue
        reader.mixes = True
        found = [reader.expr(one) for one in sums_of(content)]
        reader.mixes = False
        exprs += found
        sizes.append(len(found))
    map_ = AffineMap(len(reader.dims), len(reader.symbols), tuple(exprs))
    return map_, sizes, [*reader.dims.values(), *reader.symbols.values()]


def _parallel_text(printer: Any, map_: AffineMap, groups: Any, values: Any, word: str) -> str:
    dims, symbols = values[: map_.dim_count], values[map_.dim_count :]
    parts, at = [], 0
    for size in groups:
        text = subscripts_text(printer, map_.results[at : at + size], dims, symbols)
        parts.append(text if size == 1 else f"{word}({text})")
        at += size
    return ", ".join(parts)


@directive("DynamicIndexTuple")
class DynamicIndexTuple(DynamicIndexList):
    """`(%i, 4)`: the same in parentheses."""

    fragment = "index_tuple"

    def write(self, op: Any, printer: Any) -> None:
        dynamic, static = (getattr(op, name) for name in self.names)
        printer.out.append(f" ({index_items_text(printer, dynamic, static)})")
