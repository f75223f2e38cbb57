"""Allocating the buffers that were shrunk: once for a nest, or in each parallel iteration."""

from __future__ import annotations

from ....dialects import memref
from ....ir.core import Operation, Value
from ....ir.types import MemRefType
from ...model.nest import Node
from ..buffers import Shrunk
from ..code import Code, Scope, make
from .places import Coordinates
from .views import Views


class Temporaries:
    """Allocates smaller buffers in place of those that `buffers.py` has chosen."""

    def __init__(self, code: Code, coordinates: Coordinates, views: Views) -> None:
        self.code = code
        self.coordinates = coordinates
        self.views = views
        self._inside: dict[Node, list[Shrunk]] = {}

    def use(self, shrunk: Shrunk) -> None:
        """Replace a buffer by a smaller one, allocated now or in each parallel iteration."""
        shrunk.apply()
        self.coordinates.dropped.update(shrunk.dropped)
        if shrunk.inside is not None:
            self._inside.setdefault(shrunk.inside, []).append(shrunk)
            return
        old = shrunk.buffer.defining_op
        assert old is not None and old.parent is not None
        self.code.scope = Scope(old.parent, self.code.entry, old)
        new = self._allocate(memref.Alloc, shrunk)
        for user in shrunk.buffer.users:
            if isinstance(user, memref.Dealloc) and user.parent is not None:
                user.parent.insert_before(make(memref.Dealloc, [new]), user)
        self.code.scope = self.code.entry

    def enter(self, node: Node) -> list[Value]:
        """Make the buffers of one iteration. Returns those that must be freed at its end."""
        heap = []
        for shrunk in self._inside.get(node, ()):
            if shrunk.on_stack:
                self._allocate(memref.Alloca, shrunk)
            else:
                heap.append(self._allocate(memref.Alloc, shrunk))
        return heap

    def leave(self, heap: list[Value]) -> None:
        """Free what `enter` made on the heap."""
        for buffer in heap:
            self.code.put(make(memref.Dealloc, [buffer]))

    def _allocate(self, op_class: type[Operation], shrunk: Shrunk) -> Value:
        extents = [self.code.size(extent) for extent in shrunk.extents]
        sizes = [extent for extent in extents if not isinstance(extent, int)]
        shape = tuple(extent if isinstance(extent, int) else None for extent in extents)
        type = MemRefType(shape, shrunk.element_type)
        new = self.code.value(op_class(sizes, [], memref=type))  # type: ignore[call-arg]
        self.views.replaced[shrunk.buffer] = new
        return new
