"""What of memory is in registers: tiles read are remembered, tiles written are delayed.

A tile that one stage writes and the next one reads at the same place never goes through memory.
Writes reach it at the end of the block, or earlier where something else needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ....dialects import memref, ub, vector
from ....dialects.memref import base_buffer
from ....ir.attributes import IntegerAttr
from ....ir.core import Operation, Value
from ....ir.types import VectorType, i1, i64
from ...model.stages import Access
from ..code import Code, make
from .axes import Axis, Tiled, shape_of
from .places import Coordinates, Place, Position, disjoint
from .views import Views


@dataclass(slots=True)
class Entry:
    """A value known to be (or, if dirty, to become) the content of a place."""

    place: Place
    at: Position
    value: Value
    dirty: bool


class Memory:
    """Reads and writes through the scopes' tables of known contents."""

    def __init__(
        self,
        code: Code,
        coordinates: Coordinates,
        views: Views,
        prefetched: Mapping[Access, int],
        natural: int,
    ) -> None:
        self.code = code
        self.coordinates = coordinates
        self.views = views
        self.prefetched = prefetched
        self.natural = natural
        """Bits of the machine's vectors."""
        self._base: dict[Value, Value] = {}

    def base(self, buffer: Value) -> Value:
        """What the buffer is a view of: views of one buffer may overlap."""
        known = self._base.get(buffer)
        if known is None:
            known = self._base[buffer] = base_buffer(buffer)
        return known

    # -- known contents ------------------------------------------------------------------------

    def find(self, place: Place) -> Value | None:
        """The content of a place if it is known here."""
        base, scope = self.base(place.access.value), self.code.scope
        while scope is not None:
            entry = scope.entries.get(base, {}).get(place.key)
            if entry is not None:
                return self._reordered(entry, place)
            if base in scope.written:
                return None
            scope = scope.parent
        return None

    def _reordered(self, entry: Entry, place: Place) -> Value:
        """A known value with its axes in the order of another stage's."""
        held, wanted = entry.place.steps(), place.steps()
        if held == wanted:
            return entry.value
        order = [held.index(step) for step in wanted]
        rank = entry.value.type.rank  # type: ignore[attr-defined]
        order += range(len(order), rank)
        return self.code.value(vector.Transpose(entry.value, order))

    def read(self, place: Place, at: Position) -> Tiled:
        """The content of a place, along the axes that it depends on."""
        value = self.find(place)
        if value is None:
            base = self.base(place.access.value)
            table = self.code.scope.entries.setdefault(base, {})
            for entry in table.values():
                if entry.dirty and not disjoint(entry.place, place):
                    self._write(entry)
            value = self.read_memory(place, at, place.axes)
            table[place.key] = Entry(place, at, value, False)
        return Tiled(value, place.axes)

    def read_operand(self, place: Place, at: Position, axes: Sequence[Axis]) -> Value:
        """A place as an operand of a contraction: along just these of its axes, ones too."""
        base = self.base(place.access.value)
        for entry in self.code.scope.entries.get(base, {}).values():
            if entry.dirty and not disjoint(entry.place, place):
                self._write(entry)
        return self.read_memory(place, at, tuple(axes), has_lanes=False)

    def store(self, place: Place, at: Position, value: Value) -> None:
        """Set the content of a place; memory learns of it later."""
        base = self.base(place.access.value)
        table = self.code.scope.entries.setdefault(base, {})
        for key, entry in list(table.items()):
            if key != place.key and not disjoint(entry.place, place):
                if entry.dirty:
                    self._write(entry)
                del table[key]
        table[place.key] = Entry(place, at.copy(), value, True)

    def take(self, place: Place, at: Position) -> Tiled:
        """The content of a place that is about to be overwritten."""
        value = self.read(place, at)
        base = self.base(place.access.value)
        self.code.scope.entries[base].pop(place.key, None)
        return value

    def flush(self, buffers: Iterable[Value] | None = None) -> None:
        """Carry out the delayed writes into these buffers, or all, of the current scope."""
        tables = self.code.scope.entries
        for base in list(tables) if buffers is None else buffers:
            for entry in tables.get(base, {}).values():
                if entry.dirty:
                    self._write(entry)

    def forget(self, buffers: Iterable[Value]) -> None:
        """Drop what is known of buffers that a loop has written."""
        for base in buffers:
            self.code.scope.entries.pop(base, None)

    # -- memory --------------------------------------------------------------------------------

    def read_memory(
        self, place: Place, at: Position, axes: tuple[Axis, ...], has_lanes: bool = True
    ) -> Value:
        code, element = self.code, place.access.element_type
        where = self.views.subscripts(place, at)
        if not axes:
            op = make(memref.Load, (where.memref, *where.indices), (element,))
            return self._marked(code.put(op), place).results[0]
        sizes = shape_of(axes) if has_lanes else tuple(a.size for a in axes)
        mask = self._mask(where.dims, axes)
        op = vector.TransferRead.of(
            where.memref,
            where.indices,
            self._padding(element),
            VectorType(sizes, element),
            where.map(axes, has_lanes),
            [axis.active is None for axis in axes]
            + [True] * (len(sizes) - len(axes)),
            mask,
        )  # fmt: skip
        code.put(op)
        self._widen(op, axes, element)
        return self._marked(op, place).results[0]

    def _marked(self, op: Operation, place: Place) -> Operation:
        self.code.depths[op.results[0]] = self.code.scope.depth
        ahead = self.prefetched.get(place.access)
        if ahead is not None:
            op.attributes["schedule.prefetch"] = IntegerAttr(ahead, i64)
        return op

    def _widen(self, op: Operation, axes: Sequence[Axis], element) -> None:
        """Note how many lanes the schedule asks for, where it is not what the machine has."""
        lane = next((a for a in axes if a.is_lane), None)
        if lane is None:
            return
        usual = max(1, self.natural // (8 * element.byte_width))
        if lane.lanes != usual and lane.size > min(lane.lanes, usual):
            op.attributes["schedule.lanes"] = IntegerAttr(lane.lanes, i64)

    def _padding(self, element) -> Value:
        key = ("poison", element)
        scope = self.code.entry
        if key not in scope.cache:
            scope.cache[key] = self.code.value(ub.Poison.create((), (element,)), scope)
        return scope.cache[key]

    def _mask(self, dims: Mapping[Axis, int], axes: Sequence[Axis]) -> Value | None:
        """The mask of a transfer, in the order of the memory's dimensions."""
        if all(axis.active is None for axis in axes):
            return None
        ordered = sorted(axes, key=lambda axis: dims[axis])
        return self.mask([a.size for a in ordered], [a.active for a in ordered])

    def mask(self, sizes: Sequence[int], active: Sequence[int | Value | None]) -> Value:
        """True where each coordinate is below the number of active ones."""
        code = self.code
        counts = [n if a is None else a for n, a in zip(sizes, active, strict=True)]
        key = ("mask", tuple(sizes), tuple(counts))
        known = [c for c in counts if isinstance(c, Value)]
        scope = code.at_depth(code.depth_of(*known)) if known else code.entry
        if key not in scope.cache:
            type = VectorType(tuple(sizes), i1)
            if known:
                op = vector.CreateMask.create([code.as_value(c) for c in counts], (type,))
            else:
                op = vector.ConstantMask(counts, result=type)  # type: ignore[call-arg]
            scope.cache[key] = code.value(op, scope)
        return scope.cache[key]

    def _write(self, entry: Entry) -> None:
        entry.dirty = False
        place, value, code = entry.place, entry.value, self.code
        where = self.views.subscripts(place, entry.at)
        axes = place.axes
        if not axes:
            code.put(make(memref.Store, (value, where.memref, *where.indices)))
            return
        if not any(axis.is_lane for axis in axes):
            value = self.without_lanes(value)
        op = vector.TransferWrite.of(
            value,
            where.memref,
            where.indices,
            where.map(axes, False),
            [axis.active is None for axis in axes],
            self._mask(where.dims, axes),
        )
        code.put(op)
        self._widen(op, axes, place.access.element_type)

    def without_lanes(self, value: Value) -> Value:
        """A vector without its last dimension, of one element; copies are not lanes."""
        type: VectorType = value.type  # type: ignore[assignment]
        op = vector.ShapeCast.create((value,), (VectorType(type.shape[:-1], type.element_type),))
        op.attributes["schedule.lanes"] = IntegerAttr(1, i64)
        return self.code.value(op)

    def with_lanes(self, value: Value) -> Value:
        """A vector of copies with a last dimension of one element."""
        type: VectorType = value.type  # type: ignore[assignment]
        op = vector.ShapeCast.create((value,), (VectorType((*type.shape, 1), type.element_type),))
        return self.code.value(op)

    # -- accesses that are not linear ----------------------------------------------------------

    def gather(self, access: Access, index: Tiled) -> Tiled:
        """The elements at flat indices of a buffer."""
        self.flush([self.base(access.value)])
        return self.gather_from(self.views.flat(access.value), index, access.element_type)

    def gather_from(self, view: Value, index: Tiled, element) -> Tiled:
        """The elements at these places of a buffer of one dimension."""
        code = self.code
        if index.is_scalar:
            return Tiled(code.value(make(memref.Load, (view, index.value), (element,))))
        type = VectorType(shape_of(index.axes), element)
        op = make(
            vector.Gather,
            (view, code.index(0), index.value, self._lane_mask(index.axes),
             code.splat_number(0, type)),
            (type,),
        )  # fmt: skip
        result = code.value(op)
        self._widen(op, index.axes, element)
        return Tiled(result, index.axes)

    def scatter(self, access: Access, index: Tiled, value: Value) -> None:
        """Set the elements at flat indices of a buffer."""
        code, base = self.code, self.base(access.value)
        self.flush([base])
        self.forget([base])
        view = self.views.flat(access.value)
        if index.is_scalar:
            code.put(make(memref.Store, (value, view, index.value)))
            return
        op = make(
            vector.Scatter,
            (view, code.index(0), index.value, self._lane_mask(index.axes), value),
        )
        code.put(op)
        self._widen(op, index.axes, access.element_type)

    def _lane_mask(self, axes: Sequence[Axis]) -> Value:
        sizes = shape_of(axes)
        active = [a.active for a in axes if not a.is_lane]
        return self.mask(sizes, [*active, next((a.active for a in axes if a.is_lane), None)])
