"""Sums of products: a stage's tile as one `vector.contract`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import arith, linalg, memref, vector
from ....ir.affine import AffineDim, AffineMap
from ....ir.core import Operation, Value
from ....ir.traits import ConstantLike
from ....ir.types import VectorType
from ...model.plan import Loop, Plan
from ...model.stages import Access, Stage
from ..code import Code
from .axes import Axis, Tiled, axes_of
from .bodies import Bodies
from .memory import Memory
from .places import Place, Position


@dataclass(frozen=True)
class Factor:
    """One factor of a product: an operand, and the conversions that the body applies to it."""

    access: Access
    steps: tuple[Operation, ...]


class Contractions:
    """Finds stages whose body is `out + f(a) * g(b)`, and writes them as contractions."""

    def __init__(self, code: Code, memory: Memory, bodies: Bodies, plan: Plan) -> None:
        self.code = code
        self.memory = memory
        self.bodies = bodies
        self.plan = plan
        self._factors: dict[Stage, tuple[Factor, Factor] | None] = {}

    def factors(self, stage: Stage) -> tuple[Factor, Factor] | None:
        """The two factors that a stage's body multiplies and accumulates; None if it has another
        body.
        """
        if stage not in self._factors:
            self._factors[stage] = factors_of(stage)
        return self._factors[stage]

    def applies(self, stage: Stage, loops: Sequence[Loop]) -> bool:
        """Whether the tile that these loops make is one contraction."""

        def nominal(loop: Loop) -> int:
            return loop.extent if isinstance(loop.extent, int) else 2

        found = self.factors(stage)
        return found is not None and self._fits(found, axes_of(loops, nominal))

    def _fits(self, factors: tuple[Factor, Factor], axes: Sequence[Axis]) -> bool:
        if any(a.accumulates for a in axes) or not any(a.is_lane for a in axes):
            return False
        for axis in axes:  # a contraction has each of its dimensions in an operand
            if not any(f.access.coefficients[d] for f in factors for d in axis.root.dims):  # type: ignore[index]
                return False
        lane = axes[-1].root.dims[-1]
        lanes = [f.access.coefficients[lane] != 0 for f in factors]  # type: ignore[index]
        return not all(lanes) or any(a.is_reduction for a in axes)

    def contract(
        self, stage: Stage, at: Position, axes: Sequence[Axis], total: Tiled
    ) -> Tiled | None:
        """`total` plus this tile's products; None where the tile is no contraction."""
        factors = self.factors(stage)
        if factors is None or not self._fits(factors, axes):
            return None
        if any(a.active is not None and a.is_reduction for a in axes):
            return None
        parallel = [a for a in axes if not a.is_reduction]
        steps = [a for a in axes if a.is_reduction] or self._unit(stage, factors)
        if not steps or list(total.axes) != parallel:
            return None
        order = [*parallel, *steps]
        operands, maps = [], []
        for factor in factors:
            place = self.memory.coordinates.place(factor.access, at, order)
            along = _arranged(place)
            if not along:
                return None
            value = self.memory.read_operand(place, along)
            operands.append(self._converted(factor, value, along))
            maps.append(self._map(order, along))
        maps.append(self._map(order, parallel))
        kinds = ["parallel"] * len(parallel) + ["reduction"] * len(steps)
        op = vector.Contract.of(operands[0], operands[1], total.value, maps, kinds)
        return Tiled(self.code.value(op), total.axes)

    def _unit(self, stage: Stage, factors: tuple[Factor, Factor]) -> list[Axis]:
        """An axis of one step along the innermost reduction."""
        for loop in reversed(self.plan.order[stage]):
            dim = loop.dims[-1]
            if loop.is_reduction and any(f.access.coefficients[dim] for f in factors):  # type: ignore[index]
                return [Axis(loop.root, 1, 1)]
        return []

    def _converted(self, factor: Factor, value: Value, along: Sequence[Axis]) -> Value:
        """A factor's operand after the conversions that the body applies to it."""
        known = {factor.access.argument: Tiled(value, tuple(along))}
        for op in factor.steps:
            operands = [known[v] for v in op._operands]
            type_ = VectorType(value.type.shape, op.results[0].type)  # type: ignore[attr-defined]
            made = type(op).create(
                [t.value for t in operands], (type_,), op.attributes, op.properties, loc=op.loc
            )
            known[op.results[0]] = Tiled(self.code.value(made), tuple(along))
            value = known[op.results[0]].value
        return value

    @staticmethod
    def _map(order: Sequence[Axis], along: Sequence[Axis]) -> AffineMap:
        return AffineMap(len(order), 0, tuple(AffineDim(order.index(a)) for a in along))


def _arranged(place: Place) -> list[Axis]:
    """The axes of an operand: lanes last; elsewhere the reduction last."""
    return sorted(place.axes, key=lambda a: (a.is_lane, a.is_reduction))


def factors_of(stage: Stage) -> tuple[Factor, Factor] | None:
    """The two factors whose products a stage adds up; None for a stage with another body."""
    if stage.combiners != ["add"] or stage.outputs[0].coefficients is None:
        return None
    total = stage.combiner_op(0)
    if not isinstance(total, arith.AddF | arith.AddI):
        return None
    out = stage.outputs[0].argument
    product = next(v for v in total.operands if v is not out)
    op = product.defining_op
    if not isinstance(op, arith.MulF | arith.MulI) or not product.has_one_use:
        return None
    found = [_factor(stage, v) for v in op.operands]
    if found[0] is None or found[1] is None or found[0].access is found[1].access:
        return None
    used = {*found[0].steps, *found[1].steps, op, total}
    if any(inner not in used for inner in stage.body_ops()):
        return None
    return found[0], found[1]


def _factor(stage: Stage, value: Value) -> Factor | None:
    """The factor that a value of the body is: an operand after conversions; None for any other."""
    steps: list[Operation] = []
    while (op := value.defining_op) is not None:
        if len(op.operands) != 1 or len(op.results) != 1 or op.regions:
            return None
        if isinstance(op, memref.Load | linalg.Index) or op.has_trait(ConstantLike):
            return None
        steps.insert(0, op)
        value = op.operands[0]
    access = next((a for a in stage.inputs if a.argument is value), None)
    if access is None or access.is_scalar or access.coefficients is None:
        return None
    return Factor(access, tuple(steps))
