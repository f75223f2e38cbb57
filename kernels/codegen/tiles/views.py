"""Subscripts of a tile in a buffer, or in a view whose dimensions are the stage's loops.

Where each axis of a tile walks along a dimension of the buffer, the buffer is subscripted as
it is. Elsewhere (loops that were collapsed, strides, windows of which two loops make one
subscript) a view has a dimension for each loop, with that loop's stride.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import memref
from ....ir.affine import AffineConstant, AffineDim, AffineExpr, AffineMap
from ....ir.core import Value
from ....ir.polynomial import Size
from ...model.plan import Loop
from ...model.stages import Access
from ..code import Code
from .axes import Axis
from .places import Coordinates, Place


@dataclass(frozen=True)
class Subscripted:
    """A memref, subscripts of the first element, and which dimension each axis walks along."""

    memref: Value
    indices: list[Value]
    dims: dict[Axis, int]

    def map(self, axes: Sequence[Axis], has_lanes: bool) -> AffineMap:
        """The permutation map of a transfer: the memref's dimension for each of the vector's.

        With `has_lanes`, a constant 0 is added for the lanes if no axis has them: a broadcast.
        """
        rank = len(self.indices)
        results: list[AffineExpr] = [AffineDim(self.dims[axis]) for axis in axes]
        if has_lanes and not any(axis.is_lane for axis in axes):
            results.append(AffineConstant(0))
        return AffineMap(rank, 0, tuple(results))


class Views:
    """Writes the subscripts of tiles, and the views of buffers that some of them need."""

    def __init__(self, code: Code, coordinates: Coordinates) -> None:
        self.code = code
        self.coordinates = coordinates
        self.replaced: dict[Value, Value] = {}
        """Smaller buffers that stand for others."""

    def subscripts(self, place: Place) -> Subscripted:
        """The memref and subscripts of a place."""
        plain = self._plain(place)
        return plain if plain is not None else self._by_loops(place)

    # -- the buffer as it is -----------------------------------------------------------------

    def _plain(self, place: Place) -> Subscripted | None:
        access, code = place.access, self.code
        rank, stage = access.stage.rank, access.stage
        dims: dict[Axis, int] = {}
        indices: list[Value] = []
        for position, expr in enumerate(access.exprs):
            linear = expr.linear(rank)
            if linear is None:
                return None
            total: Value | int = linear[1]
            if position == 0:
                total = code.add(total, self.coordinates.slots.get(access, 0))
            for dim, factor in enumerate(linear[0]):
                if not factor:
                    continue
                if not self.coordinates.own_loops(dim, stage):
                    return None
                along = [a for a in place.axes if a.root.dims == (dim,)]
                if len(along) > 1 or (along and (factor != 1 or along[0].step != 1)):
                    return None
                if along and (position in dims.values() or along[0] in dims):
                    return None
                dims.update((axis, position) for axis in along)
                values, constant = self.coordinates.parts((dim,), access, place.at, place.axes)
                for value in values:
                    total = code.add(code.multiply(value, factor), total)
                total = code.add(total, constant * factor)
            indices.append(total)  # type: ignore[arg-type]
        if len(dims) != len(place.axes):
            return None
        buffer = self.replaced.get(access.value, access.value)
        return Subscripted(buffer, [code.as_value(i) for i in indices], dims)

    # -- a view of the loops -------------------------------------------------------------------

    def _by_loops(self, place: Place) -> Subscripted:
        access, code = place.access, self.code
        stage, coefficients = access.stage, access.coefficients
        assert coefficients is not None
        dropped = self.coordinates.dropped.get(access, frozenset())
        sizes: list[Size] = []
        strides: list[Size] = []
        indices: list[Value] = []
        dims: dict[Axis, int] = {}
        for root in self.coordinates.plan.roots[stage]:
            stride = coefficients[root.dims[-1]]
            left = self._extent(root, dropped, stage)
            along = sorted((a for a in place.axes if a.root is root), key=lambda a: -a.step)
            if stride == 0 or (left == 1 and not along):
                continue
            values, constant = self.coordinates.parts(root.dims, access, place.at, place.axes)
            total: Value | int = constant
            for value in values:
                total = code.add(value, total)
            apart = [a for a in along if a.step != 1 or (a.size == 1 and len(along) > 1)]
            for axis in apart:
                dims[axis] = len(sizes)
                sizes.append(axis.size)
                strides.append(stride * axis.step)
                indices.append(code.index(0))
            dims.update((axis, len(sizes)) for axis in along if axis not in apart)
            if len(apart) < len(along) or not along or total != 0:
                sizes.append(left)
                strides.append(stride)
                indices.append(code.as_value(total))
        if access in self.coordinates.slots:
            sizes.append(self._slots(access))
            strides.append(access.strides[0])
            indices.append(code.as_value(self.coordinates.slots[access]))
        view = self._view(access, access.constant, sizes, strides)
        return Subscripted(view, indices, dims)

    @staticmethod
    def _slots(access: Access) -> Size:
        """How many slots the buffer of an access has."""
        return access.stage.symbols.of(access.value, 0)

    def _extent(self, root: Loop, dropped: frozenset[Loop], stage) -> Size:
        gone = [
            l.step for l in self.coordinates.plan.order[stage] if l.root is root and l in dropped
        ]
        return min(gone) if gone else root.extent

    def _view(
        self, access: Access, constant: Size, sizes: list[Size], strides: list[Size]
    ) -> Value:
        """The buffer with these sizes and strides, made where the buffer or the nest begins."""
        code = self.code
        buffer = self.replaced.get(access.value, access.value)
        key = ("view", buffer, constant, tuple(sizes), tuple(strides))
        scope = code.at_buffer(buffer)
        if key not in scope.cache:
            offset = code.add(code.offset(buffer), code.size(constant))
            values = [code.size(s) for s in sizes], [code.size(s) for s in strides]
            op = memref.ReinterpretCast.of(buffer, offset, *values)
            scope.cache[key] = code.value(op, scope)
        return scope.cache[key]

    def flat(self, buffer: Value) -> Value:
        """The buffer as one dimension, starting at its first element."""
        return self.code.flat(self.replaced.get(buffer, buffer))
