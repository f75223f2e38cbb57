"""Writing the code of a loop nest: scopes, constants, index arithmetic.

A scope is the block of one loop body. Code can be put into an outer scope while an inner
one is being written: it goes before the loop that is open there. That is how addresses and
broadcasts land as far outside as their operands allow.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import prod
from typing import Any

from ...dialects import arith, memref, vector
from ...ir.attributes import Attribute, BoolAttr, DenseElements, FloatAttr, IntegerAttr
from ...ir.core import Block, Operation, Value
from ...ir.location import Location, UnknownLoc
from ...ir.polynomial import Size
from ...ir.rewriting import constant_value
from ...ir.types import FloatType, MemRefType, Type, VectorType, i1, i32, index
from ..model.extents import Extent, Extents

SECOND_LEVEL = 2
"""The locality of `memref.prefetch` that brings a line no nearer than the L2 cache."""


class Scope:
    """A block that is being written; `anchor` is the loop in it whose body is being written."""

    __slots__ = ("anchor", "block", "cache", "depth", "entries", "parent", "written")

    def __init__(self, block: Block, parent: Scope | None, anchor: Operation | None = None) -> None:
        self.block = block
        self.parent = parent
        self.anchor = anchor
        self.depth = parent.depth + 1 if parent is not None else 0
        self.cache: dict[Any, Value] = {}
        self.entries: dict[Hashable, dict[Any, Any]] = {}
        self.written: frozenset = frozenset()
        """Buffers that the loop writes: what outer scopes know of them is out of date."""


class Code:
    """Writes operations into scopes; an operation that a scope has already is not repeated."""

    def __init__(self, entry: Scope, loc: Location) -> None:
        self.entry = entry
        """The function's start, where constants go."""
        self._last_at_entry: Operation | None = None
        self._indices: dict[int, Value] = {}
        self._splats: dict[tuple[str, Type], Value] = {}
        self._masks: dict[tuple[int, int], Value] = {}
        self.scope = entry
        self.loc = loc
        self.depths: dict[Value, int] = {}
        """The scope depth of induction variables and other values made here."""

    # -- scopes ------------------------------------------------------------------------------

    def put(self, op: Operation, scope: Scope | None = None) -> Operation:
        """Insert at the end of a scope (default: the current one), before its open loop."""
        scope = scope or self.scope
        if isinstance(op.loc, UnknownLoc):
            op.loc = self.loc
        if scope is self.entry:
            if self._last_at_entry is None:
                scope.block.prepend(op)
            else:
                scope.block.insert_after(op, self._last_at_entry)
            self._last_at_entry = op
        elif scope.anchor is None:
            scope.block.append(op)
        else:
            scope.block.insert_before(op, scope.anchor)
        return op

    def value(self, op: Operation, scope: Scope | None = None) -> Value:
        """Insert and return the only result."""
        scope = scope or self.scope
        self.put(op, scope)
        result = op.results[0]
        self.depths[result] = scope.depth
        return result

    def at_depth(self, depth: int) -> Scope:
        """The open scope of this depth."""
        scope = self.scope
        while scope.depth > depth and scope.parent is not None:
            scope = scope.parent
        return scope

    def depth_of(self, *values: Value) -> int:
        """The depth of the outermost scope in which all these values are known.

        Constants are at 0, the function's start; values from outside the nest at 1, its own.
        """
        return max((self.depths.get(v, 1) for v in values), default=0)

    def prefetch(self, source: Value, indices: Sequence[Value]) -> None:
        """Prefetch the cache line of an element, which may lie beyond the end of the buffer."""
        locality, no, yes = IntegerAttr(SECOND_LEVEL, i32), BoolAttr(False), BoolAttr(True)
        operands = (source, *indices)
        op = make(memref.Prefetch, operands, isWrite=no, localityHint=locality, isDataCache=yes)
        self.put(op)

    # -- constants ---------------------------------------------------------------------------

    def constant(self, attribute: Attribute) -> Value:
        known = self.entry.cache.get(attribute)
        if known is None:
            op = make(arith.Constant, (), (attribute.type,), value=attribute)  # type: ignore[attr-defined]
            known = self.entry.cache[attribute] = self.value(op, self.entry)
        return known

    def index(self, number: int) -> Value:
        known = self._indices.get(number)
        if known is None:
            known = self._indices[number] = self.constant(IntegerAttr(number, index))
        return known

    def number(self, number: float, type: Type) -> Value:
        """A scalar constant."""
        if isinstance(type, FloatType):
            return self.constant(FloatAttr(number, type))
        return self.constant(IntegerAttr(int(number), type))

    def splat_number(self, number: float, type: VectorType) -> Value:
        key = (repr(number), type)
        known = self._splats.get(key)
        if known is None:
            known = self._splats[key] = self.constant(DenseElements.splat(number, type))
        return known

    def lane_numbers(self, factor: int, lanes: int) -> Value:
        """`[0, factor, 2 * factor, ..]` as a vector of index."""
        type = VectorType((lanes,), index)
        return self.constant(DenseElements.from_list([factor * i for i in range(lanes)], type))

    def mask(self, count: int | Value, lanes: int) -> Value:
        """A mask of the first `count` of `lanes`."""
        if isinstance(count, int):
            known = self._masks.get((count, lanes))
            if known is None:
                flags = [int(i < count) for i in range(lanes)]
                attribute = DenseElements.from_list(flags, VectorType((lanes,), i1))
                known = self._masks[count, lanes] = self.constant(attribute)
            return known
        key = ("mask", count, lanes)
        scope = self.at_depth(self.depth_of(count))
        if key not in scope.cache:
            op = vector.CreateMask.create((count,), (VectorType((lanes,), i1),))
            scope.cache[key] = self.value(op, scope)
        return scope.cache[key]

    def is_positive(self, count: int | Value) -> Value:
        """Whether a count is above 0, as an i1, which is made in the scope of the count."""
        if isinstance(count, int):
            return self.number(count > 0, i1)
        scope = self.at_depth(self.depth_of(count))
        key = ("is positive", count)
        if key not in scope.cache:
            scope.cache[key] = self.value(vector.Extract.of(self.mask(count, 1), [0]), scope)
        return scope.cache[key]

    def splat(self, value: Value, *shape: int) -> Value:
        """A scalar repeated in this shape, made in the scope of the scalar."""
        scope = self.at_depth(self.depth_of(value))
        key = ("splat", value, shape)
        known = scope.cache.get(key)
        if known is None:
            attribute = constant_value(value)
            type = VectorType(shape, value.type)
            if isinstance(attribute, IntegerAttr | FloatAttr):
                known = self.splat_number(attribute.value, type)
            else:
                known = self.value(vector.Broadcast.create((value,), (type,)), scope)
            scope.cache[key] = known
        return known

    # -- index arithmetic ----------------------------------------------------------------------

    def binary(self, op_class: type[Operation], a: Value, b: Value) -> Value:
        """An operation on two index values (or vectors of them), in the outermost scope."""
        scope = self.at_depth(self.depth_of(a, b))
        key = (op_class, a, b)
        known = scope.cache.get(key)
        if known is None:
            known = scope.cache[key] = self.value(make(op_class, (a, b), (a.type,)), scope)
        return known

    def add(self, a: Value | int, b: Value | int) -> Value | int:
        if isinstance(a, int):
            a, b = b, a
        if isinstance(b, int):
            if isinstance(a, int):
                return a + b
            if b == 0:
                return a
            b = self.index(b)
        return self.binary(arith.AddI, a, b)  # type: ignore[arg-type]

    def multiply(self, a: Value | int, b: Value | int) -> Value | int:
        if isinstance(a, int):
            a, b = b, a
        if isinstance(b, int):
            if isinstance(a, int):
                return a * b
            if b in (0, 1):
                return a if b else 0
            b = self.index(b)
        return self.binary(arith.MulI, a, b)  # type: ignore[arg-type]

    def minimum(self, a: Value | int, b: Value | int) -> Value | int:
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b)
        return self.binary(arith.MinSI, self.as_value(a), self.as_value(b))

    def as_value(self, number: Value | int) -> Value:
        return self.index(number) if isinstance(number, int) else number

    def size(self, size: Size) -> Value | int:
        """The value of a size; symbols are read from their buffers at the nest's start."""
        if isinstance(size, int):
            return size
        total: Value | int = 0
        for product, factor in size.terms.items():
            term: Value | int = factor
            for symbol in product:
                term = self.multiply(self.extent(symbol), term)  # type: ignore[arg-type]
            total = self.add(total, term)
        return total

    # -- buffers -----------------------------------------------------------------------------

    def at_buffer(self, buffer: Value) -> Scope:
        """The scope of values that depend on a buffer alone."""
        return self.at_depth(max(1, self.depth_of(buffer)))

    def extent(self, symbol: Extent) -> Value:
        """The value of a symbol, where its buffer is made."""
        buffer = symbol.buffer
        scope = self.at_buffer(buffer)
        known = scope.cache.get(symbol)
        if known is None:
            if symbol.kind == "extent":
                known = self.value(memref.Dim(buffer, self.index(symbol.dim)), scope)
            else:
                known = self._metadata(buffer, scope).results[_position(symbol)]
                self.depths[known] = scope.depth
            scope.cache[symbol] = known
        return known

    def _metadata(self, buffer: Value, scope: Scope) -> Operation:
        known = scope.cache.get(("metadata", buffer))
        if known is None:
            known = self.put(memref.ExtractStridedMetadata(buffer), scope).results[0]
            scope.cache["metadata", buffer] = known
        return known.defining_op  # type: ignore[return-value]

    def offset(self, buffer: Value) -> Value | int:
        """The offset of a buffer in the allocation that it is a view of. Units: elements."""
        type: MemRefType = buffer.type  # type: ignore[assignment]
        offset = 0 if type.layout is None else type.strides_and_offset()[1]  # type: ignore[index]
        return self.extent(Extent(buffer, 0, "offset")) if offset is None else offset

    def sizes_and_strides(self, buffer: Value) -> tuple[Sequence[Size], Sequence[Size]]:
        """The sizes and strides of a buffer. Units: elements."""
        extents, rank = Extents(), buffer.type.rank  # type: ignore[attr-defined]
        return [extents.of(buffer, dim) for dim in range(rank)], extents.strides(buffer)

    def flat(self, buffer: Value) -> Value:
        """A buffer as one dimension, starting at its first element."""
        type: MemRefType = buffer.type  # type: ignore[assignment]
        if type.rank == 1 and type.layout is None:
            return buffer
        scope = self.at_buffer(buffer)
        known = scope.cache.get(("flat", buffer))
        if known is None:
            sizes, strides = self.sizes_and_strides(buffer)
            span = prod(sizes)  # type: ignore[type-var]
            if type.layout is not None:
                span = sum(((n + -1) * s for n, s in zip(sizes, strides, strict=True)), start=1)
            op = memref.ReinterpretCast.of(buffer, self.offset(buffer), [self.size(span)], [1])
            known = scope.cache["flat", buffer] = self.value(op, scope)
        return known


def _position(symbol: Extent) -> int:
    """The index of a stride or offset among the results of `memref.extract_strided_metadata`.

    Its results are the base buffer, the offset, the sizes and the strides.
    """
    if symbol.kind == "offset":
        return 1
    return 2 + symbol.buffer.type.rank + symbol.dim  # type: ignore[attr-defined]


def make(
    op_class: type[Operation],
    operands: Iterable[Value],
    types: Iterable[Type] = (),
    **properties: Attribute,
) -> Operation:
    """An operation from flat operands, its properties at their defaults unless given."""
    return op_class.create(tuple(operands), tuple(types), None, properties)
