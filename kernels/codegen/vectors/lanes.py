"""Chooses how wide the pieces of each n-dimensional vector are: vectors that registers can hold.

A piece is known by its `copies`, the index along each dimension but the last, and its `Part`, the
lanes along the last one.

Values that are combined element by element must be cut alike. All values connected in this way form
one component. Its pieces are as wide as its largest element type allows, or as a schedule asks for
where there are vectors of all its element types.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from ....dialects import scf, vector
from ....ir.affine import AffineDim
from ....ir.attributes import IntegerAttr
from ....ir.core import Operation, Value
from ....ir.traits import ConstantLike, Elementwise
from ....ir.types import IndexType, VectorType, i1
from ....targets.processor import Processor
from ...model.steps import power_of_two

LANES = "schedule.lanes"
"""The attribute of an operation that says how wide its pieces are."""


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """The lanes of a vector's row that one piece of `width` lanes holds.

    They begin at the row's lane `offset`. Only the first `count` lanes of the piece have elements;
    None means all.
    """

    offset: int
    width: int
    count: int | None = None

    @property
    def lanes(self) -> int:
        """The number of lanes that have elements."""
        return self.width if self.count is None else self.count


@cache
def parts_of(lanes: int, width: int) -> tuple[Part, ...]:
    """Whole pieces, then the least power of two that holds the rest."""
    parts = [Part(i, width) for i in range(0, lanes - width + 1, width)]
    rest = lanes % width
    if rest:
        least = power_of_two(rest)
        parts.append(Part(lanes - rest, least, None if least == rest else rest))
    return tuple(parts)


def powers_of(count: int) -> Iterator[tuple[int, int]]:
    """`count` lanes as powers of two, the largest first: (offset, lanes) of each."""
    at = 0
    while at < count:
        size = 1 << (count - at).bit_length() - 1
        yield at, size
        at += size


ONE = parts_of(1, 1)[0]
"""The only lane of a value that does not vary along the lanes."""


def lanes_of(type: VectorType) -> int:
    """The extent of the innermost dimension, 1 for a vector of rank 0."""
    return type.shape[-1] if type.shape else 1


@dataclass(slots=True)
class _Component:
    width: int | None = None
    """The width that a schedule asks for."""
    elements: set = field(default_factory=set)
    scalars: int = 0
    """Votes for single elements: 1 for an operand that is read by element, 2 for such a result."""
    vectors: bool = False
    """Whether something needs vectors, rather than single elements."""

    def join(self, other: _Component) -> None:
        self.width = self.width or other.width
        self.elements |= other.elements
        self.scalars = max(self.scalars, other.scalars)
        self.vectors |= other.vectors


class Widths:
    """The width of the pieces into which each vector of a function is cut, found in one walk."""

    def __init__(self, machine: Processor) -> None:
        self.machine = machine
        self._parents: dict[Value, Value] = {}
        self._components: dict[Value, _Component] = {}
        self._known: dict[Value, int] = {}

    def parts(self, value: Value) -> tuple[Part, ...]:
        """How a vector is cut along its lanes."""
        return parts_of(lanes_of(value.type), self.width(value))

    def width(self, value: Value) -> int:
        known = self._known.get(value)
        if known is None:
            known = self._known[value] = self._width(value)
        return known

    def _width(self, value: Value) -> int:
        if lanes_of(value.type) == 1:
            return 1
        component = self._components[self._root(value)]
        if component.scalars > component.vectors:
            return 1
        kinds = component.elements
        counted = [t for t in kinds if t is not i1 and not isinstance(t, IndexType)] or kinds
        least = min(self.machine.lanes(getattr(t, "byte_width", 8)) for t in counted)
        if component.width is None or least == 1:
            return least
        return min(component.width, self.machine.most_lanes or component.width)

    def has_lanes_for(self, value: Value) -> bool:
        """Whether elements that are broadcast to all lanes may be loaded as lanes of vectors."""
        type = value.type
        if not self.machine.has_lane_operands or not isinstance(type, VectorType):
            return False
        width = self.machine.lanes(getattr(type.element_type, "byte_width", 8))
        return lanes_of(type) % width == 0

    # -- components --------------------------------------------------------------------------

    def _root(self, value: Value) -> Value:
        parents = self._parents
        at = parents.setdefault(value, value)
        if at is value:
            if value not in self._components:
                self._components[value] = _Component(elements={value.type.element_type})
            return value
        while parents[at] is not at:
            parents[at] = at = parents[parents[at]]
        return at

    def join(self, *values: Value) -> None:
        """Let these values have pieces of the same width."""
        rooted = [
            self._root(v)
            for v in values
            if isinstance(v.type, VectorType) and lanes_of(v.type) > 1 and not fits_any(v)
        ]
        for other in rooted[1:]:
            a, b = self._root(rooted[0]), self._root(other)
            if a is not b:
                self._parents[b] = a
                self._components[a].join(self._components.pop(b))

    def note(self, value: Value, scalars: int = 0, vectors: bool = False) -> None:
        """Record how an operation makes or uses a value: as single elements or as vectors."""
        if isinstance(value.type, VectorType) and lanes_of(value.type) > 1:
            component = self._components[self._root(value)]
            component.scalars = max(component.scalars, scalars)
            component.vectors |= vectors

    def visit(self, op: Operation) -> None:
        """Connect the operands and results of one operation."""
        cls = type(op)
        if cls in _CONNECT:
            _CONNECT[cls](self, op)
        elif Elementwise in cls.traits or cls in _IN_ORDER:
            self.join(*op._operands, *op.results)
        given = op.attributes.get(LANES)
        if isinstance(given, IntegerAttr):
            for value in (*op.results, *op._operands):
                if isinstance(value.type, VectorType) and lanes_of(value.type) > 1:
                    self._components[self._root(value)].width = given.value


def fits_any(value: Value) -> bool:
    """Whether a value can be cut into pieces of a different width for each of its users."""
    op = value.defining_op
    if op is None:
        return False
    if ConstantLike in type(op).traits or isinstance(op, _FIT_ANY):
        return True
    if isinstance(op, vector.Broadcast):
        source = op.source.type
        return not isinstance(source, VectorType) or lanes_of(source) == 1
    return False


_FIT_ANY = (vector.Step, vector.CreateMask, vector.ConstantMask)

_IN_ORDER = frozenset(
    (vector.Broadcast, vector.ShapeCast, vector.Extract, vector.Insert, vector.Fma, vector.Gather,
     vector.ExtractStridedSlice, vector.InsertStridedSlice, vector.Scatter)
)  # fmt: skip
"""Operations whose operands and results have the same lanes, element by element."""


def _transpose(widths: Widths, op: vector.Transpose) -> None:
    if op.permutation and op.permutation[-1] == len(op.permutation) - 1:
        widths.join(op.vector, op.result)


def _shape_cast(widths: Widths, op: vector.ShapeCast) -> None:
    if lanes_of(op.source.type) == lanes_of(op.result.type):
        widths.join(op.source, op.result)


def _contract(widths: Widths, op: vector.Contract) -> None:
    lhs, rhs, out = op.maps
    widths.join(op.acc, op.result)
    widths.note(op.acc, vectors=True)
    lanes = out.results[-1] if out.results else None
    if lanes is None:
        lanes = next((e for e in reversed(lhs.results) if e in rhs.results), None)
    for value, map in ((op.lhs, lhs), (op.rhs, rhs)):
        if map.results and map.results[-1] == lanes:
            widths.join(value, op.result if out.results else op.lhs)
            widths.note(value, vectors=True)
        elif not widths.has_lanes_for(value):
            widths.note(value, scalars=1)


def _outer_product(widths: Widths, op: vector.OuterProduct) -> None:
    if isinstance(op.rhs.type, VectorType):
        widths.join(op.rhs, op.result, *op._operands[2:])
        widths.note(op.lhs, scalars=1)
    else:
        widths.join(op.lhs, op.result, *op._operands[2:])


def _multi_reduction(widths: Widths, op: vector.MultiReduction) -> None:
    widths.join(op.acc, op.dest)
    if op.source.type.rank - 1 in op.reduction_dims:
        widths.note(op.dest, scalars=2)
    else:
        widths.join(op.source, op.dest)


def _transfer(widths: Widths, op: vector.TransferRead | vector.TransferWrite) -> None:
    value = op.vector if isinstance(op, vector.TransferRead) else op.valueToStore
    if isinstance(op, vector.TransferWrite):
        widths.note(value, vectors=True)
    if op.mask is not None and op.map.results:
        places = [e.position if isinstance(e, AffineDim) else -1 for e in op.map.results]
        if places[-1] == max(places):  # the mask has the memory's order
            widths.join(value, op.mask)


def _scan(widths: Widths, op: vector.Scan) -> None:
    widths.join(op.source, op.dest)
    widths.join(op.initial_value, op.accumulated_value)
    if op.reduction_dim == op.source.type.rank - 1:
        widths.note(op.dest, scalars=2)
    else:
        widths.join(op.source, op.initial_value)


def _for(widths: Widths, op: scf.For) -> None:
    for values in zip(op.inits, op.iter_args, op.results, op.yielded, strict=True):
        widths.join(*values)


def _if(widths: Widths, op: scf.If) -> None:
    if op.results:
        ends = [block.last._operands for region in op.regions for block in region.blocks]  # type: ignore[union-attr]
        for values in zip(op.results, *ends, strict=True):
            widths.join(*values)


_CONNECT = {
    vector.Transpose: _transpose,
    vector.ShapeCast: _shape_cast,
    vector.Contract: _contract,
    vector.OuterProduct: _outer_product,
    vector.MultiReduction: _multi_reduction,
    vector.Scan: _scan,
    vector.TransferRead: _transfer,
    vector.TransferWrite: _transfer,
    scf.For: _for,
    scf.If: _if,
}


def copies_of(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The indices of the dimensions outside the lanes, in order."""
    from itertools import product

    return product(*map(range, shape[:-1]))
