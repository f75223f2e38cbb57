"""Accumulators: the results of a reduction, in registers while its loops run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...dialects import arith, vector
from ...dialects.arith.attributes import FastMathAttr
from ...ir.attributes import Attribute
from ...ir.core import Value
from ...ir.types import FloatType, VectorType, element_type
from ..model.stages import IDEMPOTENT, Access, Stage
from .addresses import Address, Addresses, Position
from .code import Code, make
from .combining import combiner_op, identity
from .registers import Registers


@dataclass
class Accumulator:
    """The partial results of one element (or one vector of elements) of an output."""

    address: Address
    initial: Value
    partials: dict[tuple, Value] = field(default_factory=dict)


class Accumulation:
    """All accumulators of a stage, from where its accumulating loop starts to where it ends."""

    def __init__(
        self, stage: Stage, code: Code, addresses: Addresses, registers: Registers
    ) -> None:
        self.stage = stage
        self.code = code
        self.addresses = addresses
        self.registers = registers
        self.table: dict[tuple, Accumulator] = {}
        """By (output, key of the address)."""

    def begin(self, points: Iterator[Position]) -> None:
        """Make the accumulators for every point of the tile, with their initial values."""
        for at in points:
            for number, out in enumerate(self.stage.outputs):
                address = self.addresses.of(out, at)
                held = self.table.get((number, address.key))
                if held is None:
                    initial = self.registers.take(address)
                    held = self.table[number, address.key] = Accumulator(address, initial)
                partial = tuple(at.partials.values())
                if partial not in held.partials:
                    held.partials[partial] = self._start(number, held, at, out)

    def _start(self, number: int, held: Accumulator, at: Position, out: Access) -> Value:
        """The initial value of one partial result."""
        lane = at.lane
        lanes = lane.width if lane is not None and lane.is_reduction else 0
        kind = self.stage.combiners[number]
        if kind is None:
            return held.initial
        if kind in IDEMPOTENT:
            return self.code.splat(held.initial, lanes) if lanes else held.initial
        if not lanes and not held.partials:
            return held.initial
        type = out.element_type
        number_ = identity(kind, type)
        width = lanes or held.address.width
        if width:
            return self.code.splat_number(number_, VectorType((width,), type))
        return self.code.number(number_, type)

    # -- use ---------------------------------------------------------------------------------

    def get(self, number: int, address: Address, at: Position) -> Value:
        return self.table[number, address.key].partials[tuple(at.partials.values())]

    def set(self, number: int, address: Address, at: Position, value: Value) -> None:
        partials = self.table[number, address.key].partials
        partials[tuple(at.partials.values())] = value

    def values(self) -> list[Value]:
        """All partial results, in a fixed order: what loops carry."""
        return [v for held in self.table.values() for v in held.partials.values()]

    def replace(self, values: Iterator[Value]) -> None:
        """Set all partial results, in the same order."""
        for held in self.table.values():
            for partial in held.partials:
                held.partials[partial] = next(values)

    def end(self) -> None:
        """Combine the partial results and leave them as the outputs' content."""
        for (number, _), held in self.table.items():
            kind = self.stage.combiners[number]
            values = list(held.partials.values())
            value = values[0]
            if kind is not None:
                value = self._combine(kind, values, held)
            self.registers.store(held.address, value)

    def _combine(self, kind: str, values: list[Value], held: Accumulator) -> Value:
        op_class = combiner_op(kind, held.address.access.element_type)
        given = self._flags(held)
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2], strict=False)
            rest = values[-1:] if len(values) % 2 else []
            combined = [
                self.code.value(make(op_class, (a, b), (a.type,), **given)) for a, b in pairs
            ]
            values = combined + rest
        (value,) = values
        if isinstance(value.type, VectorType) and not held.address.width:
            value = self._across_lanes(kind, value, held)
            if kind not in IDEMPOTENT:
                op = make(op_class, (held.initial, value), (value.type,), **given)
                value = self.code.value(op)
        return value

    def _across_lanes(self, kind: str, value: Value, held: Accumulator) -> Value:
        """One scalar from all lanes."""
        made = vector.Reduction(kind, value)
        is_float = isinstance(element_type(value.type), FloatType)
        if is_float and kind in ("add", "mul"):
            made = vector.Reduction(kind, value, fastmath="reassoc")
        elif is_float:
            made.properties.update(self._flags(held))
        return self.code.value(made)

    def _flags(self, held: Accumulator) -> dict[str, Attribute]:
        """The floating-point flags of the operation that combines an output's elements."""
        number = next(n for (n, _), one in self.table.items() if one is held)
        op = self.stage.combiner_op(number)
        if isinstance(op, arith.Select):  # what is kept is a number: see `stages`
            return {"fastmath": FastMathAttr("nnan,nsz")}
        flags = op.properties.get("fastmath") if op is not None else None
        return {} if flags is None else {"fastmath": flags}
