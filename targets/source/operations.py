"""Operations as expressions of source text: by the language's table, or by a function here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dialects import arith, memref, vector
from ...dialects.index_lists import mix
from ...ir.attributes import DenseElements, DenseResource
from ...ir.core import Operation, Value
from ...ir.diagnostics import NncError
from ...ir.types import FloatType, IndexType, IntegerType, Type, VectorType
from .language import Language
from .memory import Buffer, grouped, moved, offset, plus, times


def element_of(type: Type) -> Any:
    """The type itself, or that of a vector's elements."""
    return type.element_type if isinstance(type, VectorType) else type


def lanes_of(type: Type) -> int:
    """How many elements a vector has; 1 for scalars, which vectors of one element are."""
    return type.num_elements if isinstance(type, VectorType) else 1


def is_half(type: Type) -> bool:
    """Whether the elements are floats that are kept as 16 bits and computed in f32."""
    return isinstance(element_of(type), FloatType) and element_of(type).kind in ("f16", "bf16")


class Printing:
    """What represents the values of a function, as expressions need to know it."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.values: dict[Value, Any] = {}
        """Text, a number of an index, or a Buffer."""
        self.widths: dict[Value, int] = {}
        """The bits of a lane, of vectors of truth values."""
        self.wild: set[Value] = set()
        """Indices that come from data, whose sums may wrap around."""

    # -- operands ----------------------------------------------------------------------------

    def text_of(self, value: Value) -> str:
        """A value as an operand."""
        if self.is_mask(value.type):
            return self.mask(value, self.widths.get(value, 32))
        return grouped(self.values[value])

    def mixed(self, entries: Sequence[Any]) -> list[Any]:
        """Mixed lists of numbers and values as numbers and text."""
        return [v if isinstance(v, int) else self.values[v] for v in entries]

    def is_mask(self, type: Type) -> bool:
        """Whether it is a vector of truth values: in source text of integers, -1 for true."""
        return lanes_of(type) > 1 and element_of(type) is IntegerType(1)

    def mask(self, value: Value, bits: int) -> str:
        """A vector of truth values with lanes of so many bits."""
        count = lanes_of(value.type)
        constant = value.defined_by(arith.Constant)
        wanted = self.language.vector(f"i{bits}", count)
        if constant is not None:
            lanes = ", ".join("-1" if n else "0" for n in _elements(constant))
            return f"(({wanted}){{{lanes}}})"
        text = grouped(self.values[value])
        if self.widths.get(value, 32) == bits:
            return text
        return self.language.templates["convert"].format(text, T=wanted)

    def call(self, helper: str, type: Type, *arguments: str, index: str = "") -> str:
        """A function on vectors of a type."""
        name = self.language.helper(helper, self.short(type), lanes_of(type), index)
        texts = (a if "{" in a else stripped(a) for a in arguments)
        return f"{name}({', '.join(texts)})"

    def short(self, type: Type) -> str:
        """The short name of elements, `u8` of truth values."""
        return self.language.stored(element_of(type)).replace("i", "u")

    def vector_type(self, type: Type, letter: str = "") -> str:
        """The name of a vector type, or of integers `i` or `u` as wide as its elements."""
        short = self.short(type)
        return self.language.vector(letter + short[1:] if letter else short, lanes_of(type))

    # -- the table ---------------------------------------------------------------------------

    def from_table(self, op: Operation, name: str | None = None) -> str:
        """What the language's table says of an operation. Raises NncError where that is nothing."""
        type, args = op.results[0].type, [self.text_of(v) for v in op._operands]
        source = op._operands[0].type if op._operands else type
        if self.is_mask(type) and not self.is_mask(source):
            self.widths[op.results[0]] = int(self.short(source)[1:])
        return self.computed(
            name or op.name, args, source, type, any(v in self.wild for v in op._operands), op
        )

    def computed(
        self,
        name: str,
        args: Sequence[str],
        source: Type,
        type: Type,
        wild: bool = False,
        op: Any = None,
    ) -> str:
        """The text of an operation by name on operands of type `source`."""
        if is_half(type) and is_half(source):
            wide = [self.widened(a, source) for a in args]
            single = _with_element(type, "f32")
            return self.narrowed(self.computed(name, wide, single, single), type)
        element, count = element_of(source), lanes_of(source)
        kinds = [""]
        if element is IntegerType(1):
            kinds = [":v", ""] if count > 1 else [":b"]
            if count > 1 and op is not None:
                bits = self.logic_bits(op)
                args = [self.mask(v, bits) for v in op._operands]
                self.widths[op.results[0]] = bits
        elif count > 1:
            kinds = [":v", ""]
        elif isinstance(element, IndexType):
            kinds = [":wild", ":x", ""] if wild else [":x", ""]
            if wild and op is not None:
                self.wild.add(op.results[0])
        elif isinstance(element, IntegerType) and self.language.bits(element) < 32:
            kinds = [":small", ""]
        template = next((t for k in kinds if (t := self.language.templates.get(name + k))), None)
        if template is None:
            raise NncError(f"has no form in {self.language.name} on {source}")
        if template.startswith("@"):
            return self.call(template[1:], source, *args)
        bits = self.language.bits(element)
        return template.format(
            *args,
            T=self.language.type(type),
            S=self.language.type(source),
            I=self.vector_type(source, "i")
            if count > 1
            else self.language.scalars.get(f"i{bits}", ""),
            U=self.vector_type(source, "u")
            if count > 1
            else self.language.scalars.get(f"u{bits}", ""),
            K=self.vector_type(type, "i") if lanes_of(type) > 1 and not self.is_mask(type) else "",
            w=bits,
            W=self.language.bits(element_of(type)),
            F="f" if bits == 32 else "",
        )

    def logic_bits(self, op: Operation) -> int:
        """The width of lanes in which truth values are combined."""
        known = [self.widths[v] for v in op._operands if v in self.widths]
        return known[0] if known else 32

    # -- floats of 16 bits -------------------------------------------------------------------

    def widened(self, text: str, type: Type) -> str:
        """The f32 of 16 bits."""
        kind = element_of(type).kind
        return self._half(f"f32_of_{kind}", text, type)

    def narrowed(self, text: str, type: Type) -> str:
        """An f32 rounded to 16 bits."""
        return self._half(f"{element_of(type).kind}_of_f32", text, type)

    def _half(self, function: str, text: str, type: Type) -> str:
        if lanes_of(type) == 1:
            return f"{function}({stripped(text)})"
        self.vector_type(_with_element(type, "f32"))
        return self.call(function, type, text)


