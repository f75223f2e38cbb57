"""Index values of a launched kernel in its first subgroup, as arrays over the threads.

Loops are in their first iteration, in which they carry what they begin with. Unknown extents and
other numbers of the host are taken to be one constant, a multiple of lines and vectors, since
distances between rows depend on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from ...dialects import arith, gpu, memref, scf
from ...dialects.index_lists import mix
from ...ir.core import BlockArgument, Operation, Value
from ...ir.lazy import np
from ...ir.rewriting import constant_int
from ...ir.traits import AllocatesMemory
from ...ir.types import MemRefType, row_major_strides
from ..model.extents import UNKNOWN_EXTENT


class NotKnownError(Exception):
    """A value that depends on data."""


class Numbers:
    """The values of a kernel that follow from the thread's id."""

    def __init__(
        self,
        arguments: Mapping[Value, Value],
        threads: Sequence[int],
        subgroup: int,
        together: int = 1,
    ) -> None:
        self._arguments = arguments
        self._subgroup = subgroup
        self._threads = threads
        self.group: Sequence[Any] = (0, 0, 0)
        self.thread = np.arange(min(max(subgroup, together), prod(threads)))
        self._known: dict[Value, Any] = {}

    def of(self, value: Value) -> Any:
        """A number for each thread, or one for all. Raises NotKnownError."""
        if value not in self._known:
            self._known[value] = self._make(value)
        return self._known[value]

    def _make(self, value: Value) -> Any:
        constant = constant_int(value)
        if constant is not None:
            return constant
        if value in self._arguments:
            return self.of(self._arguments[value])
        begins = _in_first_iteration(value)
        if begins is not None:
            return self.of(begins)
        op = value.defining_op
        made = _NUMBERS.get(type(op)) if op is not None else None
        if made is not None:
            return made(self, op)
        around = op if op is not None else value.owner.parent_op  # type: ignore[attr-defined]
        is_of_host = isinstance(around, Operation) and not (
            isinstance(around, gpu.GPUFuncOp) or around.parent_of(gpu.GPUFuncOp)
        )
        if not is_of_host:
            raise NotKnownError
        return UNKNOWN_EXTENT

    def along(self, op: Any) -> Any:
        """The thread's id along an axis."""
        return self.thread // prod(self._threads[: op.axis]) % self._threads[op.axis]

    def along_all(self, op: Any) -> Any:
        """The thread's id among all threads of all groups along an axis."""
        return self.group[op.axis] * self._threads[op.axis] + self.along(op)

    def extents(self, buffer: Value) -> list[int]:
        """The extents of a buffer."""
        type = self.whole(buffer).type
        return [UNKNOWN_EXTENT if extent is None else extent for extent in type.shape]  # type: ignore[attr-defined]

    def whole(self, buffer: Value) -> Value:
        """The host's buffer that an argument of the kernel stands for."""
        while buffer in self._arguments:
            buffer = self._arguments[buffer]
        return buffer

    def strides(self, view: Value) -> tuple[Any, list[Any]]:
        """(offset of a view in its buffer, strides), in elements."""
        view = self.whole(view)
        op = view.defining_op
        match op:
            case memref.SubView() if op.kept is not None:
                start, strides = self.strides(op.source)
                offsets = self._mixed(op.static_offsets, op.offsets)
                steps = self._mixed(op.static_strides, op.strides)
                for offset, stride in zip(offsets, strides, strict=True):
                    start = start + offset * stride
                return start, [strides[d] * steps[d] for d in op.kept]
            case memref.ReinterpretCast():
                (start,) = self._mixed(op.static_offsets, op.offsets)
                return start, self._mixed(op.static_strides, op.strides)
            case memref.View():
                size = getattr(op.result.type.element_type, "byte_width", 0)
                start = self.of(op.byte_shift)
                if not size or np.any(start % size):
                    raise NotKnownError
                return start // size, self._by_type(view)
            case memref.Cast() | memref.MemorySpaceCast():
                return self.strides(op.operands[0])
            case memref.ExpandShape() | memref.CollapseShape():
                start, _ = self.strides(op.operands[0])
                return start, self._by_type(view)
        if (
            op is not None
            and not op.has_trait(AllocatesMemory)
            and not isinstance(op, memref.GetGlobal)
        ):
            raise NotKnownError
        return 0, self._by_type(view)

    def _by_type(self, view: Value) -> list[int]:
        """The strides from a view's type."""
        type = view.type
        assert isinstance(type, MemRefType)
        if type.is_row_major:
            return row_major_strides(self.extents(view))
        strides, _ = type.strides_and_offset() or ((None,), None)
        if None in strides:
            raise NotKnownError
        return list(strides)  # type: ignore[arg-type]

    def _mixed(self, static: Any, values: Any) -> list[Any]:
        return [m if isinstance(m, int) else self.of(m) for m in mix(static, values)]


