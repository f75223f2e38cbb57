"""Tiles in memory and in registers: reads and writes, whole or masked, of any places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....dialects import memref, ub, vector
from ....ir.attributes import IntegerAttr
from ....ir.core import Operation, Value
from ....ir.types import VectorType, i1, i64
from ...model.plan import Ahead, sure_iterations
from ...model.stages import Access
from ..code import Code, make
from ..contents import Contents, Entry
from .axes import Axis, Tiled, shape_of
from .places import Coordinates, Place
from .views import Views


class Memory(Contents):
    """Reads and writes of tiles through the scopes' tables of known contents."""

    def __init__(
        self,
        code: Code,
        coordinates: Coordinates,
        views: Views,
        prefetched: Mapping[Access, Ahead],
        natural: int,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.coordinates = coordinates
        self.views = views
        self.prefetched = prefetched
        self.natural = natural
        """Bits of the machine's vectors."""
        self.grouped = False
        """Whether a vector belongs to the threads of a group."""

    # -- through the tables --------------------------------------------------------------------

    def read(self, place: Place) -> Tiled:
        """The content of a place, along the axes that it depends on."""
        entry = self.find(place)
        if entry is not None:
            return Tiled(self._reordered(entry, place), place.axes)
        (value,) = self.load([place], lambda group: [self.read_memory(place, place.axes)])
        return Tiled(value, place.axes)

    def _reordered(self, entry: Entry, place: Place) -> Value:
        """A known value of memory with its axes in the order of `place`."""
        held, wanted = entry.place.steps(), place.steps()
        if held == wanted:
            return entry.value
        order = [held.index(step) for step in wanted]
        rank = entry.value.type.rank  # type: ignore[attr-defined]
        order += range(len(order), rank)
        return self.code.value(vector.Transpose(entry.value, order))

    def read_operand(self, place: Place, axes: Sequence[Axis]) -> Value:
        """Load a place as an operand of a contraction, along these axes, those of size 1 too."""
        self.settle([place])
        return self.read_memory(place, tuple(axes), has_lanes=False)

    def take(self, place: Place) -> Tiled:
        """The content of a place that is about to be overwritten."""
        value = self.read(place)
        self.table(place.alias).pop(place.key, None)
        return value

    # -- memory --------------------------------------------------------------------------------

    def read_memory(self, place: Place, axes: tuple[Axis, ...], has_lanes: bool = True) -> Value:
        """Load the content of a place along these axes, even where the tables know it."""
        code, element = self.code, place.access.element_type
        where = self.views.subscripts(place)
        if not axes:
            op = make(memref.Load, (where.memref, *where.indices), (element,))
            return self._marked(code.put(op), place).results[0]
        sizes = shape_of(axes) if has_lanes else tuple(a.size for a in axes)
        mask = self._mask(where.dims, axes)
        op = vector.TransferRead.of(
            where.memref,
            where.indices,
            self.padding(element),
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
        if ahead is not None and ahead.over:
            self._ask(place, ahead)
        elif ahead is not None:
            op.attributes["schedule.prefetch"] = IntegerAttr(ahead.elements, i64)
        return op

    def _ask(self, place: Place, ahead: Ahead) -> None:
        """Prefetch this iteration's part of what is read after the loops of `ahead.over`."""
        code, access = self.code, place.access
        total: Value | int = code.size(access.constant)
        for loop, factor in self.coordinates.parts_ahead(access, ahead):
            at = place.at.values.get(loop, place.at.offsets.get(loop, 0))
            if loop in ahead.over and (ahead.passes or not isinstance(loop.extent, int)):
                last = (ahead.passes or sure_iterations(loop)) - 1
                at = code.minimum(at, last * loop.step)  # once all is asked for, for the last part
            total = code.add(code.multiply(at, factor), total)
        index = code.as_value(code.add(total, ahead.elements))
        code.prefetch(self.views.flat(access.value), [index])

    def _widen(self, op: Operation, axes: Sequence[Axis], element) -> None:
        """Attach the schedule's number of lanes to an operation, if the machine's differs."""
        lane = next((a for a in axes if a.is_lane), None)
        if lane is None:
            return
        usual = max(1, self.natural // (8 * element.byte_width))
        if lane.lanes != usual and lane.size > min(lane.lanes, usual):
            op.attributes["schedule.lanes"] = IntegerAttr(lane.lanes, i64)

    def padding(self, element) -> Value:
        """The value of elements that a masked read leaves out."""
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
        """A mask: true where each coordinate is below the active number of its dimension."""
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

    def write(self, entry: Entry) -> None:
        entry.dirty = False
        place, value, code = entry.place, entry.value, self.code
        where = self.views.subscripts(place)
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
        self.flush([self.coordinates.base(access.value)])
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
        code, base = self.code, self.coordinates.base(access.value)
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