def _with_element(type: Type, kind: str) -> Type:
    element = FloatType(kind)
    return VectorType(type.shape, element) if isinstance(type, VectorType) else element


def stripped(text: str) -> str:
    """Text without the parentheses around all of it."""
    if not text.startswith("(") or not text.endswith(")"):
        return text
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and i < len(text) - 1:
            return text
    return text[1:-1]


OPERATIONS: dict[str, Callable[[Printing, Any], Any]] = {}


def prints(*names: str) -> Callable[[Any], Any]:
    """Register the function that gives the expression of operations; a number of an index."""

    def register(function: Any) -> Any:
        OPERATIONS.update(dict.fromkeys(names, function))
        return function

    return register


# -- constants and indices ---------------------------------------------------------------------


def _elements(op: arith.Constant) -> list[Any]:
    value = op.properties["value"]
    if isinstance(value, DenseResource):
        value = DenseElements.from_numpy(value.to_numpy(), op.results[0].type)
    if not isinstance(value, DenseElements):
        raise NncError(f"{value} is no vector constant")
    found = value.values()
    return list(found) * (lanes_of(op.results[0].type) if value.is_splat else 1)


@prints("arith.constant")
def _constant(p: Printing, op: arith.Constant) -> Any:
    type = op.results[0].type
    if p.is_mask(type):
        p.widths[op.results[0]] = 32
        return p.mask(op.results[0], 32)
    if isinstance(type, VectorType):
        return literals(p, _elements(op), type)
    value = op.properties["value"].value  # type: ignore[attr-defined]
    return value if isinstance(type, IndexType) else p.language.literal(value, type)


