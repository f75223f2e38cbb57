"""Constants, comparisons and casts as expressions, of scalars and of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects import arith, memref, packed
from ...ir.attributes import DenseElements
from ...ir.core import Operation, Value
from ...ir.types import FloatType, IndexType, IntegerType, VectorType, lane_type
from .memory import Buffer, grouped, plus, times
from .printing import (
    Printing,
    elements_of,
    is_half,
    lanes_of,
    prints,
    stripped,
    with_element,
)

# -- constants and indices ---------------------------------------------------------------------


@prints("arith.constant")
def _constant(p: Printing, op: arith.Constant) -> Any:
    type = op.results[0].type
    if p.is_mask(type):
        p.widths[op.results[0]] = 32
        return p.mask(op.results[0], 32)
    if isinstance(type, VectorType):
        return literals(p, elements_of(op), type)
    value = op.properties["value"].value  # type: ignore[attr-defined]
    return value if isinstance(type, IndexType) else p.language.literal(value, type)


def literals(p: Printing, values: Sequence[Any], type: VectorType) -> str:
    """The text of a vector of numbers."""
    element = IntegerType(64) if isinstance(type.element_type, IndexType) else type.element_type
    texts = [p.language.literal(v, element) for v in values]
    if len(texts) > 1 and len(set(texts)) == 1:
        return p.call("splat", type, texts[0])
    return p.lanes(type, texts)


@prints("ub.poison")
def _poison(p: Printing, op: Operation) -> Any:
    type = op.results[0].type
    if p.is_mask(type):
        p.widths[op.results[0]] = 32
        return p.language.templates["lanes"].format(0, T=p.language.vector("i32", lanes_of(type)))
    if lanes_of(type) > 1:
        return p.language.templates["lanes"].format(0, T=p.vector_type(type))
    return 0 if isinstance(type, IndexType) else "0"


@prints("arith.addi", "arith.muli")
def _sum(p: Printing, op: Operation) -> Any:
    a, b = (p.values[v] for v in op._operands)
    wild = any(v in p.wild for v in op._operands)
    if isinstance(op, arith.AddI) and (found := _dot_and_sum(p, op)) is not None:
        return found
    if not isinstance(op.results[0].type, IndexType) or (wild and not isinstance(a, int)):
        return p.from_table(op)
    return plus(a, b) if isinstance(op, arith.AddI) else times(a, b)


@prints("memref.dim")
def _dim(p: Printing, op: memref.Dim) -> Any:
    at, sizes = p.values[op.index], p.values[op.source].sizes
    if isinstance(at, int):
        return sizes[at]
    found = str(sizes[-1])
    for i, size in reversed(list(enumerate(sizes[:-1]))):
        found = f"({p.chosen(f'{grouped(at)} == {i}', str(size), found)})"
    return found


@prints("memref.rank")
def _rank(p: Printing, op: memref.Rank) -> int:
    return op.memref.type.rank


# -- comparisons and selections ------------------------------------------------------------------

_ORDERED = {"eq": "==", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}
_OPPOSITE = {"eq": "one", "gt": "ole", "ge": "olt", "lt": "oge", "le": "ogt"}


@prints("arith.cmpf")
def _cmpf(p: Printing, op: arith.CmpF) -> str:
    a, b = (p.text_of(v) for v in op._operands)
    type = op._operands[0].type
    if is_half(type):
        a, b = p.widened(a, type), p.widened(b, type)
    if lanes_of(type) > 1:
        p.widths[op.results[0]] = 32 if is_half(type) else p.language.bits(lane_type(type))
    return compared(op.predicate, a, b, "~" if lanes_of(type) > 1 else "!")


def compared(predicate: str, a: str, b: str, no: str) -> str:
    """The text of a comparison of floats; `no` is the language's negation."""
    match predicate:
        case "one":
            return f"({a} < {b}) | ({a} > {b})"
        case "une":
            return f"{a} != {b}"
        case "ord" | "uno":
            sign, join = ("==", "&") if predicate == "ord" else ("!=", "|")
            return f"({a} {sign} {a}) {join} ({b} {sign} {b})"
    if predicate[0] == "o":
        return f"{a} {_ORDERED[predicate[1:]]} {b}"
    return f"{no}({compared(_OPPOSITE[predicate[1:]], a, b, no)})"


@prints("arith.cmpi")
def _cmpi(p: Printing, op: arith.CmpI) -> str:
    type, predicate = op._operands[0].type, op.predicate
    a, b = (p.text_of(v) for v in op._operands)
    sign = "!=" if predicate == "ne" else _ORDERED[predicate[-2:]]
    element = lane_type(type)
    if p.is_mask(type):
        bits = p.logic_bits(op)
        a, b = (p.mask(v, bits) for v in op._operands)
        p.widths[op.results[0]] = bits
        cast = p.language.vector(f"u{bits}", lanes_of(type)) if predicate[0] == "u" else ""
    elif lanes_of(type) > 1:
        p.widths[op.results[0]] = p.lane_bits(type)
        cast = p.vector_type(type, "i") if predicate[0] == "s" else ""
    elif isinstance(element, IndexType):
        cast = p.language.scalars["size"] if predicate[0] == "u" else ""
    else:
        cast = p.language.scalars[f"i{p.language.bits(element)}"] if predicate[0] == "s" else ""
        if element is IntegerType(1):
            a, b, cast = (b, a, "") if cast else (a, b, "")
    if cast:
        a, b = p.cast(a, cast), p.cast(b, cast)
    return f"{a} {sign} {b}"


