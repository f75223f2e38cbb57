"""The body of a stage on a tile: each operation along the axes that its operands vary along."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import arith, linalg, math, memref, vector
from ....ir.affine import AffineBinary, AffineConstant, AffineDim, AffineExpr
from ....ir.attributes import DenseElements
from ....ir.core import IRMapping, Operation, Value
from ....ir.traits import ConstantLike
from ....ir.types import VectorType, index
from ...model.extents import Extents
from ...model.stages import Access, Stage
from ..code import Code, make
from ..combining import FUSED_TYPES
from .axes import Axis, Tiled, shape_of, vector_type
from .memory import Memory
from .places import Coordinates, Position


class Bodies:
    """Evaluates stages' bodies at a position, along the axes of its tile."""

    def __init__(self, code: Code, coordinates: Coordinates, memory: Memory, use_fma: bool) -> None:
        self.code = code
        self.coordinates = coordinates
        self.memory = memory
        self.use_fma = use_fma
        self._programs: dict[Stage, list[tuple[Operation, Operation | None]]] = {}

    def program(self, stage: Stage) -> list[tuple[Operation, Operation | None]]:
        """The body's operations, each addition paired with a product that it alone uses."""
        known = self._programs.get(stage)
        if known is not None:
            return known
        ops = stage.body_ops()
        products: dict[Operation, Operation] = {}
        if self.use_fma:
            for op in ops:
                if isinstance(op, arith.AddF) and op.results[0].type in FUSED_TYPES:
                    for value in reversed(op.operands):
                        product = value.defined_by(arith.MulF)
                        if product is not None and value.has_one_use and product in ops:
                            products[op] = product
                            break
        absorbed = set(products.values())
        program = [(op, products.get(op)) for op in ops if op not in absorbed]
        self._programs[stage] = program
        return program

    def run(
        self, stage: Stage, known: dict[Value, Tiled], at: Position, axes: Sequence[Axis]
    ) -> list[Tiled]:
        """The values that the body yields, given those of its arguments."""

        def of(value: Value) -> Tiled:
            found = known.get(value)
            return found if found is not None else Tiled(value)

        for op, product in self.program(stage):
            if product is not None:
                a, b = (of(v) for v in product._operands)
                total = next(v for v in op._operands if v.defining_op is not product)
                known[op.results[0]] = self.elementwise(math.Fma, [a, b, of(total)], op, axes)
            elif isinstance(op, linalg.Index):
                known[op.results[0]] = self.coordinate(op.dim, at, axes)
            elif isinstance(op, memref.Load):
                known[op.results[0]] = self._load(op, [of(v) for v in op._operands], axes)
            elif op.regions or len(op.results) != 1:
                scalars = {key: tiled.value for key, tiled in known.items()}
                copy = op.clone(IRMapping(scalars))
                self.code.put(copy)
                known.update(
                    (old, Tiled(new)) for old, new in zip(op.results, copy.results, strict=True)
                )
            elif op.has_trait(ConstantLike):
                known[op.results[0]] = Tiled(self.code.constant(op.properties["value"]))
            else:
                operands = [of(v) for v in op._operands]
                known[op.results[0]] = self.elementwise(type(op), operands, op, axes)
        last = stage.body.last
        assert last is not None
        return [of(v) for v in last._operands]

    def elementwise(
        self,
        op_class: type[Operation],
        operands: Sequence[Tiled],
        like: Operation,
        axes: Sequence[Axis],
    ) -> Tiled:
        """Apply an operation to values of a tile, with the attributes of a `like` of its class."""
        along = tuple(a for a in axes if any(a in t.axes for t in operands))
        values = [self.spread(t, along) for t in operands]
        type_ = vector_type(along, like.results[0].type)
        if op_class is type(like):
            op = op_class.create(values, (type_,), like.attributes, like.properties, loc=like.loc)
        else:
            op = make(op_class, values, (type_,))
            op.loc = like.loc
        return Tiled(self.code.value(op), along)

    # -- shapes --------------------------------------------------------------------------------

    def spread(self, tiled: Tiled, axes: Sequence[Axis]) -> Value:
        """The value broadcast to `axes`: repeated along those that it does not have."""
        axes = tuple(axes)
        if tiled.axes == axes or not axes:
            return tiled.value
        code = self.code
        if tiled.is_scalar:
            return code.splat(tiled.value, *shape_of(axes))
        value = tiled.value
        element = value.type.element_type  # type: ignore[attr-defined]
        key = ("spread", value, tiled.axes, axes, shape_of(axes))
        scope = code.at_depth(code.depth_of(value))
        if key not in scope.cache:
            ones = tuple(
                next(b for b in tiled.axes if b == a).size if a in tiled.axes else 1
                for a in axes
                if not a.is_lane
            )
            lanes = value.type.shape[-1]  # type: ignore[attr-defined]
            shape = (*ones, lanes)
            if shape[len(shape) - value.type.rank :] != value.type.shape:  # type: ignore[attr-defined]
                value = code.value(
                    vector.ShapeCast.create((value,), (VectorType(shape, element),)), scope
                )
            wanted = VectorType(shape_of(axes), element)
            if value.type is not wanted:
                value = code.value(vector.Broadcast.create((value,), (wanted,)), scope)
            scope.cache[key] = value
        return scope.cache[key]

    # -- coordinates ---------------------------------------------------------------------------

    def coordinate(self, dim: int, at: Position, axes: Sequence[Axis]) -> Tiled:
        """The coordinate along a dimension at each point of the tile."""
        code = self.code
        values, constant = self.coordinates.parts((dim,), None, at, axes)
        total: Value | int = constant
        for value in values:
            total = code.add(value, total)
        result = Tiled(code.as_value(total))
        for axis in axes:
            if dim in axis.root.dims:
                result = self.index_op(arith.AddI, result, Tiled(self._steps(axis), (axis,)), axes)
        return result

    def _steps(self, axis: Axis) -> Value:
        """0, step, 2 * step, .. along an axis."""
        numbers = [axis.step * i for i in range(axis.size)]
        type = VectorType(shape_of((axis,)), index)
        return self.code.constant(DenseElements.from_list(numbers, type))

    def index_op(
        self, op_class: type[Operation], a: Tiled, b: Tiled, axes: Sequence[Axis]
    ) -> Tiled:
        """Apply an operation to indices, in the outermost scope that knows them."""
        along = tuple(x for x in axes if x in a.axes or x in b.axes)
        value = self.code.binary(op_class, self.spread(a, along), self.spread(b, along))
        return Tiled(value, along)

    def place_of(self, access: Access, at: Position, axes: Sequence[Axis]) -> Tiled:
        """The flat index of the element that an access touches, whatever its subscripts are."""
        indices = [self.expression(e, at, axes) for e in access.exprs]
        return self.flatten(access.strides, indices, axes)

    def flatten(self, strides, indices: Sequence[Tiled], axes: Sequence[Axis]) -> Tiled:
        """The flat index of an element."""
        code = self.code
        total: Tiled | None = None
        for stride, term in zip(strides, indices, strict=True):
            if stride != 1:
                step = Tiled(code.as_value(code.size(stride)))
                term = self.index_op(arith.MulI, term, step, axes)
            total = term if total is None else self.index_op(arith.AddI, total, term, axes)
        return total if total is not None else Tiled(code.index(0))

    def expression(self, expr: AffineExpr, at: Position, axes: Sequence[Axis]) -> Tiled:
        """An index expression at each point of the tile."""
        match expr:
            case AffineConstant(value):
                return Tiled(self.code.index(value))
            case AffineDim(position):
                return self.coordinate(position, at, axes)
            case AffineBinary(kind, lhs, rhs):
                a, b = self.expression(lhs, at, axes), self.expression(rhs, at, axes)
                return self._combine(kind, a, b, is_natural(lhs), axes)
        raise TypeError(expr)

    def _combine(self, kind: str, a: Tiled, b: Tiled, natural: bool, axes: Sequence[Axis]) -> Tiled:
        """Apply one affine operation; `natural` operands are divided as unsigned numbers."""
        match kind:
            case "+":
                return self.index_op(arith.AddI, a, b, axes)
            case "*":
                return self.index_op(arith.MulI, a, b, axes)
            case "ceildiv":
                return self.index_op(arith.CeilDivSI, a, b, axes)
            case "floordiv":
                return self.index_op(arith.DivUI if natural else arith.FloorDivSI, a, b, axes)
        if natural:
            return self.index_op(arith.RemUI, a, b, axes)
        floor = self.index_op(arith.FloorDivSI, a, b, axes)
        return self.index_op(arith.SubI, a, self.index_op(arith.MulI, floor, b, axes), axes)

    def _load(self, op: memref.Load, operands: Sequence[Tiled], axes: Sequence[Axis]) -> Tiled:
        """A load in the body, whose subscripts are computed."""
        buffer, *indices = operands
        if all(t.is_scalar for t in indices):
            values = [buffer.value, *(t.value for t in indices)]
            return Tiled(self.code.value(make(memref.Load, values, (op.results[0].type,))))
        strides = Extents().strides(buffer.value)
        place = self.flatten(strides, indices, axes)
        view = self.memory.views.flat(buffer.value)
        return self.memory.gather_from(view, place, op.results[0].type)


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