def literals(p: Printing, values: Sequence[Any], type: VectorType) -> str:
    """A vector of numbers."""
    element = IntegerType(64) if isinstance(type.element_type, IndexType) else type.element_type
    texts = [p.language.literal(v, element) for v in values]
    if lanes_of(type) == 1:
        return texts[0]
    if len(set(texts)) == 1:
        return p.call("splat", type, texts[0])
    return f"({p.vector_type(type)}){{{', '.join(texts)}}}"


@prints("ub.poison")
def _poison(p: Printing, op: Operation) -> Any:
    type = op.results[0].type
    if p.is_mask(type):
        p.widths[op.results[0]] = 32
        return f"({p.language.vector('i32', lanes_of(type))}){{0}}"
    if lanes_of(type) > 1:
        return f"({p.vector_type(type)}){{0}}"
    return 0 if isinstance(type, IndexType) else "0"


@prints("arith.addi", "arith.muli")
def _sum(p: Printing, op: Operation) -> Any:
    a, b = (p.values[v] for v in op._operands)
    wild = any(v in p.wild for v in op._operands)
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
        found = f"({grouped(at)} == {i} ? {size} : {found})"
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
        p.widths[op.results[0]] = 32 if is_half(type) else p.language.bits(element_of(type))
    return _compared(op.predicate, a, b, "~" if lanes_of(type) > 1 else "!")


def _compared(predicate: str, a: str, b: str, no: str) -> str:
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
    return f"{no}({_compared(_OPPOSITE[predicate[1:]], a, b, no)})"


@prints("arith.cmpi")
def _cmpi(p: Printing, op: arith.CmpI) -> str:
    type, predicate = op._operands[0].type, op.predicate
    a, b = (p.text_of(v) for v in op._operands)
    sign = "!=" if predicate == "ne" else _ORDERED[predicate[-2:]]
    element = element_of(type)
    if p.is_mask(type):
        bits = p.logic_bits(op)
        a, b = (p.mask(v, bits) for v in op._operands)
        p.widths[op.results[0]] = bits
        cast = p.language.vector(f"u{bits}", lanes_of(type)) if predicate[0] == "u" else ""
    elif lanes_of(type) > 1:
        p.widths[op.results[0]] = int(p.short(type)[1:])
        cast = p.vector_type(type, "i") if predicate[0] == "s" else ""
    elif isinstance(element, IndexType):
        cast = p.language.scalars["size"] if predicate[0] == "u" else ""
    else:
        cast = p.language.scalars[f"i{p.language.bits(element)}"] if predicate[0] == "s" else ""
        if element is IntegerType(1):
            a, b, cast = (b, a, "") if cast else (a, b, "")
    return f"({cast}){a} {sign} ({cast}){b}" if cast else f"{a} {sign} {b}"


@prints("arith.select")
def _select(p: Printing, op: arith.Select) -> Any:
    condition, a, b = op._operands
    result = op.results[0]
    if isinstance(p.values[a], Buffer):
        test = p.text_of(condition)
        one, other = p.values[a], p.values[b]
        chosen = lambda x, y: x if x == y else f"({test} ? {grouped(x)} : {grouped(y)})"  # noqa: E731
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
        bits = int(p.short(result.type)[1:])
        return p.call("select", result.type, p.mask(condition, bits), p.text_of(a), p.text_of(b))
    if p.is_mask(result.type):
        p.widths[result] = 32
        return f"{p.text_of(condition)} ? {p.mask(a, 32)} : {p.mask(b, 32)}"
    if a in p.wild or b in p.wild:
        p.wild.add(result)
    return f"{p.text_of(condition)} ? {p.text_of(a)} : {p.text_of(b)}"


def _extreme(p: Printing, op: arith.Select) -> str | None:
    """`a > b ? a : b` and the like of floats, one instruction on many machines."""
    condition, a, b = op._operands
    compare = condition.defined_by(arith.CmpF)
    if compare is None or is_half(a.type) or not isinstance(element_of(a.type), FloatType):
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
    """The larger or smaller float: NaN if one is, +0 above -0; simpler where one is a number."""
    a, b = op._operands
    type, greatest = op.results[0].type, isinstance(op, arith.MaximumF)
    if _number(a) is not None and _number(b) is None:
        a, b = b, a
    x, y = p.text_of(a), p.text_of(b)
    limit = _number(b)
    name = op.name
    if limit is not None and limit == limit and (limit or (greatest and str(limit)[0] != "-")):
        name = "least" if greatest else "most"  # y where x is beyond it, else x
        flags = str(op.properties.get("fastmath"))
        if not limit and not ("nsz" in flags or "fast<" in flags):
            clipped = p.computed(name, [x, y], type, type)
            return p.computed("arith.addf", [grouped(clipped), y], type, type)
    return p.computed(name, [x, y], type, type)


