"""Which slot of a buffer, along its first dimension, an operation touches.

    %slot = arith.remui %k, %c2             slot k % 2
    %one = arith.addi %k, %c1
    %next = arith.remui %one, %c2           slot (k + 1) % 2, another one

The number k must be the same for all threads of a group: otherwise one thread's slot may be
another's next slot.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import arith, memref, vector
from ....ir.affine import AffineDim
from ....ir.core import Operation, Value
from ....ir.rewriting import constant_int
from ...model.uniform import is_uniform


@dataclass(frozen=True)
class Spot:
    """Slot `(base + offset) % count` of a buffer, or slot `offset` where there is no base.

    With a count of 0 it is the whole buffer.
    """

    buffer: Value
    base: Value | None = None
    offset: int = 0
    count: int = 0

    def meets(self, other: Spot) -> bool:
        """Whether two spots may share elements, in one iteration of all loops."""
        if self.buffer is not other.buffer:
            return False
        if not self.count or not other.count:
            return True
        if self.base is not other.base or self.count != other.count:
            return True
        return (self.offset - other.offset) % self.count == 0

    def later(self, loop: Operation) -> Spot:
        """The spot as the loop's next iteration sees it, when the base may have changed."""
        if self.base is None:
            return self
        op = self.base.defining_op or self.base.owner.parent_op  # type: ignore[attr-defined]
        is_inside = isinstance(op, Operation) and loop.is_ancestor_of(op)
        return Spot(self.buffer) if is_inside else self


def spot(op: Operation, buffer: Value) -> Spot:
    """The part of a buffer, an operand of `op`, that the operation touches."""
    base = memref.base_buffer(buffer)
    at = _first_index(op) if base is buffer else None
    if at is None:
        return Spot(base)
    if (number := constant_int(at)) is not None:
        slots = buffer.type.shape[0]  # type: ignore[attr-defined]
        return Spot(base, None, number, slots) if slots and number < slots else Spot(base)
    remainder = at.defined_by(arith.RemUI)
    count = constant_int(remainder.rhs) if remainder is not None else None
    if remainder is None or not count:
        return Spot(base)
    term, offset = remainder.lhs, 0
    if (total := term.defined_by(arith.AddI)) is not None:
        more = constant_int(total.rhs)
        if more is not None:
            term, offset = total.lhs, more
    return Spot(base, term, offset, count) if is_uniform(term) else Spot(base)


def _first_index(op: Operation) -> Value | None:
    """The first subscript, if all elements that the operation touches have it."""
    match op:
        case vector.TransferRead() | vector.TransferWrite():
            if any(isinstance(e, AffineDim) and e.position == 0 for e in op.map.results):
                return None
            return op.indices[0] if op.indices else None
        case memref.Load() | memref.Store():
            return op.indices[0] if op.indices else None
    return None
