"""Axes of a stage's tile: its innermost unrolled and vectorized loops.

A tile is an n-dimensional vector. Its last axis is the lanes; a value that is the same for all
lanes has one element there. Consecutive splits of one loop form one axis: four copies of sixteen
lanes are an axis of 64.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from ....ir.core import Value
from ....ir.types import Type, VectorType
from ...model.cached import leaves
from ...model.plan import Loop
from ...model.steps import power_of_two

Number = int | Value
"""An extent while code is emitted: a number, or a value."""


Inner = int | Callable[[Value], Number]
"""The extent of a split loop's inner half: known, or a function of the outer counter."""


def inner_extent(inner: Inner, counter: Value) -> Number:
    """How many iterations the inner half has where the outer loop's counter is `counter`."""
    return inner if isinstance(inner, int) else inner(counter)


@dataclass(frozen=True)
class Axis:
    """`size` values of a loop's dimension, `step` apart; if `active` is set, only so many of them
    are in the iteration space.
    """

    root: Loop
    step: int
    size: int = field(compare=False)
    active: Number | None = field(compare=False, default=None)
    is_lane: bool = False
    lanes: int = field(compare=False, default=0)
    """How many lanes the schedule asks for; used of the last axis only."""
    accumulates: bool = field(compare=False, default=False)
    """Whether partial results of a reduction lie along the axis."""
    first: Loop | None = field(compare=False, default=None)
    """The outermost loop of those that the axis consists of."""

    @property
    def is_reduction(self) -> bool:
        return self.root.is_reduction


@dataclass(frozen=True)
class Tiled:
    """A value of a tile: a scalar, or a vector along some of the tile's axes, in their order.

    The last dimension of a vector is that of the lanes, of size 1 where the value does not vary
    along them; operands of a contraction that have no lanes do without.
    """

    value: Value
    axes: tuple[Axis, ...] = ()

    @property
    def is_scalar(self) -> bool:
        return not isinstance(self.value.type, VectorType)


def shape_of(axes: Iterable[Axis]) -> tuple[int, ...]:
    """The shape of a value along these axes: copies, then lanes."""
    axes = tuple(axes)
    sizes = tuple(a.size for a in axes if not a.is_lane)
    lanes = next((a.size for a in axes if a.is_lane), 1)
    return (*sizes, lanes)


def vector_type(axes: Sequence[Axis], element: Type) -> Type:
    """The type of a value along these axes; the element's own for none."""
    return VectorType(shape_of(axes), element) if axes else element


def axes_of(
    loops: Sequence[Loop], extent: Callable[[Loop], Number], masked: Collection[Loop] = ()
) -> list[Axis]:
    """The axes that loops make, unrolled or vectorized and innermost.

    They are in the order of the loops, which is that of the code they become; partial results
    come first and the lanes last. Copies of one element are left out. The axes of `masked` loops
    are as long as they may get, however many of their values there are.
    """
    chains: dict[Loop, list[list[Loop]]] = {}
    wanted = set(loops)
    nested = [leaf for root in dict.fromkeys(loop.root for loop in loops) for leaf in leaves(root)]
    for loop in (leaf for leaf in nested if leaf in wanted):
        runs = chains.setdefault(loop.root, [])
        if runs and _continues(runs[-1][-1], loop):
            runs[-1].append(loop)
        else:
            runs.append([loop])
    found = [_axis(run, extent, masked) for runs in chains.values() for run in runs]
    place = {loop: i for i, loop in enumerate(loops)}
    axes = [a for a in found if a.size != 1 or a.is_lane]
    axes.sort(key=lambda a: (a.is_lane, not a.accumulates, place[a.first]))  # type: ignore[index]
    return axes


def _continues(outer: Loop, inner: Loop) -> bool:
    """Whether the inner loop covers one step of the outer one: both are then one axis."""
    if outer.rest is None or inner.span is not outer.rest:
        return False
    return _accumulates(outer) == _accumulates(inner)


def _accumulates(loop: Loop) -> bool:
    """Whether each iteration of a reduction has a result of its own."""
    return loop.is_reduction and (loop.partial or loop.in_lanes)


def _axis(run: list[Loop], extent: Callable[[Loop], Number], masked: Collection[Loop]) -> Axis:
    first, last = run[0], run[-1]
    is_lane = last.in_lanes
    lanes = power_of_two(last.extent) if is_lane else 0  # type: ignore[arg-type]
    size, step = extent(first), last.step
    accumulates = _accumulates(first)
    active: Number | None = None
    if accumulates:
        whole = first.extent if isinstance(first.extent, int) else 0
        whole = max(lanes, -(-whole // step))
        if is_lane and whole % lanes:
            whole += lanes - whole % lanes
        size = size if not isinstance(size, int) else -(-size // step)
        active, size = (None if size == whole else size), whole
    elif not isinstance(size, int):
        is_whole = first.span in masked and isinstance(first.extent, int)
        active, size = size, -(-first.extent // step) if is_whole else max(lanes, 1)  # type: ignore[operator]
    else:
        size = -(-size // step)
    return Axis(first.root, step, size, active, is_lane, lanes, accumulates, first)