def _number(value: Value) -> float | None:
    """The float that all elements of a constant are."""
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
            if element_of(type).kind == "f32"
            else p.computed("cast", [text], _with_element(type, "f32"), type)
        )
    if is_half(type):
        if element_of(source.type).kind == "f64":
            text = p.computed("odd", [text], source.type, _with_element(type, "f32"))
        return p.narrowed(text, type)
    return p.computed("cast", [text], source.type, type)


@prints("arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui")
def _number_cast(p: Printing, op: Operation) -> str:
    (source,), type = op._operands, op.results[0].type
    text, kind = p.text_of(source), source.type
    if is_half(kind):
        text, kind = p.widened(text, kind), _with_element(kind, "f32")
    if p.is_mask(kind):
        text = p.mask(source, p.language.bits(element_of(type)))
        sign = "-" if isinstance(op, arith.UIToFP) else ""
        return sign + p.language.templates["convert"].format(text, T=p.vector_type(type))
    if is_half(type):
        double = _with_element(type, "f64")
        exact = p.computed(op.name, [text], kind, double)
        return p.narrowed(p.computed("odd", [exact], double, _with_element(type, "f32")), type)
    return p.computed(op.name, [text], kind, type)


@prints("arith.extui", "arith.extsi", "arith.trunci", "arith.index_cast", "arith.index_castui")
def _integer_cast(p: Printing, op: Operation) -> Any:
    (source,), (result,) = op._operands, op.results
    kind, type = source.type, result.type
    if isinstance(p.values[source], Buffer):
        return p.values[source]
    text, count = p.text_of(source), lanes_of(type)
    signed = op.name in ("arith.extsi", "arith.index_cast")
    convert = p.language.templates["convert"]
    if p.is_mask(kind):
        bits = int(p.short(type)[1:])
        return f"({p.vector_type(type)}){'' if signed else '-'}{p.mask(source, bits)}"
    if p.is_mask(type):
        p.widths[result] = int(p.short(kind)[1:])
        low = p.computed("arith.andi", [text, p.call("splat", kind, "1")], kind, kind)
        return f"-({p.vector_type(kind, 'i')})({low})"
    if count > 1:
        if p.vector_type(kind) == p.vector_type(type):
            return text
        if not signed:
            return convert.format(text, T=p.vector_type(type))
        same = convert.format(f"({p.vector_type(kind, 'i')}){text}", T=p.vector_type(type, "i"))
        return f"({p.vector_type(type)}){same}"
    if isinstance(type, IndexType):
        p.wild.add(result)
        if isinstance(p.values[source], int):
            return p.values[source]
    if element_of(kind) is IntegerType(1):
        return f"({p.language.type(type)}){'-' if signed else ''}{text}"
    if element_of(type) is IntegerType(1):
        return f"({text} & 1) != 0"
    bits = p.language.bits(element_of(kind))
    sign = (
        f"({p.language.scalars[f'i{bits}']})" if signed and not isinstance(kind, IndexType) else ""
    )
    return f"({p.language.type(type)}){sign}{text}"


@prints("arith.bitcast", "vector.bitcast")
def _bitcast(p: Printing, op: Operation) -> Any:
    (source,), type = op._operands, op.results[0].type
    if isinstance(p.values[source], Buffer):
        return p.values[source]
    text = p.text_of(source)
    if lanes_of(type) > 1 and lanes_of(source.type) > 1:
        return f"({p.vector_type(type)}){text}"
    one, other = p.short(source.type), p.short(type)
    if lanes_of(type) == lanes_of(source.type):
        return text if one == other else f"{other}_of_{one}({stripped(text)})"
    names = [p.language.type(t) for t in (source.type, type)]
    return p.language.templates["bits"].format(text, S=names[0], T=names[1])


