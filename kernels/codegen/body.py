"""The body of a stage on scalars or on lanes."""

from __future__ import annotations

from ...dialects import arith, linalg, math, memref
from ...ir.core import IRMapping, Operation, Value
from ...ir.traits import ConstantLike, Elementwise
from ...ir.types import FloatType, VectorType
from ..model.stages import Extents, Stage
from .addresses import Addresses, Position
from .code import Code, make
from .registers import Registers

_INTEGER_DIVISIONS = (
    arith.DivSI, arith.DivUI, arith.RemSI, arith.RemUI,
    arith.CeilDivSI, arith.CeilDivUI, arith.FloorDivSI,
)  # fmt: skip


def unvectorizable(stage: Stage) -> Operation | None:
    """An operation of the body that cannot work on lanes, or None.

    Integer divisions cannot: no processor has them on vectors, and idle lanes could divide
    by zero.
    """
    for op in stage.body_ops():
        if isinstance(op, _INTEGER_DIVISIONS):
            return op
        known = op.has_trait(Elementwise) or op.has_trait(ConstantLike)
        if not known and not isinstance(op, linalg.Index | memref.Load):
            return op
    return None


class Bodies:
    """Evaluates stages' bodies at a position, on scalars where operands do not differ by lane."""

    def __init__(
        self, code: Code, addresses: Addresses, registers: Registers, use_fma: bool
    ) -> None:
        self.code = code
        self.addresses = addresses
        self.registers = registers
        self.use_fma = use_fma
        self._programs: dict[Stage, list[tuple[Operation, Operation | None]]] = {}

    def program(self, stage: Stage) -> list[tuple[Operation, Operation | None]]:
        """The body's operations, an addition paired with a product that goes into it alone."""
        known = self._programs.get(stage)
        if known is not None:
            return known
        ops = stage.body_ops()
        products: dict[Operation, Operation] = {}
        if self.use_fma:
            for op in ops:
                if isinstance(op, arith.AddF) and op.results[0].type in _FUSED_TYPES:
                    for value in reversed(op.operands):
                        product = value.defined_by(arith.MulF)
                        if product is not None and value.has_one_use and product in ops:
                            products[op] = product
                            break
        absorbed = set(products.values())
        program = [(op, products.get(op)) for op in ops if op not in absorbed]
        self._programs[stage] = program
        return program

    def run(self, stage: Stage, arguments: dict[Value, Value], at: Position) -> list[Value]:
        """What the body yields, given the values of its arguments."""
        known = arguments
        for op, product in self.program(stage):
            if product is not None:
                a, b = (known.get(v, v) for v in product._operands)
                total = next(v for v in op._operands if v.defining_op is not product)
                known[op.results[0]] = self._elementwise(
                    math.Fma, [a, b, known.get(total, total)], op
                )
            elif isinstance(op, linalg.Index):
                known[op.results[0]] = self.addresses.coordinate(op.dim, at)
            elif isinstance(op, memref.Load):
                known[op.results[0]] = self._load(op, [known.get(v, v) for v in op._operands], at)
            elif op.regions or len(op.results) != 1:
                copy = op.clone(IRMapping(known))
                self.code.put(copy)
                known.update(zip(op.results, copy.results, strict=True))
            elif op.has_trait(ConstantLike):
                known[op.results[0]] = self.code.constant(op.properties["value"])
            else:
                operands = [known.get(v, v) for v in op._operands]
                known[op.results[0]] = self._elementwise(type(op), operands, op)
        last = stage.body.last
        assert last is not None
        return [known.get(v, v) for v in last._operands]

    def _elementwise(
        self, op_class: type[Operation], operands: list[Value], like: Operation
    ) -> Value:
        width = 0
        for value in operands:
            if isinstance(value.type, VectorType):
                width = value.type.shape[0]
                break
        result = like.results[0].type
        if width:
            operands = [
                v if isinstance(v.type, VectorType) else self.code.splat(v, width) for v in operands
            ]
            result = VectorType((width,), result)
        if op_class is type(like):
            op = op_class.create(
                operands, (result,), like.attributes, like.properties, loc=like.loc
            )
        else:
            op = make(op_class, operands, (result,))
            op.loc = like.loc
        return self.code.value(op)

    def _load(self, op: memref.Load, operands: list[Value], at: Position) -> Value:
        """A load in the body: its place depends on data, so that lanes are gathered.

        Unless the data say which row it is, and the lanes are its elements in order.
        """
        buffer, *indices = operands
        width = next((v.type.shape[0] for v in indices if isinstance(v.type, VectorType)), None)
        if width is None:
            return self.code.value(make(memref.Load, operands, (op.results[0].type,)))
        addresses = self.addresses
        strides = Extents().strides(buffer)
        type = VectorType((width,), op.results[0].type)
        count = at.lane.count if at.lane is not None else None
        row = op._operands[-1].defined_by(linalg.Index)
        in_order = not any(isinstance(v.type, VectorType) for v in indices[:-1])
        if in_order and row is not None and strides[-1] == 1:
            indices[-1] = addresses.coordinate(row.dim, at, first=True)
            place = addresses.flatten(buffer, strides, indices)
            return self.registers.read_contiguous(addresses.view(buffer), place, type, count)
        lanes = addresses.flatten(buffer, strides, indices)
        zero = self.code.index(0)
        return self.registers.gather(addresses.view(buffer), zero, lanes, type, count)


_FUSED_TYPES = (FloatType("f32"), FloatType("f64"))
