"""The pieces of each n-dimensional vector of a function, made when something needs them.

Operations without effects are expanded piece by piece when a store, a loop or a product asks for
the piece, so that one result is loaded, computed and stored before the next is begun.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ....dialects import arith, math, ub, vector
from ....ir.attributes import DenseElements, FloatAttr, IntegerAttr
from ....ir.core import Operation, Value
from ....ir.rewriting import constant_int
from ....ir.traits import ConstantLike, Elementwise
from ....ir.types import FloatType, IndexType, VectorType
from ....targets.processor import Processor
from ..addresses.walk import Walk
from ..code import make
from ..combining import FUSED_TYPES
from .lanes import ONE, Part, Widths, copies_of, fits_any, lanes_of
from .pieces import Leading, Piece, Strided, as_vector, index_piece, is_vector

Copies = tuple[int, ...]
Expander = Callable[["Expansion", Any, Value, Copies, Part], Piece]

EXPANDERS: dict[type[Operation], Expander] = {}
"""How a piece of an operation's result is made, by the class of the operation."""

MAX_CHAIN = 60
"""How many operations in a row may wait to be expanded; longer chains are cut in half."""

_INDEX_SUMS = (arith.AddI, arith.SubI, arith.MulI)
_DIVISIONS = (
    arith.DivSI, arith.DivUI, arith.RemSI, arith.RemUI,
    arith.CeilDivSI, arith.CeilDivUI, arith.FloorDivSI,
)  # fmt: skip


def expands(*classes: type[Operation]) -> Callable[[Expander], Expander]:
    """Decorator: the function makes pieces of the results of these operations."""

    def wrap(function: Expander) -> Expander:
        for cls in classes:
            EXPANDERS[cls] = function
        return function

    return wrap