@prints("packed.dot")
def _dot(p: Printing, op: Any) -> str:
    a, b = (p.text_of(v) for v in op._operands)
    name, type = f"dot_{op.packing}", op.results[0].type
    return p.call(name, type, a, b) if lanes_of(type) > 1 else f"{name}({a}, {b})"


# -- vectors -----------------------------------------------------------------------------------


@prints("vector.broadcast")
def _broadcast(p: Printing, op: vector.Broadcast) -> str:
    type, source = op.results[0].type, op.source
    text = p.text_of(source) if lanes_of(source.type) == 1 else f"{p.text_of(source)}[0]"
    if p.is_mask(type):
        p.widths[op.results[0]] = 32
        return p.call("splat", VectorType(type.shape, IntegerType(32)), f"-(uint32_t){text}").join(
            (f"({p.language.vector('i32', lanes_of(type))})", "")
        )
    if lanes_of(type) == 1 or lanes_of(source.type) == lanes_of(type):
        return p.text_of(source)
    return p.call("splat", type, text)


def position(op: Any) -> list[Any]:
    """Numbers and values of a position in a vector."""
    return mix(op.static_position, op.dynamic_position)


@prints("vector.extract")
def _extract(p: Printing, op: vector.Extract) -> str:
    source, text = op.source, p.text_of(op.source)
    if source.type.rank > 1 or lanes_of(source.type) == 1:
        return _only_one(source, text)
    at = [p.values[v] if isinstance(v, Value) else v for v in position(op)]
    if p.is_mask(source.type):
        return f"{text}[{at[0]}] != 0"
    return f"{text}[{at[0]}]"


def _only_one(source: Value, text: str) -> str:
    """A vector of one element, which is a scalar."""
    if lanes_of(source.type) > 1:
        raise NncError(f"vectors of higher rank, {source.type}, are to be taken apart before")
    return text


@prints("vector.insert")
def _insert(p: Printing, op: vector.Insert) -> str:
    type = op.dest.type
    text = p.text_of(op.valueToStore)
    if lanes_of(type) == 1 or type.rank > 1:
        return _only_one(op.dest, text)
    (at,) = (p.values[v] if isinstance(v, Value) else v for v in position(op))
    return p.call("insert", type, p.text_of(op.dest), text, str(at))


def shuffled(
    p: Printing, type: VectorType, a: str, b: str, mask: Sequence[int], source: VectorType
) -> str:
    """Elements of two vectors of one type, by number, as a vector of a type."""
    name, size = p.vector_type(type), lanes_of(source)
    if len(mask) == 1:
        return f"{a if mask[0] < size else b}[{mask[0] % size}]"
    return p.language.templates["shuffle"].format(
        a, b, T=name, mask=", ".join(map(str, mask)), lanes=", ".join(
            "0" if i < 0 else f"{a if i < size else b}[{i % size}]" for i in mask
        )
    )  # fmt: skip


@prints("vector.shuffle")
def _shuffle(p: Printing, op: vector.Shuffle) -> str:
    a, b, type = p.text_of(op.v1), p.text_of(op.v2), op.results[0].type
    first, second = lanes_of(op.v1.type), lanes_of(op.v2.type)
    if first == second and first > 1:
        return shuffled(p, type, a, b, op.mask, op.v1.type)
    parts = [a if first == 1 else f"{a}[{i}]" for i in range(first)]
    parts += [b if second == 1 else f"{b}[{i}]" for i in range(second)]
    chosen = ["0" if i < 0 else parts[i] for i in op.mask]
    return chosen[0] if len(chosen) == 1 else f"({p.vector_type(type)}){{{', '.join(chosen)}}}"


@prints("vector.interleave")
def _interleave(p: Printing, op: vector.Interleave) -> str:
    a, b, size = p.text_of(op.lhs), p.text_of(op.rhs), lanes_of(op.lhs.type)
    type = op.results[0].type
    if size == 1:
        return f"({p.vector_type(type)}){{{a}, {b}}}"
    return shuffled(p, type, a, b, [i for k in range(size) for i in (k, size + k)], op.lhs.type)


