"""The lowering of one function: which LLVM values represent each value of the loop level.

Each op of the loop level has a function in `LOWERINGS`, which emits llvm ops at the insertion point
and binds the op's results to them. One walk over a function lowers it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dialects import llvm
from ...ir.attributes import IntegerAttr
from ...ir.core import Block, Operation, Value
from ...ir.diagnostics import NncError, PassError
from ...ir.types import FloatType, IndexType, MemRefType, Type, VectorType, lane_type
from .emitter import Emitter, Linear
from .tile_registers import TileAllocation
from .types import MemRef, dynamic_parts, memref_layout

Lowering = Callable[["FunctionLowering", Any], None]

LOWERINGS: dict[type[Operation], Lowering] = {}
"""For each op class, the function that emits its llvm ops."""


def lowers(*classes: type[Operation]) -> Callable[[Lowering], Lowering]:
    """A decorator: the function lowers ops of these classes."""

    def register(function: Lowering) -> Lowering:
        for cls in classes:
            LOWERINGS[cls] = function
        return function

    return register


class FunctionLowering(Emitter):
    """Lowers one function; see the module's text."""

    def __init__(self, module: Any, func: llvm.Func) -> None:
        super().__init__(func, module.types)
        self.module = module
        self.values: dict[Value, Any] = {}
        self.blocks: dict[Block, Block] = {}
        self.call_heap: Value | None = None
        """The address of the call's heap, in a function that uses it; see `heap.py`."""
        self.tiles: TileAllocation | None = None
        """The register of each tile, in a function that has tiles; see `matrices.py`."""
        self.heap: list[Value] = []
        """The buffers of C's heap that a check failing at this point has to free."""
        self.cleanups: dict[tuple[Value, ...], Block] = {}
        """For a list of such buffers, the block that frees them and returns."""

    # -- values ----------------------------------------------------------------------------

    def bind(self, old: Value, new: Any) -> None:
        """Let `new` represent a value of the loop level."""
        self.values[old] = new
        if isinstance(new, Value) and isinstance(old.type, IndexType):
            self.depths[new] = len(self.scopes) - 1

    def value(self, old: Value) -> Value:
        """The LLVM value that represents a scalar or a vector of rank 0 or 1."""
        new = self.values[old]
        if new.__class__ is Linear:
            return self.materialize(new)
        return new

    def rows(self, old: Value) -> list[Value]:
        """The rows of a vector, of any rank."""
        new = self.values[old]
        return new if isinstance(new, list) else [self.value(old)]

    def memref(self, old: Value) -> MemRef:
        """The parts of a memref."""
        return self.values[old]

    def linear(self, old: Value) -> Linear:
        """An index as a `Linear` sum."""
        new = self.values[old]
        return new if new.__class__ is Linear else Linear(((new, 1),), 0)

    def known_integer(self, old: Value) -> int | None:
        """The number, if an integer is constant; else None."""
        new = self.values[old]
        if new.__class__ is Linear:
            return new.constant if not new.terms else None
        op = new.defining_op if isinstance(new, Value) else None
        if isinstance(op, llvm.Constant):
            attribute = op.properties["value"]
            return attribute.value if isinstance(attribute, IntegerAttr) else None
        return None

    def flat(self, old: Value) -> list[Value]:
        """All LLVM values that represent a value, in the order in which calls and branches pass
        them.
        """
        type = old.type
        if isinstance(type, MemRefType):
            return self.flat_memref(self.values[old], type)
        new = self.values[old]
        if isinstance(new, list):
            return new
        return [self.value(old)]

    def flat_memref(self, memref: MemRef, type: MemRefType) -> list[Value]:
        """The pointer of a memref, and its dynamic sizes and strides."""
        values = [memref.pointer]
        for part, i in dynamic_parts(type):
            values.append(self.size_value((memref.sizes if part == "size" else memref.strides)[i]))
        return values

    def bind_flat(self, old: Value, values: Sequence[Value]) -> int:
        """Let the first of `values`, as many as the type needs, represent a value; gives their
        number.
        """
        type = old.type
        count = len(self.types.flat(type))
        taken = list(values[:count])
        depth = len(self.scopes) - 1
        if isinstance(type, MemRefType):
            for value in taken:
                self.depths[value] = depth
            self.bind(old, self.memref_from(type, taken))
        elif not count or (isinstance(type, VectorType) and len(type.shape) > 1):
            self.bind(old, taken)
        else:
            self.bind(old, taken[0])
        return count

    def memref_from(self, type: MemRefType, values: Sequence[Value]) -> MemRef:
        """A memref from its pointer and its dynamic sizes and strides."""
        carried = dict(zip(dynamic_parts(type), values[1:], strict=True))
        self.non_negative.update(v for (part, _), v in carried.items() if part == "size")
        sizes = tuple(
            carried[("size", i)] if extent is None else extent
            for i, extent in enumerate(type.shape)
        )
        strides = self.contiguous_strides(sizes)
        if type.layout is not None:
            static, _ = memref_layout(type)
            strides = tuple(
                carried[("stride", i)] if stride is None else stride
                for i, stride in enumerate(static)
            )
        return MemRef(values[0], sizes, strides)

    # -- ops -----------------------------------------------------------------------------------

    def lower_block(self, block: Block) -> None:
        """Lower the ops of a block, without its terminator, at the insertion point."""
        table = LOWERINGS
        last = block.terminator
        for op in block:
            if op is last:
                return
            self.lower_op(op, table)

    def lower_op(self, op: Operation, table: dict[type[Operation], Lowering] = LOWERINGS) -> None:
        """Lower one op. Raises PassError for one without a lowering."""
        self.loc = op.loc
        lowering = table.get(op.__class__)
        if lowering is None:
            before = "; run --lower-tiles before" if op.name.startswith("vector.") else ""
            raise PassError(f"'{op.name}' has no lowering to the llvm dialect{before}", op.loc)
        try:
            lowering(self, op)
        except NncError as error:
            if error.location is None:
                raise PassError(f"'{op.name}' op {error.message}", op.loc) from None
            raise


def is_float(type: Type) -> bool:
    """Whether the scalar or the vector's elements are floats."""
    return isinstance(lane_type(type), FloatType)
