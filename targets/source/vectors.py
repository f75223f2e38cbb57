"""Operations on vectors, and reads of memory, as expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects import memref, vector
from ...dialects.index_lists import mix
from ...ir.core import Operation, Value
from ...ir.diagnostics import NncError
from ...ir.types import FloatType, IndexType, IntegerType, VectorType, lane_type
from .memory import grouped, moved, offset, times
from .printing import (
    Printing,
    is_half,
    lanes_of,
    of_integers,
    prints,
    stripped,
    with_element,
)
from .scalars import literals

# -- vectors -----------------------------------------------------------------------------------


class Lanes:
    """The types in which an operation moves lanes between vectors: masks move as integers.

    All masks of an operation get the same lane width: that of its first mask with a known width.
    """

    def __init__(self, p: Printing, op: Operation) -> None:
        self.p, self.op = p, op
        self.bits = p.logic_bits(op)

    def type(self, type: Any) -> Any:
        """The type that is moved, for a vector or a lane."""
        if lane_type(type) is not IntegerType(1):
            return type
        lane = IntegerType(self.bits)
        return VectorType(type.shape, lane) if isinstance(type, VectorType) else lane

    def text(self, value: Value) -> str:
        """An operand as text; a truth value is an integer, 0 or all ones."""
        p, type = self.p, self.type(value.type)
        if type is value.type:
            return p.text_of(value)
        if p.is_mask(value.type):
            return grouped(p.cast(p.mask(value, self.bits), p.vector_type(type)))
        number = f"(-{p.cast(p.text_of(value), p.language.scalars['u32'])})"
        return grouped(p.cast(number, p.language.type(lane_type(type))))

    def result(self, text: str, number: int = 0) -> str:
        """The text of result `number` of the operation, converted back to its type."""
        p, result = self.p, self.op.results[number]
        if p.is_mask(result.type):
            p.widths[result] = self.bits
            return p.cast(f"({text})", p.vector_type(self.type(result.type), "i"))
        return f"{grouped(text)} != 0" if lane_type(result.type) is IntegerType(1) else text


@prints("vector.broadcast")
def _broadcast(p: Printing, op: vector.Broadcast) -> str:
    type, source = op.results[0].type, op.source
    if p.is_mask(type) and lanes_of(source.type) == lanes_of(type):
        p.widths[op.results[0]] = p.widths.get(source, 32)
        return p.text_of(source)
    text = p.text_of(source) if lanes_of(source.type) == 1 else p.lane(p.text_of(source), 0)
    if p.is_mask(type):
        p.widths[op.results[0]] = 32
        number = f"-{p.cast(text, p.language.scalars['u32'])}"
        found = p.call("splat", of_integers(type, 32), number)
        return p.cast(found, p.language.vector("i32", lanes_of(type)))
    if lanes_of(type) == 1 or lanes_of(source.type) == lanes_of(type):
        return p.text_of(source)
    for other in source.users:
        if _is_wider(p, other, op):
            wide = p.text_of(other.results[0])
            return shuffled(p, type, wide, wide, range(lanes_of(type)), other.results[0].type)
    return p.call("splat", type, text)


def _is_wider(p: Printing, other: Operation, op: vector.Broadcast) -> bool:
    """Whether an operation printed before broadcasts the same scalar to more lanes."""
    return (
        isinstance(other, vector.Broadcast)
        and other.parent is op.parent
        and other.results[0] in p.values
        and lanes_of(other.results[0].type) > lanes_of(op.results[0].type)
    )


def position(op: Any) -> list[Any]:
    """A position in a vector, as numbers and values."""
    return mix(op.static_position, op.dynamic_position)


@prints("vector.extract")
def _extract(p: Printing, op: vector.Extract) -> str:
    source, text = op.source, p.text_of(op.source)
    if source.type.rank > 1 or lanes_of(source.type) == 1:
        return _only_one(source, text)
    at = [p.values[v] if isinstance(v, Value) else v for v in position(op)]
    if p.is_mask(source.type):
        return f"{p.lane(text, at[0])} != 0"
    return p.lane(text, at[0])


def _only_one(source: Value, text: str) -> str:
    """A vector of one element, which is a scalar. Raises NncError for more elements."""
    if lanes_of(source.type) > 1:
        raise NncError(f"{source.type} must be lowered to vectors of one dimension before")
    return text


@prints("vector.insert")
def _insert(p: Printing, op: vector.Insert) -> str:
    type, lanes = op.dest.type, Lanes(p, op)
    if lanes_of(type) == 1 or type.rank > 1:
        return _only_one(op.dest, p.text_of(op.valueToStore))
    (at,) = (p.values[v] if isinstance(v, Value) else v for v in position(op))
    old, new = lanes.text(op.dest), lanes.text(op.valueToStore)
    return lanes.result(p.call("insert", lanes.type(type), old, new, str(at)))


def shuffled(
    p: Printing, type: VectorType, a: str, b: str, mask: Sequence[int], source: VectorType
) -> str:
    """A vector of a type from elements of two vectors of one type, by their indices."""
    name, size = p.vector_type(type), lanes_of(source)
    if len(mask) == 1:
        return p.lane(a if mask[0] < size else b, mask[0] % size)
    # C's vectors have a power of two of lanes.
    rest = [-1] * ((1 << (len(mask) - 1).bit_length()) - len(mask))
    return p.language.templates["shuffle"].format(
        a, b, T=name, mask=", ".join(map(str, [*mask, *rest])), lanes=", ".join(
            "0" if i < 0 else p.lane(a if i < size else b, i % size) for i in mask
        )
    )  # fmt: skip


@prints("vector.shuffle")
def _shuffle(p: Printing, op: vector.Shuffle) -> str:
    lanes = Lanes(p, op)
    a, b, type = lanes.text(op.v1), lanes.text(op.v2), lanes.type(op.results[0].type)
    first, second = lanes_of(op.v1.type), lanes_of(op.v2.type)
    if first == second and first > 1:
        return lanes.result(shuffled(p, type, a, b, op.mask, op.v1.type))
    parts = [a if first == 1 else p.lane(a, i) for i in range(first)]
    parts += [b if second == 1 else p.lane(b, i) for i in range(second)]
    chosen = ["0" if i < 0 else parts[i] for i in op.mask]
    return lanes.result(p.lanes(type, chosen))


@prints("vector.interleave")
def _interleave(p: Printing, op: vector.Interleave) -> str:
    lanes, size = Lanes(p, op), lanes_of(op.lhs.type)
    a, b, type = lanes.text(op.lhs), lanes.text(op.rhs), lanes.type(op.results[0].type)
    if size == 1:
        return lanes.result(p.lanes(type, [a, b]))
    order = [i for k in range(size) for i in (k, size + k)]
    return lanes.result(shuffled(p, type, a, b, order, op.lhs.type))


@prints("vector.extract_strided_slice")
def _extract_slice(p: Printing, op: vector.ExtractStridedSlice) -> str:
    first, count = int(op.offsets[0]), int(op.sizes[0])
    if lanes_of(op.source.type) == 1:
        return p.text_of(op.source)
    lanes = Lanes(p, op)
    text, type = lanes.text(op.source), lanes.type(op.results[0].type)
    return lanes.result(shuffled(p, type, text, text, range(first, first + count), op.source.type))


@prints("vector.insert_strided_slice")
def _insert_slice(p: Printing, op: vector.InsertStridedSlice) -> str:
    (first,) = (int(a) for a in op.offsets)
    count, size = lanes_of(op.valueToStore.type), lanes_of(op.dest.type)
    if size == 1:
        return p.text_of(op.valueToStore)
    lanes = Lanes(p, op)
    new, old = lanes.text(op.valueToStore), lanes.text(op.dest)
    part = lambda i: new if count == 1 else p.lane(new, i - first)  # noqa: E731
    texts = [part(i) if first <= i < first + count else p.lane(old, i) for i in range(size)]
    return lanes.result(p.lanes(lanes.type(op.dest.type), texts))


@prints("vector.from_elements")
def _from_elements(p: Printing, op: Operation) -> str:
    texts, type = [stripped(p.text_of(v)) for v in op._operands], op.results[0].type
    if p.is_mask(type):
        p.widths[op.results[0]] = 32
        truths = ", ".join(f"-({text})" for text in texts)
        return p.language.templates["lanes"].format(
            truths, T=p.vector_type(of_integers(type, 32), "i")
        )
    return p.lanes(type, texts)


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
        raise NncError(f"mask {result.type} must be lowered to masks of one dimension before")
    bits = mask_bits(p, result)
    p.widths[result] = bits
    return p.call("first", of_integers(result.type, bits), str(bounds[0]))


def mask_bits(p: Printing, value: Value) -> int:
    """The lane width that the first user of a mask needs."""
    for user in value.users:
        if isinstance(user, vector.MaskedLoad | vector.Gather) or user.name == "arith.select":
            return p.lane_bits(user.results[0].type)
        if isinstance(user, vector.MaskedStore | vector.Scatter):
            return p.lane_bits(user.valueToStore.type)
    return 32


@prints("vector.reduction")
def _reduction(p: Printing, op: vector.Reduction) -> str:
    """The text of a reduction: in order, or by halves if the flags allow it, as LLVM does."""
    type, element = op.vector.type, op.dest.type
    text, kind = p.text_of(op.vector), op.kind
    if is_half(type):
        wide = with_element(type, "f32")
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
    if isinstance(type, VectorType) and p.is_mask(type):
        bits = p.widths.get(op.vector, 32)
        lanes = of_integers(type, bits)
        mask = p.cast(p.mask(op.vector, bits), p.vector_type(lanes))
        found = f"({p.call(name, lanes, mask)} & 1) != 0"
        return found if acc is None else p.computed(word, [acc, f"({found})"], element, element)
    if lanes_of(type) > 1:
        if name.endswith("_ordered"):
            start = (
                acc
                if acc is not None
                else p.language.literal(-0.0 if kind == "add" else 1.0, lane_type(type))
            )
            text, acc = p.call(name, type, text, start), None
        else:
            text = p.call(name, type, text)
    if acc is not None:
        text = p.computed(word, [acc, grouped(text)], lane_type(type), lane_type(type))
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
    """The pointer of a buffer, and the distance of an element from it in elements."""
    buffer = p.values[base]
    return buffer.pointer, offset(buffer, [p.values[i] for i in indices])


def pointer(p: Printing, base: Value, indices: Sequence[Value]) -> str:
    """The text of the address of an element."""
    return moved(*address(p, base, indices))


@prints("memref.load")
def _load(p: Printing, op: memref.Load) -> str:
    base, at = address(p, op.memref, op.indices)
    text, type = f"{grouped(base)}[{at}]", op.results[0].type
    if isinstance(type, IndexType):
        p.wild.add(op.results[0])
        return p.cast(text, p.language.type(type))
    return f"({text} & 1) != 0" if type is IntegerType(1) else text


@prints("vector.load")
def _vector_load(p: Printing, op: vector.Load) -> str:
    type = op.results[0].type
    if lanes_of(type) == 1:
        base, at = address(p, op.base, op.indices)
        text = f"{grouped(base)}[{at}]"
        return f"({text} & 1) != 0" if lane_type(type) is IntegerType(1) else text
    return _as_read(p, op, p.call("load", type, pointer(p, op.base, op.indices)))


def _as_read(p: Printing, op: Operation, text: str) -> str:
    """A vector that was read from memory; bytes of truth values become masks."""
    type = op.results[0].type
    if not p.is_mask(type):
        return text
    p.widths[op.results[0]] = 8
    bytes = of_integers(type, 8)
    lowest = f"({text} & {p.call('splat', bytes, '1')})"
    return "-" + p.cast(lowest, p.vector_type(bytes, "i"))


def as_stored(p: Printing, value: Value) -> str:
    """A vector to be stored in memory; masks become bytes of 0 and 1."""
    if not p.is_mask(value.type):
        return p.text_of(value)
    return p.cast(f"-{p.mask(value, 8)}", p.language.vector("u8", lanes_of(value.type)))


@prints("vector.maskedload")
def _masked_load(p: Printing, op: vector.MaskedLoad) -> str:
    type, at = op.results[0].type, pointer(p, op.base, op.indices)
    if lanes_of(type) == 1:
        return p.chosen(p.text_of(op.mask), f"{grouped(at)}[0]", p.text_of(op.pass_thru))
    mask = p.mask(op.mask, p.lane_bits(type))
    return _as_read(p, op, p.call("maskedload", type, at, mask, as_stored(p, op.pass_thru)))


@prints("vector.gather")
def _gather(p: Printing, op: vector.Gather) -> str:
    type, base = op.results[0].type, pointer(p, op.base, op.offsets)
    stride = p.values[op.base].strides[-1]
    if lanes_of(type) == 1:
        place = times(p.values[op.indices], stride)
        return p.chosen(p.text_of(op.mask), f"{grouped(base)}[{place}]", p.text_of(op.pass_thru))
    mask = p.mask(op.mask, p.lane_bits(type))
    index = p.vector_type(op.indices.type, "i")
    arguments = (base, p.cast(p.text_of(op.indices), index), str(stride), mask)
    kept, short = as_stored(p, op.pass_thru), index.partition("x")[0]
    return _as_read(p, op, p.call("gather", type, *arguments, kept, index=short))