@prints("vector.extract_strided_slice")
def _extract_slice(p: Printing, op: vector.ExtractStridedSlice) -> str:
    first, count = int(op.offsets[0]), int(op.sizes[0])
    text = p.text_of(op.source)
    if lanes_of(op.source.type) == 1:
        return text
    return shuffled(p, op.results[0].type, text, text, range(first, first + count), op.source.type)


@prints("vector.insert_strided_slice")
def _insert_slice(p: Printing, op: vector.InsertStridedSlice) -> str:
    (first,) = (int(a) for a in op.offsets)
    new, old = p.text_of(op.valueToStore), p.text_of(op.dest)
    count, size = lanes_of(op.valueToStore.type), lanes_of(op.dest.type)
    if size == 1:
        return new
    part = lambda i: new if count == 1 else f"{new}[{i - first}]"  # noqa: E731
    lanes = [part(i) if first <= i < first + count else f"{old}[{i}]" for i in range(size)]
    return f"({p.vector_type(op.dest.type)}){{{', '.join(lanes)}}}"


@prints("vector.from_elements")
def _from_elements(p: Printing, op: Operation) -> str:
    texts = [stripped(p.text_of(v)) for v in op._operands]
    type = op.results[0].type
    return texts[0] if lanes_of(type) == 1 else f"({p.vector_type(type)}){{{', '.join(texts)}}}"


@prints("vector.step")
def _step(p: Printing, op: vector.Step) -> str:
    return literals(p, list(range(lanes_of(op.results[0].type))), op.results[0].type)


@prints("vector.create_mask", "vector.constant_mask")
def _create_mask(p: Printing, op: Operation) -> str:
    result = op.results[0]
    bounds = (
        op.mask_dim_sizes
        if isinstance(op, vector.ConstantMask)
        else [p.values[v] for v in op._operands]
    )
    if lanes_of(result.type) == 1:
        return " & ".join(f"({grouped(b)} > 0)" for b in bounds)
    if result.type.rank > 1:
        raise NncError(f"masks of higher rank, {result.type}, are to be taken apart before")
    bits = mask_bits(p, result)
    p.widths[result] = bits
    lanes = VectorType(result.type.shape, IntegerType(bits))
    return p.call("first", lanes, str(bounds[0]))


def mask_bits(p: Printing, value: Value) -> int:
    """The width that the first user of a vector of truth values wants."""
    for user in value.users:
        if isinstance(user, vector.MaskedLoad | vector.Gather) or user.name == "arith.select":
            return int(p.short(user.results[0].type)[1:])
        if isinstance(user, vector.MaskedStore | vector.Scatter):
            return int(p.short(user.valueToStore.type)[1:])
    return 32


@prints("vector.reduction")
def _reduction(p: Printing, op: vector.Reduction) -> str:
    """In order, or by halves where the flags allow that, as LLVM does."""
    type, element = op.vector.type, op.dest.type
    text, kind = p.text_of(op.vector), op.kind
    if is_half(type):
        wide = _with_element(type, "f32")
        text, type = p.widened(text, type), wide
    flags = str(op.properties.get("fastmath"))
    floats = isinstance(element, FloatType)
    name = f"reduce_{kind}" + (
        ""
        if "reassoc" in flags or "fast<fast>" in flags or not floats or kind not in ("add", "mul")
        else "_ordered"
    )
    acc = None if op.acc is None else p.text_of(op.acc)
    if acc is not None and is_half(element):
        acc = p.widened(acc, element)
    word = COMBINED[kind] if not floats else COMBINED_FLOATS.get(kind, COMBINED[kind])
    if p.is_mask(type):
        bits = p.widths.get(op.vector, 32)
        lanes = VectorType(type.shape, IntegerType(bits))
        mask = f"({p.vector_type(lanes)}){p.mask(op.vector, bits)}"
        found = f"({p.call(name, lanes, mask)} & 1) != 0"
        return found if acc is None else p.computed(word, [acc, f"({found})"], element, element)
    if lanes_of(type) > 1:
        if name.endswith("_ordered"):
            start = (
                acc
                if acc is not None
                else p.language.literal(-0.0 if kind == "add" else 1.0, element_of(type))
            )
            text, acc = p.call(name, type, text, start), None
        else:
            text = p.call(name, type, text)
    if acc is not None:
        text = p.computed(word, [acc, grouped(text)], element_of(type), element_of(type))
    return p.narrowed(text, element) if is_half(element) else text