@prints("arith.select")
def _select(p: Printing, op: arith.Select) -> Any:
    condition, a, b = op._operands
    result = op.results[0]
    if isinstance(p.values[a], Buffer):
        test = p.text_of(condition)
        one, other = p.values[a], p.values[b]
        choice = lambda x, y: f"({p.chosen(test, grouped(x), grouped(y))})"  # noqa: E731
        chosen = lambda x, y: x if x == y else choice(x, y)  # noqa: E731
        pairs = (zip(getattr(one, k), getattr(other, k), strict=True) for k in ("sizes", "strides"))
        return Buffer(
            chosen(one.pointer, other.pointer), *(tuple(chosen(*x) for x in y) for y in pairs)
        )
    if p.is_mask(result.type) and lanes_of(condition.type) > 1:
        bits = p.logic_bits(op)
        m, x, y = (p.mask(v, bits) for v in op._operands)
        p.widths[result] = bits
        return f"({m} & {x}) | (~{m} & {y})"
    if lanes_of(condition.type) > 1:
        if (extreme := _extreme(p, op)) is not None:
            return extreme
        bits = p.lane_bits(result.type)
        return p.call("select", result.type, p.mask(condition, bits), p.text_of(a), p.text_of(b))
    if p.is_mask(result.type):
        p.widths[result] = 32
        return p.chosen(p.text_of(condition), p.mask(a, 32), p.mask(b, 32))
    if a in p.wild or b in p.wild:
        p.wild.add(result)
    template = "choose_vector" if lanes_of(result.type) > 1 else "choose"
    return p.language.templates[template].format(*map(p.text_of, op._operands))


def _extreme(p: Printing, op: arith.Select) -> str | None:
    """The text of an extremum written as `a > b ? a : b` on floats; None for other selections."""
    condition, a, b = op._operands
    compare = condition.defined_by(arith.CmpF)
    if compare is None or is_half(a.type) or not isinstance(lane_type(a.type), FloatType):
        return None
    if compare.predicate not in ("ogt", "olt"):
        return None
    given = compare._operands
    more = compare.predicate == "ogt"
    if given[0] is b and given[1] is a:
        more = not more
    elif not (given[0] is a and given[1] is b):
        return None
    return p.call("greater" if more else "lesser", a.type, p.text_of(a), p.text_of(b))


@prints("arith.maximumf", "arith.minimumf")
def _extremum(p: Printing, op: Operation) -> str:
    """The text of the larger or the smaller of two floats: NaN if either is NaN, and +0 counts as
    larger than -0. If one is a constant, a shorter form that has the same result.
    """
    a, b = op._operands
    type, greatest = op.results[0].type, isinstance(op, arith.MaximumF)
    if number_of(a) is not None and number_of(b) is None:
        a, b = b, a
    x, y = p.text_of(a), p.text_of(b)
    limit = number_of(b)
    name = op.name
    if limit is not None and limit == limit and (limit or (greatest and str(limit)[0] != "-")):
        name = "least" if greatest else "most"  # y where x is beyond it, else x
        flags = str(op.properties.get("fastmath"))
        if not limit and not ("nsz" in flags or "fast<" in flags):
            clipped = p.computed(name, [x, y], type, type)
            return p.computed("arith.addf", [grouped(clipped), y], type, type)
    return p.computed(name, [x, y], type, type)


def number_of(value: Value) -> float | None:
    """The float that all elements of a constant equal; None otherwise."""
    op = value.defined_by(arith.Constant)
    if op is None:
        return None
    found = op.properties["value"]
    if isinstance(found, DenseElements):
        return found.values()[0] if found.is_splat else None
    return getattr(found, "value", None)


# -- casts -------------------------------------------------------------------------------------


@prints("arith.extf", "arith.truncf")
def _float_cast(p: Printing, op: Operation) -> str:
    (source,), type = op._operands, op.results[0].type
    text = p.text_of(source)
    if is_half(source.type):
        text = p.widened(text, source.type)
        return (
            text
            if lane_type(type).kind == "f32"
            else p.computed("cast", [text], with_element(type, "f32"), type)
        )
    if is_half(type):
        if lane_type(source.type).kind == "f64":
            text = p.computed("odd", [text], source.type, with_element(type, "f32"))
        return p.narrowed(text, type)
    return p.computed("cast", [text], source.type, type)


