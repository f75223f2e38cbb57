"""Scattering by search, for devices: each element looks for its updates among all of them.

That compares each element with each index, but none waits for another one, so all threads share
them. Nothing is stored where a value says, so no two threads can meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...dialects import arith
from ...ir.affine import AffineConstant, AffineDim, AffineMap
from ...ir.comprehension import combiner_identity
from ...ir.core import Operation, Value
from ...ir.types import Type, i1
from .bounds import wrapped
from .emitter import Emitter
from .extents import Size
from .ranks import all_threads_pay, rank_type
from .scalars import apply, compute_type, convert, narrow
from .storage import storage_type


@dataclass(frozen=True)
class Search:
    """Updates that each element of a result looks for."""

    e: Emitter
    element: Type
    out: Value
    """The part of the result that updates may change; it has the data."""
    updates: Value
    """Extents as `out`, but one, the number of updates, in place of those that indices address."""
    axis: int
    """The axis of `updates` that counts updates."""
    indices: Value
    """One index for each element of `updates`, or as many as are addressed for each update."""
    addressed: int = 1
    """The number of axes of `out`, from `axis` on, that indices address."""
    has_rows: bool = False
    """Whether `indices` is a matrix with a row for each update, of a slice behind these axes."""

    @property
    def count(self) -> Size:
        """The number of updates that an element is compared with."""
        return self.e.size(self.updates, self.axis)

    def pays(self, op: Operation, reduction: str) -> bool:
        """Whether this is done sooner than by a thread that takes one update after the other."""
        launches = 3 if reduction == "none" else 1
        return all_threads_pay(self.e, op, self.e.sizes(self.out), self.count, launches)

    def apply(self, reduction: str) -> None:
        """Give each element its updates."""
        if self.count != 0:
            self._last() if reduction == "none" else self._combined(reduction)

    def _given(self, update: Any, where: Sequence[Any]) -> list[Any]:
        """The place in `updates` of what an update has for the element at these places."""
        return [*where[: self.axis], update, *where[self.axis + self.addressed :]]

    def _maps(self, rank: int) -> list[AffineMap]:
        """The places of the indices and of the element, in loops over `rank` axes and updates."""
        every, update = tuple(map(AffineDim, range(rank))), AffineDim(rank)
        if self.has_rows:
            read = [(update, AffineConstant(i)) for i in range(self.addressed)]
        else:
            read = [tuple(self._given(update, every))]
        return [AffineMap(rank + 1, 0, results) for results in (*read, every)]

    def _is_here(self, indices: Sequence[Value]) -> Value:
        """Whether an update is for the element at the current point."""
        e = self.e
        is_here = e.constant(1, i1)
        for axis, at in enumerate(indices, self.axis):
            same = e.compare("eq", wrapped(e, at, e.size(self.out, axis)), e.position(axis))
            is_here = e.insert(arith.AndI(is_here, same)).result
        return is_here

    def _last(self) -> None:
        """Find the last update of each element, then take it."""
        e, number, whole = self.e, rank_type(self.count), self.out.type.rank
        rank = self.addressed if self.has_rows else whole
        last, none = e.alloc(e.sizes(self.out)[:rank], number), e.constant(-1, number)
        e.fill(none, last)

        def later(e: Emitter, *elements: Value) -> Value:
            *indices, so_far = elements
            this = e.from_index(e.position(rank), number)
            this = e.insert(arith.Select(self._is_here(indices), this, none)).result
            return e.insert(arith.MaxSI(so_far, this)).result

        kinds = [*["parallel"] * rank, "reduction"]
        e.generic([self.indices] * self.addressed, [last], self._maps(rank), kinds, later)
        updates = self._with_one()

        def take(e: Emitter, update: Value, kept: Value) -> Value:
            at = e.to_index(update)
            inside = e.select(e.compare("ult", at, e.size(updates, self.axis)), at, 0)
            where = [e.position(d) for d in range(whole)]
            value = e.load(updates, self._given(inside, where))
            return e.insert(arith.Select(e.compare("slt", at, 0), kept, value)).result

        maps = [AffineMap(whole, 0, tuple(map(AffineDim, range(rank)))), AffineMap.identity(whole)]
        e.generic([last], [self.out], maps, ["parallel"] * whole, take)

    def _with_one(self) -> Value:
        """The updates, of which there is one at least, so that there is something to read."""
        e, sizes = self.e, self.e.sizes(self.updates)
        if isinstance(self.count, int):
            return self.updates
        element = self.updates.type.element_type
        room = [e.add(n, 1) if axis == self.axis else n for axis, n in enumerate(sizes)]
        more = e.alloc(room, element)
        e.fill(e.constant(0, element), more)
        e.copy(self.updates, e.subview(more, [0] * len(sizes), sizes))
        return more

    def _combined(self, reduction: str) -> None:
        """Combine each element with its updates, in any order."""
        e, element, wide = self.e, self.element, compute_type(self.element)
        rank, so_far = self.out.type.rank, self.out
        none = e.constant(combiner_identity(reduction, wide), storage_type(wide))
        if wide is not element:
            so_far = e.alloc(e.sizes(self.out), wide)
            e.elementwise([self.out], so_far, lambda e, x, _: convert(e, x, element, wide))

        def combine(e: Emitter, *elements: Value) -> Value:
            *indices, update, total = elements
            update = convert(e, update, element, wide)
            update = e.insert(arith.Select(self._is_here(indices), update, none)).result
            return apply(e, reduction, element, [total, update])

        *read, own = self._maps(rank)
        given = AffineMap(rank + 1, 0, tuple(self._given(AffineDim(rank), own.results)))
        kinds = [*["parallel"] * rank, "reduction"]
        inputs = [*[self.indices] * self.addressed, self.updates]
        e.generic(inputs, [so_far], [*read, given, own], kinds, combine)
        if wide is not element:
            e.elementwise([so_far], self.out, lambda e, x, _: narrow(e, x, element))
