"""Which elements an access of a tile touches: a base from outer loops, a constant, and axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from ....dialects.memref import base_buffer
from ....ir.core import Value
from ....ir.polynomial import Size
from ...model.plan import Ahead, Loop, Plan, iterations, sure_iterations
from ...model.stages import Access, Stage
from .axes import Axis


class Position:
    """The point of the iteration space that code is written for: a number for each loop."""

    __slots__ = ("offsets", "stage", "values")

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.values: dict[Loop, Value] = {}
        self.offsets: dict[Loop, int] = {}
        """The values of loops that are written out, or have one iteration."""

    def put(self, loop: Loop, at: int | Value) -> None:
        """Set the counter of a loop."""
        if isinstance(at, int):
            self.offsets[loop] = at
        else:
            self.values[loop] = at

    def remove(self, loop: Loop) -> None:
        """Forget a loop that has ended."""
        self.offsets.pop(loop, None)
        self.values.pop(loop, None)

    def copy(self) -> Position:
        """A copy that stays at this point."""
        point = Position(self.stage)
        point.values, point.offsets = dict(self.values), dict(self.offsets)
        return point


@dataclass(slots=True)
class Place:
    """The elements of a buffer that a tile touches; those of equal keys are the same."""

    access: Access
    alias: Value
    """The buffer that this one is a view of: views of one buffer may overlap."""
    at: Position
    terms: tuple[tuple[Value, Size], ...]
    constant: Size
    strides: tuple[tuple[Axis, Size], ...]
    key: tuple = field(init=False)

    def __post_init__(self) -> None:
        base = tuple((id(value), factor) for value, factor in self.terms)
        self.key = (self.access.value, base, self.constant, frozenset(self.steps()))

    def kept(self) -> Place:
        """A copy of the place that stays as it is while the stage moves on to other points."""
        return replace(self, at=self.at.copy())

    @property
    def axes(self) -> tuple[Axis, ...]:
        return tuple(axis for axis, _ in self.strides)

    def steps(self) -> list[tuple]:
        """(size, active elements, whether it is the lanes, stride) of each axis."""
        return [(a.size, a.active, a.is_lane, stride) for a, stride in self.strides]

    def reach(self) -> int | None:
        """The distance in elements from the first to the last one; None if it is not known."""
        total = 0
        for axis, stride in self.strides:
            if not isinstance(stride, int):
                return None
            total += (axis.size - 1) * abs(stride)
        return total

    def disjoint(self, other: Place) -> bool:
        """Whether two places in views of one buffer certainly share no element."""
        access = self.access
        if access.value is not other.access.value or self.key == other.key:
            return False
        if self.key[1] != other.key[1]:
            return False
        if access is other.access and access.is_output:
            return True  # one stage writes no element twice, but for reductions, at the same key
        distance = other.constant - self.constant
        reach, others = self.reach(), other.reach()
        if not isinstance(distance, int) or reach is None or others is None:
            return False
        return distance > reach or -distance > others


class Coordinates:
    """The loops that accesses depend on, and the elements they touch at a position."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.dropped: dict[Access, frozenset[Loop]] = {}
        """Loops that an access does not depend on, its buffer being used anew in each iteration."""
        self.instead: dict[Access, Access] = {}
        """Accesses to copies of operands, by those to the operands."""
        self.slots: dict[Access, int | Value] = {}
        """For an access to one of several buffers: the first subscript, which selects the buffer.
        """
        self._linear: dict[Access, list[tuple[Loop, Size]]] = {}
        self._base: dict[Value, Value] = {}

    def base(self, buffer: Value) -> Value:
        """The buffer that this one is a view of, or itself."""
        known = self._base.get(buffer)
        if known is None:
            known = self._base[buffer] = base_buffer(buffer)
        return known

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

    def parts_ahead(self, access: Access, ahead: Ahead) -> list[tuple[Loop, int]]:
        """(loop, factor) whose sum of products enumerates, over all iterations of `ahead.over`, the
        elements that one iteration of the loops around them reads.
        """
        linear = [(loop, factor) for loop, factor in self.linear(access) if isinstance(factor, int)]
        reduced = [(loop, loop.step * factor) for loop, factor in linear if loop.is_reduction]
        last = min((step for _, step in reduced), default=1)
        read = last + sum((iterations(loop) - 1) * step for loop, step in reduced)
        passes = ahead.passes or prod(map(sure_iterations, ahead.over))
        found = [
            (loop, -(-factor * ahead.elements // (passes * read)) if loop.is_reduction else factor)
            for loop, factor in linear
        ]
        share = -(-ahead.elements // passes)
        for loop in reversed(ahead.over):
            found.append((loop, -(-share // loop.step)))
            share *= sure_iterations(loop)
        return found

    def place(self, access: Access, at: Position, axes: Sequence[Axis]) -> Place:
        """The place that a linear access touches, with those of the axes that it depends on."""
        access = self.instead.get(access, access)
        assert access.coefficients is not None
        terms: list[tuple[Value, Size]] = []
        constant = access.constant
        slot = self.slots.get(access, 0)
        if isinstance(slot, Value):
            terms.append((slot, access.strides[0]))
        elif slot:
            constant = constant + access.strides[0] * slot
        for loop, factor in self.linear(access):
            if loop in at.values:
                terms.append((at.values[loop], factor))
            else:
                constant = constant + factor * at.offsets.get(loop, 0)
        dropped = self.dropped.get(access, ())
        strides = tuple(
            (axis, access.coefficients[axis.root.dims[-1]] * axis.step)
            for axis in axes
            if access.coefficients[axis.root.dims[-1]] != 0 and axis.first not in dropped
        )
        return Place(access, self.base(access.value), at, tuple(terms), constant, strides)

    def parts(
        self, dims: Iterable[int], access: Access | None, at: Position, axes: Sequence[Axis]
    ) -> tuple[list[Value], int]:
        """(induction variables, constant) whose sum is the coordinate of the tile's first element.

        The coordinate is along `dims`; the position within the tile, along its axes, is not in it.
        """
        dropped = self.dropped.get(access, ()) if access is not None else ()
        wanted = set(dims)
        values: list[Value] = []
        constant = 0
        for loop in self.plan.order[at.stage]:
            if wanted.isdisjoint(loop.dims) or loop in dropped:
                continue
            if loop in at.values:
                values.append(at.values[loop])
            else:
                constant += at.offsets.get(loop, 0)
        return values, constant

    def own_loops(self, dim: int, stage: Stage) -> bool:
        """Whether the loops over a dimension are over it alone, and not collapsed with others."""
        return all(r.dims == (dim,) for r in self.plan.roots[stage] if dim in r.dims)
