"""Accumulators: the results of a reduction, in registers while its loops run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ....dialects import arith, vector
from ....dialects.arith.attributes import FastMathAttr
from ....ir.attributes import Attribute
from ....ir.core import Value
from ....ir.types import VectorType
from ...model.stages import IDEMPOTENT, Stage
from ..code import Code, make
from ..combining import combiner_op, identity
from .axes import Axis, Tiled, shape_of
from .bodies import Bodies
from .memory import Memory
from .places import Place, Position


@dataclass
class Accumulator:
    """The results of one tile of an output: `value` is a vector along `axes`.

    These are the axes of the output and, where each result has partial sums, theirs.
    """

    number: int
    place: Place
    initial: Tiled
    value: Value
    axes: tuple[Axis, ...]


class Accumulation:
    """All accumulators of a stage, while its accumulating loop runs."""

    def __init__(
        self, stage: Stage, code: Code, memory: Memory, bodies: Bodies, chains: int = 1
    ) -> None:
        self.stage = stage
        self.chains = chains
        """How many partial results each result has; steps of a reduction add to them in turn."""
        self.chain = 0
        """The number of the partial result that the current step adds to."""
        self.code = code
        self.memory = memory
        self.bodies = bodies
        self.table: dict[tuple, Accumulator] = {}
        """The accumulators by (output, key of the place, chain)."""

    def begin(self, points: Iterator[tuple[Position, list[Axis]]]) -> None:
        """Make the accumulators of every tile, with their initial values."""
        for at, axes in points:
            for number, out in enumerate(self.stage.outputs):
                place = self.memory.coordinates.place(out, at, axes)
                if (number, place.key, 0) in self.table:
                    continue
                initial = self._initial(number, place)
                partial = [a for a in axes if a.accumulates]
                along = tuple(a for a in axes if a.accumulates or a in place.axes)
                for chain in range(self.chains):
                    is_partial = bool(partial) or chain > 0
                    value = self._start(number, initial, is_partial, along)
                    held = Accumulator(number, place.kept(), initial, value, along)
                    self.table[number, place.key, chain] = held

    def _initial(self, number: int, place: Place) -> Tiled:
        """The initial results: the output's content or, for partial sums, the identity."""
        if place.access not in self.memory.coordinates.plan.factored:
            return self.memory.take(place)
        kind, element = self.stage.combiners[number], place.access.element_type
        assert kind is not None
        start = identity(kind, element)
        if not place.axes:
            return Tiled(self.code.number(start, element))
        type = VectorType(shape_of(place.axes), element)
        return Tiled(self.code.splat_number(start, type), place.axes)

    def _start(self, number: int, initial: Tiled, is_partial: bool, along: Sequence[Axis]) -> Value:
        """The initial value of an accumulator; a partial result starts with the identity."""
        kind = self.stage.combiners[number]
        if not is_partial or kind is None or kind in IDEMPOTENT:
            return self.bodies.spread(initial, along)
        element = self.stage.outputs[number].element_type
        return self.code.splat_number(identity(kind, element), VectorType(shape_of(along), element))

    # -- use ---------------------------------------------------------------------------------

    def get(self, number: int, place: Place) -> Tiled:
        """The current result, or partial result, of output `number` at a place."""
        held = self.table[number, place.key, self.chain]
        return Tiled(held.value, held.axes)

    def set(self, number: int, place: Place, new: Tiled, axes: Sequence[Axis]) -> None:
        """Set the results, or partial results, of output `number` at a place.

        Partial results outside of the active part of `axes` stay as they are.
        """
        held = self.table[number, place.key, self.chain]
        value = self.bodies.spread(new, held.axes)
        now = [next((a for a in axes if a == b), b) for b in held.axes]
        if any(a.accumulates and a.active is not None for a in now):
            sizes = shape_of(now)
            active = [a.active if a.accumulates else None for a in now if not a.is_lane]
            lane = next((a.active for a in now if a.is_lane and a.accumulates), None)
            mask = self.memory.mask(sizes, [*active, lane])
            value = self.code.value(make(arith.Select, (mask, value, held.value), (value.type,)))
        held.value = value

    def values(self) -> list[Value]:
        """All results in a fixed order, for loops to carry."""
        return [held.value for held in self.table.values()]

    def replace(self, values: Iterator[Value]) -> None:
        """Set all results, in the order of `values()`."""
        for held in self.table.values():
            held.value = next(values)

    def end(self) -> None:
        """Combine the partial results, and make them the content of the outputs."""
        for (number, key, chain), held in self.table.items():
            if chain:
                continue
            kind = self.stage.combiners[number]
            if kind is not None:
                chains = [self.table[number, key, i].value for i in range(self.chains)]
                held.value = self._in_pairs(kind, chains, held)
            value = held.value
            if kind is not None and any(a.accumulates for a in held.axes):
                value = self._combine(kind, held)
            self.memory.store(held.place, value)

    def _combine(self, kind: str, held: Accumulator) -> Value:
        """Combine partial results: copies in pairs, then lanes, then the initial value."""
        value, axes = held.value, held.axes
        if self.memory.grouped and (several := self._across_threads(kind, held)) is not None:
            return several
        while (first := axes[0]).accumulates and not first.is_lane:
            value, axes = self._fold(kind, value, axes, held), axes[1:]
            if not axes:
                return self._with_initial(kind, self._only(value), held)
        if axes[-1].accumulates:
            return self._across_lanes(kind, value, axes, held)
        return self._with_initial(kind, value, held)

    def _across_threads(self, kind: str, held: Accumulator) -> Value | None:
        """All partial results combined by one operation, starting with the initial values.

        None if each output has one result only, or if partial results lie along the lanes.
        """
        kept = [a for a in held.axes if not a.accumulates]
        if not kept or held.axes[-1].accumulates:
            return None
        copies = list(range(len(held.axes) - len(kept)))
        initial = self.bodies.spread(held.initial, kept)
        return self.code.value(vector.MultiReduction(kind, held.value, initial, copies))

    def _only(self, value: Value) -> Value:
        """The one element of a vector."""
        type: VectorType = value.type  # type: ignore[assignment]
        return self.code.value(vector.Extract.of(value, [0] * type.rank))

    def _fold(self, kind: str, value: Value, axes: Sequence[Axis], held: Accumulator) -> Value:
        """The slices along the first axis, combined in pairs."""
        extracts = (vector.Extract.of(value, [i]) for i in range(axes[0].size))
        return self._in_pairs(kind, list(map(self.code.value, extracts)), held)

    def _in_pairs(self, kind: str, parts: list[Value], held: Accumulator) -> Value:
        """The combination of all these values, in pairs."""
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=False)
            rest = parts[-1:] if len(parts) % 2 else []
            parts = [self._both(kind, a, b, held) for a, b in pairs] + rest
        return parts[0]

    def _both(self, kind: str, a: Value, b: Value, held: Accumulator) -> Value:
        op_class = combiner_op(kind, held.place.access.element_type)
        return self.code.value(make(op_class, (a, b), (a.type,), **self._flags(held)))

    def _with_initial(self, kind: str, value: Value, held: Accumulator) -> Value:
        if kind in IDEMPOTENT:
            return value
        return self._both(kind, held.initial.value, value, held)

    def _across_lanes(
        self, kind: str, value: Value, axes: Sequence[Axis], held: Accumulator
    ) -> Value:
        """Combine all lanes, starting with the initial value."""
        initial = held.initial.value
        rank = value.type.rank  # type: ignore[attr-defined]
        if len(axes) > 1:
            initial = self.memory.without_lanes(initial)
        op = vector.MultiReduction(kind, value, initial, [rank - 1])
        if kind in IDEMPOTENT:  # of a sum, nothing but the order may change
            op.attributes.update(self._flags(held))
        total = self.code.value(op)
        return total if len(axes) == 1 else self.memory.with_lanes(total)

    def _flags(self, held: Accumulator) -> dict[str, Attribute]:
        """The floating-point flags of the operation that combines an output's elements."""
        op = self.stage.combiner_op(held.number)
        if isinstance(op, arith.Select):  # never NaN: see `_keeps_larger` in `stages`
            return {"fastmath": FastMathAttr("nnan,nsz")}
        flags = op.properties.get("fastmath") if op is not None else None
        return {} if flags is None else {"fastmath": flags}
