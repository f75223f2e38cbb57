"""Integer tensors that are computed from extents, turned into index arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import memref
from ...dialects.nn.known_values import is_short
from ...dialects.nn.symbolic_shapes import SymbolicShapes
from ...ir.core import Block, Operation, Value
from ...ir.polynomial import Poly
from ...ir.polynomial import Size as SymbolicSize
from ...ir.types import i1
from .emitter import Emitter


class ExtentIntegers:
    """The small integer tensors of a kernel that are computed from extents of its operands.

    Where an op reads an element at a constant index, it gets the result of arithmetic on
    `memref.dim`, so no memory is read. The elements are also stored, for ops that read the whole
    tensor.
    """

    def __init__(self, e: Emitter, old: Block, new: Block, names: Sequence[Sequence[str]]) -> None:
        self.e = e
        self.shapes = SymbolicShapes(old, names)
        self.extents = {
            symbol: (new.args[arg.index], axis)
            for symbol, (arg, axis) in self.shapes.sources(old.args).items()
        }
        self.stored: list[Value] = []

    def computes(self, op: Operation) -> bool:
        """Lower an op whose result's elements follow from extents; False, with nothing done, for
        others.
        """
        if len(op.results) != 1:
            return False
        (tensor,), e = op.results, self.e
        if not is_short(tensor.type) or tensor in e.placed:
            return False
        sizes = self.shapes.elements(tensor)
        if not sizes or tensor.type.element_type is i1:
            return False
        if not all(map(self._is_computable, sizes)):
            return False
        known = [s for size in sizes if isinstance(size, Poly) for s in size.symbols]
        extents = {s: e.size(*self.extents[s]) for s in known}
        buffer = e.alloc(tensor.type.shape, tensor.type.element_type)
        contents = [e.evaluated(size, extents) for size in sizes]  # type: ignore[arg-type]
        element = buffer.type.element_type
        for i, size in enumerate(contents):
            value = (
                e.constant(size, element) if isinstance(size, int) else e.from_index(size, element)
            )
            e.store(value, buffer, [i] if buffer.type.rank else [])
        e.buffers[tensor], e.contents[buffer] = buffer, contents
        self.stored.append(buffer)
        return True

    def _is_computable(self, size: SymbolicSize | None) -> bool:
        if not isinstance(size, Poly):
            return size is not None
        return all(symbol in self.extents for symbol in size.symbols)

    def erase_unread(self) -> None:
        """Erase the buffers of such tensors that are stored to but never read."""
        for buffer in self.stored:
            stores = list(buffer.users)
            if not all(isinstance(user, memref.Store) for user in stores):
                continue
            for store in stores:
                store.erase()
            self.e.owned.remove(buffer)
            assert buffer.defining_op is not None
            buffer.defining_op.erase()