COMBINED = {
    "add": "arith.addi", "mul": "arith.muli", "minui": "arith.minui", "minsi": "arith.minsi",
    "maxui": "arith.maxui", "maxsi": "arith.maxsi", "and": "arith.andi", "or": "arith.ori",
    "xor": "arith.xori", "minnumf": "arith.minnumf", "maxnumf": "arith.maxnumf",
    "minimumf": "arith.minimumf", "maximumf": "arith.maximumf",
}  # fmt: skip
COMBINED_FLOATS = {"add": "arith.addf", "mul": "arith.mulf"}


# -- memory ------------------------------------------------------------------------------------


def address(p: Printing, base: Value, indices: Sequence[Value]) -> tuple[str, Any]:
    """The pointer of a buffer, and how far an element is from it."""
    buffer = p.values[base]
    return buffer.pointer, offset(buffer, [p.values[i] for i in indices])


def pointer(p: Printing, base: Value, indices: Sequence[Value]) -> str:
    """The address of an element."""
    return moved(*address(p, base, indices))


@prints("memref.load")
def _load(p: Printing, op: memref.Load) -> str:
    base, at = address(p, op.memref, op.indices)
    text, type = f"{grouped(base)}[{at}]", op.results[0].type
    if isinstance(type, IndexType):
        p.wild.add(op.results[0])
        return f"({p.language.type(type)}){text}"
    return f"({text} & 1) != 0" if type is IntegerType(1) else text


@prints("vector.load")
def _vector_load(p: Printing, op: vector.Load) -> str:
    type = op.results[0].type
    if lanes_of(type) == 1:
        base, at = address(p, op.base, op.indices)
        text = f"{grouped(base)}[{at}]"
        return f"({text} & 1) != 0" if element_of(type) is IntegerType(1) else text
    return _as_read(p, op, p.call("load", type, pointer(p, op.base, op.indices)))


def _as_read(p: Printing, op: Operation, text: str) -> str:
    """A vector as memory has it: truth values become masks."""
    type = op.results[0].type
    if not p.is_mask(type):
        return text
    p.widths[op.results[0]] = 8
    bytes = VectorType(type.shape, IntegerType(8))
    return f"-({p.vector_type(bytes, 'i')})({text} & {p.call('splat', bytes, '1')})"


def as_stored(p: Printing, value: Value) -> str:
    """A vector as memory has it, truth values as bytes of 0 and 1."""
    if not p.is_mask(value.type):
        return p.text_of(value)
    return f"({p.language.vector('u8', lanes_of(value.type))})-{p.mask(value, 8)}"


@prints("vector.maskedload")
def _masked_load(p: Printing, op: vector.MaskedLoad) -> str:
    type, at = op.results[0].type, pointer(p, op.base, op.indices)
    if lanes_of(type) == 1:
        return f"{p.text_of(op.mask)} ? {grouped(at)}[0] : {p.text_of(op.pass_thru)}"
    mask = p.mask(op.mask, int(p.short(type)[1:]))
    return _as_read(p, op, p.call("maskedload", type, at, mask, as_stored(p, op.pass_thru)))


@prints("vector.gather")
def _gather(p: Printing, op: vector.Gather) -> str:
    type, base = op.results[0].type, pointer(p, op.base, op.offsets)
    stride = p.values[op.base].strides[-1]
    if lanes_of(type) == 1:
        place = times(p.values[op.indices], stride)
        return f"{p.text_of(op.mask)} ? {grouped(base)}[{place}] : {p.text_of(op.pass_thru)}"
    mask = p.mask(op.mask, int(p.short(type)[1:]))
    index = p.vector_type(op.indices.type, "i")
    places = f"({index}){p.text_of(op.indices)}"
    text = p.call(
        "gather",
        type,
        base,
        places,
        str(stride),
        mask,
        as_stored(p, op.pass_thru),
        index=index.partition("x")[0],
    )
    return _as_read(p, op, text)
