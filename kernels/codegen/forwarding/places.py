"""Where loads and stores of elements and rows lie, from the start of the buffer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....dialects import memref, vector
from ....ir.attributes import DenseElements
from ....ir.core import Operation, Value
from ....ir.rewriting import constant_value
from ....ir.types import MemRefType, VectorType
from ..addresses.linear import Forms
from .effects import Effects


@dataclass(eq=False, slots=True)
class Place:
    """The elements that one load or store touches: `width` lanes, `step` elements apart.

    `width` is 0 for a single element. `start` is the first lane's distance from `base`; two places
    with equal bases are a known distance apart. Units: elements.
    """

    op: Operation
    alias: Hashable
    base: tuple
    start: int
    width: int
    step: int | Value
    """The distance between lanes; a vector of each lane's offset if they are not evenly spaced."""
    mask: Value | None
    """Which lanes are touched, all if None."""
    memref: Value
    indices: Sequence[Value]
    forms: Forms
    key: tuple = field(init=False)
    """Equal for places with the same elements, lane by lane."""

    def __post_init__(self) -> None:
        self.key = (self.base, self.start, self.width, self.step, self.mask)

    def disjoint(self, other: Place) -> bool:
        """Whether two places in buffers that may alias certainly share no element."""
        if self.base != other.base:
            return self._in_other_rows(other)
        if not isinstance(self.step, int) or not isinstance(other.step, int):
            return False
        distance = other.start - self.start
        mine = self.step * max(self.width - 1, 0)
        others = other.step * max(other.width - 1, 0)
        if distance > mine or -distance > others:
            return True
        return bool(self.step and self.step == other.step and distance % self.step)

    def _in_other_rows(self, other: Place) -> bool:
        """Whether two places are in different rows of one contiguous array.

        They certainly are if a subscript other than the last differs by a constant.
        """
        if self.memref is not other.memref or self.memref.type.layout is not None:
            return False
        if self.step not in (0, 1) or other.step not in (0, 1):
            return False
        form = self.forms.of
        for one, two in zip(self.indices[:-1], other.indices[:-1], strict=True):
            if one is not two:
                distance = form(one) + form(two) * -1
                if isinstance(distance, int) and distance != 0:
                    return True
        return False


class Places:
    """The places of a function's loads and stores."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self.forms = Forms()

    def of(self, op: Operation) -> Place | None:
        """The place that a load or store touches, or None if its subscripts are not understood."""
        found = _ACCESSES[type(op)](op)
        if found is None:
            return None
        buffer, indices, width, step, mask = found
        kind = buffer.type
        if not isinstance(kind, MemRefType) or isinstance(kind.element_type, VectorType):
            return None
        view = self.forms.view(buffer)
        if view is None:
            return None
        base, start = self.forms.flat(view, indices)
        alias = self.effects.alias(buffer)
        return Place(
            op, alias, (view.root, base), start, width, step, mask, buffer, indices, self.forms
        )


Access = tuple[Value, Sequence[Value], int, "int | Value", "Value | None"]
"""The buffer and subscripts of the first lane, how many lanes, their step, and the mask."""


def _element(op: Any) -> Access | None:
    return None if op.nontemporal else (op.memref, op.indices, 0, 0, None)


def _row(op: Any) -> Access | None:
    type = (op.result if isinstance(op, vector.Load) else op.valueToStore).type
    if type.rank != 1 or op.nontemporal:
        return None
    return op.base, op.indices, type.shape[0], 1, None


def _masked_row(op: Any) -> Access | None:
    type = op.mask.type
    return (op.base, op.indices, type.shape[0], 1, op.mask) if type.rank == 1 else None


def _lanes(op: Any) -> Access | None:
    """The elements of a strided or indexed vector access; None for another operation."""
    type = op.mask.type
    found = op.base.type.strides_and_offset() if isinstance(op.base.type, MemRefType) else None
    if type.rank != 1 or found is None or not found[0] or found[0][-1] != 1:
        return None
    step = _step(op.indices)
    mask = None if _is_full(op.mask) else op.mask
    return op.base, op.offsets, type.shape[0], op.indices if step is None else step, mask


def _step(lanes: Value) -> int | None:
    """The constant step of a vector [0, step, 2 * step, ..]; None for any other vector."""
    constant = constant_value(lanes)
    if not isinstance(constant, DenseElements):
        return None
    numbers = list(constant.values())
    step = numbers[1] if len(numbers) > 1 else 1
    return step if step > 0 and numbers == [step * i for i in range(len(numbers))] else None


def _is_full(mask: Value) -> bool:
    constant = constant_value(mask)
    return isinstance(constant, DenseElements) and all(constant.values())


_ACCESSES: dict[type[Operation], Callable[[Any], Access | None]] = {
    memref.Load: _element,
    memref.Store: _element,
    vector.Load: _row,
    vector.Store: _row,
    vector.MaskedLoad: _masked_row,
    vector.MaskedStore: _masked_row,
    vector.Gather: _lanes,
    vector.Scatter: _lanes,
}
