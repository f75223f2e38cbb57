"""Where an access lies at the current point of a nest: a base that the open loops give, plus
a constant that the unrolled ones give, plus lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...dialects import arith, memref
from ...ir.affine import AffineBinary, AffineConstant, AffineDim, AffineExpr
from ...ir.core import Value
from ...ir.types import MemRefType, VectorType
from ..model.plan import Loop, Plan
from ..model.polynomial import Poly, Size
from ..model.stages import Access, Extent, Stage
from .code import Code


@dataclass(slots=True)
class Lane:
    """How the vectorized loop of a stage is executed at the moment.

    `count` of the `width` lanes are active: all if it is None, else a number or a value.
    """

    loop: Loop
    width: int
    count: int | Value | None
    is_reduction: bool


class Position:
    """The point a stage is at: open loops, offsets of unrolled ones, lanes."""

    __slots__ = ("bases", "lane", "offsets", "partials", "stage", "values", "version")

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.values: dict[Loop, Value] = {}
        """Induction variables of the open loops."""
        self.offsets: dict[Loop, int] = {}
        """The values of unrolled and single-iteration loops, where they are not zero."""
        self.lane: Lane | None = None
        self.partials: dict[Loop, int] = {}
        self.version = 0
        """Grows whenever a loop is entered or left, so that bases can be remembered."""
        self.bases: dict[Access, tuple[int, Base]] = {}

    def enter(self, loop: Loop, value: Value) -> None:
        self.values[loop] = value
        self.version += 1

    def leave(self, loop: Loop) -> None:
        del self.values[loop]
        self.version += 1


@dataclass(slots=True)
class Base:
    """The part of an address that open loops give: its terms, and its value once needed."""

    key: tuple
    terms: list[tuple[Value, Size]]
    value: Value | int | None = None


@dataclass(slots=True)
class Address:
    """A flat address: buffer, base, constant; lanes lie `lane` elements apart.

    `width` is 0 for a single element. Equal keys are equal elements.
    """

    access: Access
    base: Base
    constant: Size
    lane: Size
    width: int
    count: int | Value | None
    key: tuple = field(init=False)

    def __post_init__(self) -> None:
        self.key = (
            self.access.value,
            self.base.key,
            self.constant,
            self.lane,
            self.width,
            self.count,
        )


class Addresses:
    """Makes addresses, and index values from them."""

    def __init__(self, code: Code, plan: Plan) -> None:
        self.code = code
        self.plan = plan
        self.flat: dict[Value, Value] = {}
        """Flat buffers that stand for others."""
        self.dropped: dict[Access, frozenset[Loop]] = {}
        """Loops that an access does not depend on, its buffer being used anew in each iteration."""
        self._linear: dict[Access, list[tuple[Loop, Size]]] = {}

    def linear(self, access: Access) -> list[tuple[Loop, Size]]:
        """The loops that the access depends on, outermost first, with their coefficients."""
        known = self._linear.get(access)
        if known is None:
            assert access.coefficients is not None
            dropped = self.dropped.get(access, ())
            known = self._linear[access] = [
                (loop, access.coefficients[loop.dims[-1]])
                for loop in self.plan.order[access.stage]
                if access.coefficients[loop.dims[-1]] != 0 and loop not in dropped
            ]
        return known

    def of(self, access: Access, at: Position) -> Address:
        """The address of a linear access."""
        parts = self.linear(access)
        known = at.bases.get(access)
        if known is None or known[0] != at.version:
            values = at.values
            terms = [(values[loop], c) for loop, c in parts if loop in values]
            key = tuple([(id(v), c) for v, c in terms])
            known = at.bases[access] = (at.version, Base(key, terms))
        constant, offsets = access.constant, at.offsets
        for loop, c in parts:
            offset = offsets.get(loop)
            if offset:
                constant = constant + c * offset
        lane = at.lane
        if lane is not None:
            for loop, c in parts:
                if loop is lane.loop:
                    return Address(access, known[1], constant, c, lane.width, lane.count)
        return Address(access, known[1], constant, 0, 0, None)

    def index(self, address: Address) -> Value:
        """The flat index of the first element."""
        code, base = self.code, address.base
        if base.value is None:
            depth = code.depths
            total: Value | int = 0
            for value, factor in sorted(base.terms, key=lambda term: depth[term[0]]):
                total = code.add(total, code.multiply(value, code.size(factor)))
            base.value = total
        return code.as_value(code.add(base.value, code.size(address.constant)))

    def view(self, buffer: Value) -> Value:
        """The buffer as one dimension, starting at its first element."""
        known = self.flat.get(buffer)
        if known is not None:
            return known
        type: MemRefType = buffer.type  # type: ignore[assignment]
        if type.rank == 1 and type.layout is None:
            return buffer
        code = self.code
        scope = code.at_depth(1)
        key = ("flat", buffer)
        if key not in scope.cache:
            count, offset = self._span(buffer)
            op = memref.ReinterpretCast.of(buffer, offset, [count], [1])
            scope.cache[key] = code.value(op, scope)
        return scope.cache[key]

    def _span(self, buffer: Value) -> tuple[Value | int, Value | int]:
        """How many elements lie from the first to the last, and the offset of the first."""
        type: MemRefType = buffer.type  # type: ignore[assignment]
        code = self.code
        known = type.strides_and_offset()
        assert known is not None
        sizes = [
            code.size(Poly.symbol(Extent(buffer, i))) if d is None else d
            for i, d in enumerate(type.shape)
        ]
        if type.layout is None:
            total: Value | int = 1
            for size in sizes:
                total = code.multiply(total, size)
            return total, 0
        strides = [
            code.size(Poly.symbol(Extent(buffer, i, "stride"))) if s is None else s
            for i, s in enumerate(known[0])
        ]
        last: Value | int = 0
        for size, stride in zip(sizes, strides, strict=True):
            last = code.add(last, code.multiply(code.add(size, -1), stride))
        offset = known[1]
        if offset is None:
            offset = code.size(Poly.symbol(Extent(buffer, 0, "offset")))
        return code.add(last, 1), offset

    # -- coordinates ---------------------------------------------------------------------------

    def coordinate(self, dim: int, at: Position, first: bool = False) -> Value:
        """The value of a dimension at a point: an index, or a vector of them, or the first."""
        code, lane = self.code, at.lane
        loops = [loop for loop in self.plan.order[at.stage] if dim in loop.dims]
        total: Value | int = sum(at.offsets.get(loop, 0) for loop in loops)
        for loop in loops:
            if loop in at.values:
                total = code.add(at.values[loop], total)
        scalar = code.as_value(total)
        if lane is None or lane.loop not in loops or first:
            return scalar
        lanes = code.lane_numbers(1, lane.width)
        return code.binary(arith.AddI, code.splat(scalar, lane.width), lanes)

    def expression(self, expr: AffineExpr, at: Position) -> Value:
        """An index expression at a point, for accesses that are not linear."""
        match expr:
            case AffineConstant(value):
                return self.code.index(value)
            case AffineDim(position):
                return self.coordinate(position, at)
            case AffineBinary(kind, lhs, rhs):
                a, b = self.expression(lhs, at), self.expression(rhs, at)
                return self._combine(kind, a, b, is_natural(lhs))
        raise TypeError(expr)

    def _combine(self, kind: str, a: Value, b: Value, natural: bool) -> Value:
        """One affine operation; natural numbers are divided as unsigned ones, which is cheap."""
        match kind:
            case "+":
                return self.elementwise(arith.AddI, a, b)
            case "*":
                return self.elementwise(arith.MulI, a, b)
            case "ceildiv":
                return self.elementwise(arith.CeilDivSI, a, b)
            case "floordiv":
                return self.elementwise(arith.DivUI if natural else arith.FloorDivSI, a, b)
        if natural:
            return self.elementwise(arith.RemUI, a, b)
        whole = self.elementwise(arith.MulI, self.elementwise(arith.FloorDivSI, a, b), b)
        return self.elementwise(arith.SubI, a, whole)

    def elementwise(self, op_class, a: Value, b: Value) -> Value:
        """An operation on index values or vectors; a scalar is repeated where needed."""
        width = next((v.type.shape[0] for v in (a, b) if isinstance(v.type, VectorType)), None)
        if width is not None:
            a, b = (
                v if isinstance(v.type, VectorType) else self.code.splat(v, width) for v in (a, b)
            )
        return self.code.binary(op_class, a, b)

    def flatten(self, buffer: Value, strides: list[Size], indices: list[Value]) -> Value:
        """The flat index of an element, as an index or a vector of them."""
        total: Value | None = None
        for stride, at in zip(strides, indices, strict=True):
            if stride == 1:
                term = at
            else:
                term = self.elementwise(arith.MulI, at, self.code.as_value(self.code.size(stride)))
            total = term if total is None else self.elementwise(arith.AddI, total, term)
        return total if total is not None else self.code.index(0)

    def lane_offsets(self, address: Address) -> Value:
        """The distance of each lane from the first, as a vector of index."""
        code = self.code
        if isinstance(address.lane, int):
            return code.lane_numbers(address.lane, address.width)
        lanes = code.lane_numbers(1, address.width)
        step = code.splat(code.as_value(code.size(address.lane)), address.width)
        return code.binary(arith.MulI, lanes, step)


def is_natural(expr: AffineExpr) -> bool:
    """Whether an expression of coordinates is certainly not negative."""
    match expr:
        case AffineConstant(value):
            return value >= 0
        case AffineDim():
            return True
        case AffineBinary("mod"):
            return True
        case AffineBinary(_, lhs, rhs):
            return is_natural(lhs) and is_natural(rhs)
    return False