@prints("arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui")
def _number_cast(p: Printing, op: Operation) -> str:
    (source,), type = op._operands, op.results[0].type
    text, kind = p.text_of(source), source.type
    if is_half(kind):
        text, kind = p.widened(text, kind), with_element(kind, "f32")
    if p.is_mask(kind):
        wide = with_element(type, "f32") if is_half(type) else type
        text = p.mask(source, p.language.bits(lane_type(wide)))
        sign = "-" if isinstance(op, arith.UIToFP) else ""
        found = sign + p.language.templates["convert"].format(text, T=p.vector_type(wide))
        return p.narrowed(found, type) if is_half(type) else found
    if is_half(type):
        single, odd = with_element(type, "f32"), f"{op.name} odd"
        if odd in p.language.templates:
            return p.narrowed(p.computed(odd, [text], kind, single), type)
        double = with_element(type, "f64")
        exact = p.computed(op.name, [text], kind, double)
        return p.narrowed(p.computed("odd", [exact], double, single), type)
    if isinstance(op, arith.FPToSI) and lanes_of(kind) == 1 and _has_whole(source, type):
        return p.computed("whole", [text], kind, type)
    return p.computed(op.name, [text], kind, type)


def _has_whole(value: Value, type: IntegerType) -> bool:
    """Whether a float is NaN or known to lie within the limits of an integer type."""
    limits: dict[type[Operation], float] = {}
    while isinstance(op := value.defining_op, arith.MaximumF | arith.MinimumF):
        value, limit = op._operands
        if (number := number_of(limit)) is None:
            return False
        limits.setdefault(op.__class__, number)
    low, high = limits.get(arith.MaximumF), limits.get(arith.MinimumF)
    most = float(1 << (type.width - 1))
    return low is not None and high is not None and -most <= low <= high < most


@prints("arith.extui", "arith.extsi", "arith.trunci", "arith.index_cast", "arith.index_castui")
def _integer_cast(p: Printing, op: Operation) -> Any:
    (source,), (result,) = op._operands, op.results
    kind, type = source.type, result.type
    if isinstance(p.values[source], Buffer):
        return p.values[source]
    text, count = p.text_of(source), lanes_of(type)
    signed = op.name in ("arith.extsi", "arith.index_cast")
    if p.is_mask(kind):
        bits = p.lane_bits(type)
        return p.cast(f"{'' if signed else '-'}{p.mask(source, bits)}", p.vector_type(type))
    if p.is_mask(type):
        p.widths[result] = p.lane_bits(kind)
        low = p.computed("arith.andi", [text, p.call("splat", kind, "1")], kind, kind)
        return f"-{p.cast(f'({low})', p.vector_type(kind, 'i'))}"
    if count > 1:
        return _vector_cast(p, op, text, signed)
    if isinstance(type, IndexType):
        p.wild.add(result)
        if isinstance(p.values[source], int):
            return p.values[source]
    if lane_type(kind) is IntegerType(1):
        return p.cast(f"{'-' if signed else ''}{text}", p.language.type(type))
    if lane_type(type) is IntegerType(1):
        return f"({text} & 1) != 0"
    if signed and not isinstance(kind, IndexType):
        text = p.cast(text, p.language.scalars[f"i{p.language.bits(lane_type(kind))}"])
    return p.cast(text, p.language.type(type))


def _vector_cast(p: Printing, op: Operation, text: str, signed: bool) -> str:
    """A vector of integers with its lanes in another width; `text` is the operand."""
    kind, type = op._operands[0].type, op.results[0].type
    if p.vector_type(kind) == p.vector_type(type):
        return text
    if f"{op.name}:v" in p.language.templates:
        return p.computed(op.name, [text], kind, type)
    convert = p.language.templates["convert"]
    if not signed:
        return convert.format(text, T=p.vector_type(type))
    same = convert.format(p.cast(text, p.vector_type(kind, "i")), T=p.vector_type(type, "i"))
    return p.cast(same, p.vector_type(type))


@prints("arith.bitcast", "vector.bitcast")
def _bitcast(p: Printing, op: Operation) -> Any:
    (source,), type = op._operands, op.results[0].type
    if isinstance(p.values[source], Buffer):
        return p.values[source]
    text = p.text_of(source)
    if lanes_of(type) > 1 and lanes_of(source.type) > 1:
        return p.cast(text, p.vector_type(type))
    one, other = p.short(source.type), p.short(type)
    if lanes_of(type) == lanes_of(source.type):
        return text if one == other else f"{other}_of_{one}({stripped(text)})"
    names = [p.language.type(t) for t in (source.type, type)]
    return p.language.templates["bits"].format(text, S=names[0], T=names[1])


@prints("packed.dot")
def _dot(p: Printing, op: packed.Dot, *more: str) -> str:
    texts, type = [*map(p.text_of, op._operands), *more], op.results[0].type
    name = f"dot_{op.packing}{'_add' if more else ''}"
    return p.call(name, type, *texts) if lanes_of(type) > 1 else f"{name}({', '.join(texts)})"


def _dot_and_sum(p: Printing, op: arith.AddI) -> str | None:
    """A dot product of words and the sum that is its only use as one operation, which processors
    have; None for other sums.
    """
    for made, other in (op._operands, op._operands[::-1]):
        dot = made.defined_by(packed.Dot)
        if dot is not None and made.has_one_use:
            return _dot(p, dot, p.text_of(other))
    return None