class FirstThreads(Numbers):
    """The values of a kernel in the first thread of each subgroup of the groups with `numbers`.

    Groups are numbered along x first, then y and z, in the order in which devices start them.
    """

    def __init__(
        self,
        arguments: Mapping[Value, Value],
        threads: Sequence[int],
        subgroup: int,
        grid: Sequence[int],
        numbers: Any,
    ) -> None:
        super().__init__(arguments, threads, subgroup)
        first = np.arange(0, prod(threads), self.thread.size)
        self.thread = np.tile(first, len(numbers))
        own, (x, y, _) = np.repeat(numbers, len(first)), grid
        self.group = (own % x, own // x % y, own // (x * y))


def _in_first_iteration(value: Value) -> Value | None:
    """What a counter or a value that a loop carries is in its first iteration; else None."""
    if not isinstance(value, BlockArgument):
        return None
    loop = value.owner.parent_op
    match loop:
        case scf.For():
            return loop.lower if value.index == 0 else loop.inits[value.index - 1]
        case scf.Parallel():
            return loop.lower[value.index]
    return None


def _binary(function: Callable[[Any, Any], Any]) -> Any:
    return lambda n, op: function(n.of(op.operands[0]), n.of(op.operands[1]))


def _compared(numbers: Numbers, op: arith.CmpI) -> Any:
    relations = {
        "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
        "gt": np.greater, "ge": np.greater_equal,
    }  # fmt: skip
    return relations[op.predicate[-2:]](numbers.of(op.lhs), numbers.of(op.rhs))


def _extent(numbers: Numbers, op: memref.Dim) -> int:
    dim = constant_int(op.operands[1])
    if dim is None:
        raise NotKnownError
    return numbers.extents(op.operands[0])[dim]


_NUMBERS: dict[type[Operation], Callable[[Numbers, Any], Any]] = {
    arith.AddI: _binary(np.add),
    arith.SubI: _binary(np.subtract),
    arith.MulI: _binary(np.multiply),
    arith.DivUI: _binary(np.floor_divide),
    arith.DivSI: _binary(np.floor_divide),
    arith.FloorDivSI: _binary(np.floor_divide),
    arith.CeilDivUI: _binary(lambda a, b: -(-a // b)),
    arith.CeilDivSI: _binary(lambda a, b: -(-a // b)),
    arith.RemUI: _binary(np.mod),
    arith.RemSI: _binary(np.mod),
    arith.MinSI: _binary(np.minimum),
    arith.MaxSI: _binary(np.maximum),
    arith.MinUI: _binary(np.minimum),
    arith.MaxUI: _binary(np.maximum),
    arith.AndI: _binary(np.bitwise_and),
    arith.OrI: _binary(np.bitwise_or),
    arith.XOrI: _binary(np.bitwise_xor),
    arith.ShLI: _binary(np.left_shift),
    arith.ShRUI: _binary(np.right_shift),
    arith.IndexCast: lambda n, op: n.of(op.operands[0]),
    arith.IndexCastUI: lambda n, op: n.of(op.operands[0]),
    arith.Select: lambda n, op: np.where(*(n.of(v) for v in op.operands)),
    arith.CmpI: _compared,
    memref.Dim: _extent,
    gpu.ThreadId: Numbers.along,
    gpu.GlobalId: Numbers.along_all,
    gpu.BlockId: lambda n, op: n.group[op.axis],
    gpu.GridDim: lambda n, op: UNKNOWN_EXTENT,
    gpu.BlockDim: lambda n, op: n._threads[op.axis],
    gpu.LaneId: lambda n, op: n.thread % n._subgroup,
    gpu.SubgroupId: lambda n, op: n.thread // n._subgroup,
    gpu.SubgroupSize: lambda n, op: n._subgroup,
}