class Expansion:
    """The pieces of a function's vectors, and the functions that make them."""

    def __init__(self, code: Walk, widths: Widths, machine: Processor) -> None:
        self.code = code
        self.widths = widths
        self.machine = machine
        self.grids: dict[Value, dict[tuple, Piece]] = {}
        self.replaced: set[Value] = set()
        """Results and block arguments whose operation was replaced by one on pieces."""
        self.accesses: dict[Operation, Any] = {}
        self._chains: dict[Value, int] = {}

    # -- pieces ------------------------------------------------------------------------------

    def piece(self, value: Value, copies: Copies, part: Part) -> Piece:
        """One piece of a vector; a scalar is its own piece."""
        if not isinstance(value.type, VectorType):
            return value
        grid = self.grids.get(value)
        if grid is None:
            grid = self.grids[value] = {}
        key = (copies, part.offset, part.width)
        piece = grid.get(key)
        if piece is None:
            piece = grid[key] = self._expand(value, copies, part)
        return piece

    def _expand(self, value: Value, copies: Copies, part: Part) -> Piece:
        op = value.defining_op
        if op is None:
            return self.cut(value, copies, part)
        expander = EXPANDERS.get(type(op))
        if expander is not None:
            return expander(self, op, value, copies, part)
        if Elementwise in type(op).traits:
            return self._elementwise(op, value, copies, part)
        if ConstantLike in type(op).traits:
            return self._constant(op, value, copies, part)
        return self.cut(value, copies, part)

    def set(self, value: Value, copies: Copies, part: Part, piece: Piece) -> None:
        """Record a piece of a vector."""
        self.grids.setdefault(value, {})[copies, part.offset, part.width] = piece

    def places(self, value: Value) -> Iterator[tuple[Copies, Part]]:
        """The (copies, part) of each piece of a vector, in order."""
        parts = self.widths.parts(value)
        for copies in copies_of(value.type.shape):
            for part in parts:
                yield copies, part

    def all_pieces(self, value: Value) -> None:
        """Make all pieces of a vector at the current insertion point."""
        if not isinstance(value.type, VectorType):
            return
        if not fits_any(value):
            for copies, part in self.places(value):
                self.piece(value, copies, part)
        elif isinstance(value.defining_op, vector.Broadcast):
            self.all_pieces(value.defining_op.source)

    def vector(self, value: Value, copies: Copies, part: Part) -> Value:
        """A piece as a value: a vector where there are lanes, else a scalar."""
        piece = self.piece(value, copies, part)
        return as_vector(self.code, piece, part.width) if part.width > 1 else self.scalar(piece)

    def scalar(self, piece: Piece) -> Value:
        """The only lane of a piece."""
        if isinstance(piece, Strided):
            return self.code.as_value(piece.base)
        if isinstance(piece, Leading):
            return self.code.is_positive(piece.count)
        return piece

    def element(self, value: Value, index: Copies) -> Value:
        """One element of a vector."""
        if not isinstance(value.type, VectorType):
            return value
        copies, lane = index[:-1], index[-1] if index else 0
        if lanes_of(value.type) == 1:
            return self.scalar(self.piece(value, copies, ONE))
        if fits_any(value):
            return self.scalar(self.piece(value, copies, Part(lane, 1)))
        width = self.widths.width(value)
        part = self.widths.parts(value)[lane // width]
        piece = self.piece(value, copies, part)
        if part.width == 1 or not is_vector(piece):
            return self.scalar(piece)
        if isinstance(piece, Strided):
            return self.code.as_value(self.code.add(piece.base, piece.step * (lane - part.offset)))
        key = ("element", *index)
        known = self.grids[value].get(key)
        if known is None:
            row = as_vector(self.code, piece, part.width)
            known = self.code.value(vector.Extract.of(row, [lane - part.offset]))
            self.grids[value][key] = known
        return known  # type: ignore[return-value]

    def from_elements(self, elements: list[Value], width: int) -> Value:
        """A vector of elements; the rest of its lanes repeat the first one."""
        if width == 1:
            return elements[0]
        elements = elements + elements[:1] * (width - len(elements))
        if all(e is elements[0] for e in elements):
            return self.code.splat(elements[0], width)
        type = VectorType((width,), elements[0].type)
        return self.code.value(make(vector.FromElements, elements, (type,)))

    # -- whole vectors -------------------------------------------------------------------------

    def cut(self, value: Value, copies: Copies, part: Part) -> Piece:
        """A piece of a vector that is not expanded, taken out of it."""
        code = self.code
        if part.width == 1:
            at = (*copies, part.offset) if value.type.shape else ()
            return code.value(vector.Extract.of(value, at))
        row = code.value(vector.Extract.of(value, copies)) if copies else value
        if part.lanes < lanes_of(value.type):
            row = code.value(vector.ExtractStridedSlice.of(row, [part.offset], [part.lanes]))
        if part.count is not None:
            picks = [i if i < part.count else 0 for i in range(part.width)]
            row = code.value(vector.Shuffle(row, row, picks))
        return row

    def whole(self, value: Value) -> Value:
        """A vector assembled from its pieces, for operations that are not expanded."""
        if not isinstance(value.type, VectorType) or self.stays(value):
            return value
        code = self.code
        total = code.value(ub.Poison(out=value.type))
        for copies, part in self.places(value):
            piece = self.vector(value, copies, part)
            if part.width == 1:
                at = (*copies, part.offset) if value.type.shape else ()
                total = code.value(vector.Insert.of(piece, total, at))
                continue
            if part.count is not None:
                piece = code.value(vector.ExtractStridedSlice.of(piece, [0], [part.count]))
            if value.type.shape == piece.type.shape:
                return piece
            at = (*copies, part.offset)
            total = code.value(vector.InsertStridedSlice.of(piece, total, at))
        return total

    def stays(self, value: Value) -> bool:
        """Whether a vector is still made by its original operation, not by pieces."""
        op = value.defining_op
        if value in self.replaced:
            return False
        if op is None or not self.is_expanded(op):
            return True
        return fits_any(value) and not any(isinstance(v.type, VectorType) for v in op._operands)

    def is_expanded(self, op: Operation) -> bool:
        """Whether pieces are made of an operation's results."""
        traits = type(op).traits
        return type(op) in EXPANDERS or Elementwise in traits or ConstantLike in traits

    def wait(self, op: Operation) -> None:
        """Delay an operation until its pieces are needed, unless too many wait already."""
        known = self._chains
        length = 1 + max((known.get(v, 0) for v in op._operands), default=0)
        if length >= MAX_CHAIN:
            for result in op.results:
                self.all_pieces(result)
            length = 0
        for result in op.results:
            known[result] = length

    # -- constants ---------------------------------------------------------------------------

    def _constant(self, op: Operation, value: Value, copies: Copies, part: Part) -> Piece:
        attribute, type = op.properties.get("value"), value.type
        element = type.element_type
        if not isinstance(attribute, DenseElements):
            return self._poison(element)
        if attribute.is_splat:
            return self.code.constant(_scalar(attribute.values()[0], element))
        shape = type.shape
        start = 0
        for i, extent in zip(copies, shape, strict=False):
            start = start * extent + i
        start = start * shape[-1] + part.offset
        numbers = list(attribute.values()[start : start + part.lanes])
        step = numbers[1] - numbers[0] if len(numbers) > 1 and isinstance(element, IndexType) else 0
        if step and numbers == [numbers[0] + step * i for i in range(len(numbers))]:
            return Strided(numbers[0], step)
        numbers += numbers[:1] * (part.width - len(numbers))
        row = DenseElements.from_list(numbers, VectorType((part.width,), element))
        return self.code.constant(_scalar(numbers[0], element) if row.is_splat else row)

    def _poison(self, type: Any) -> Value:
        cache = self.code.entry.cache
        key = ("poison", type)
        if key not in cache:
            cache[key] = self.code.value(ub.Poison(out=type), self.code.entry)
        return cache[key]

    # -- element by element ------------------------------------------------------------------

    def _elementwise(self, op: Operation, value: Value, copies: Copies, part: Part) -> Piece:
        pieces = [self.piece(v, copies, part) for v in op._operands]
        if isinstance(value.type.element_type, IndexType) and type(op) in _INDEX_SUMS:
            found = index_piece(self.code, type(op), *pieces)
            if found is not None:
                return found
        if isinstance(op, arith.Select) and isinstance(pieces[0], Leading):
            count = pieces[0].count
            if isinstance(count, int) and (count >= part.lanes or count <= 0):
                return pieces[1] if count > 0 else pieces[2]
        elif part.count is not None and type(op) in _DIVISIONS:
            pieces[1] = self._without_zeros(pieces[1], part)
        types = [r.type.element_type for r in op.results]
        made = self.compute(type(op), pieces, part, types, op)
        for result, piece in zip(op.results, made, strict=True):
            self.set(result, copies, part, piece)
        return made[value.index]  # type: ignore[attr-defined]

    def compute(
        self, op_class: type[Operation], pieces: list, part: Part, types: Any, like: Operation
    ) -> list[Value]:
        """The results of an operation on pieces: on scalars where no operand differs by lane."""
        code, width = self.code, part.width
        if any(map(is_vector, pieces)):
            first = 0
            if op_class is arith.Select and not is_vector(pieces[0]):
                first = 1  # one condition for all lanes
            operands = [*pieces[:first], *(as_vector(code, p, width) for p in pieces[first:])]
            types = [VectorType((width,), t) for t in types]
        else:
            operands = pieces
        if op_class is type(like):
            op = op_class.create(operands, types, None, like.properties, loc=like.loc)
        else:
            op = make(op_class, operands, types)
            op.loc = like.loc
        code.put(op)
        return list(op.results)

    def _without_zeros(self, divisor: Piece, part: Part) -> Piece:
        """A divisor with ones in lanes that are not used: a division by zero may trap."""
        if not is_vector(divisor):
            return divisor
        code = self.code
        row = as_vector(code, divisor, part.width)
        ones = code.splat_number(1, row.type)
        mask = code.mask(part.count, part.width)  # type: ignore[arg-type]
        return code.value(make(arith.Select, (mask, row, ones), (row.type,)))

    def multiply_add(self, a: Piece, b: Piece, total: Piece, part: Part, like: Operation) -> Piece:
        """`a * b + total`, rounded once where the target can."""
        known = (p for p in (a, b, total) if isinstance(p, Value))
        kind = next(getattr(p.type, "element_type", p.type) for p in known)
        if kind in FUSED_TYPES and self.machine.has_fma:
            return self.compute(math.Fma, [a, b, total], part, (kind,), like)[0]
        is_float = isinstance(kind, FloatType)
        product, addition = (arith.MulF, arith.AddF) if is_float else (arith.MulI, arith.AddI)
        term = self.compute(product, [a, b], part, (kind,), like)[0]
        return self.compute(addition, [total, term], part, (kind,), like)[0]


def _scalar(number: Any, type: Any) -> FloatAttr | IntegerAttr:
    return FloatAttr(number, type) if isinstance(type, FloatType) else IntegerAttr(number, type)


@expands(vector.Fma)
def _fma(e: Expansion, op: vector.Fma, value: Value, copies: Copies, part: Part) -> Piece:
    pieces = [e.piece(v, copies, part) for v in op._operands]
    return e.compute(math.Fma, pieces, part, (value.type.element_type,), op)[0]


@expands(vector.Step)
def _step(e: Expansion, op: vector.Step, value: Value, copies: Copies, part: Part) -> Piece:
    if part.width == 1:
        return e.code.index(part.offset)
    return Strided(part.offset, 1)


@expands(vector.CreateMask, vector.ConstantMask)
def _mask(e: Expansion, op: Any, value: Value, copies: Copies, part: Part) -> Piece:
    bounds = mask_bounds(op)
    count = lanes_below(e.code, list(zip(copies, bounds, strict=False)), bounds[-1], part)
    if part.width == 1:
        return e.code.is_positive(count)
    return Leading(count)


def mask_bounds(op: Any) -> list[int | Value]:
    """For each dimension of a mask, the bound below which its coordinate is active."""
    given = op.mask_dim_sizes if isinstance(op, vector.ConstantMask) else op.sizes
    return list(given) or [1]


def upper_bound(bound: Value) -> float:
    """The least constant that a bound certainly does not exceed; infinity if none is known."""
    limits = [constant_int(v) for v in minimum_of(bound)]
    return min((n for n in limits if n is not None), default=float("inf"))


def minimum_of(bound: Value) -> list[Value]:
    """Values that a bound is the minimum of."""
    op = bound.defined_by(arith.MinSI)
    return [bound] if op is None else [v for given in op._operands for v in minimum_of(given)]


def lanes_below(
    code: Walk, copies: list[tuple[int, int | Value]], bound: int | Value, part: Part
) -> int | Value:
    """How many lanes of a part are below a bound; 0 unless all copies are below their bounds."""
    guards = []
    for at, most in copies:
        if isinstance(most, Value):
            guards.append((at, most))
        elif at >= most:
            return 0
    if isinstance(bound, int):
        count: int | Value = max(0, min(bound - part.offset, part.lanes))
    elif upper_bound(bound) <= part.offset:
        return 0
    else:
        count = code.add(bound, -part.offset)
        if part.count is not None:
            count = code.minimum(part.count, count)
    if count == 0:
        return 0
    for at, most in guards:
        count = code.if_below(at, most, count)
    return count
