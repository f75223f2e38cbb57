"""Barriers where a thread reads or overwrites what another wrote or read."""

from __future__ import annotations

from dataclasses import dataclass, field

from ....dialects import gpu, memref, scf
from ....ir.core import Block, Operation, Region
from ....ir.traits import ReadsMemory, WritesMemory
from ....ir.types import MemRefType
from ...model.uniform import is_uniform
from .slots import Spot, spot

LATER_PIECE = "nn.later_piece"
"""Until barriers are placed, marks the writes of a vector's pieces other than the first."""


@dataclass
class _Pending:
    """The buffers that were read and written since the last barrier."""

    reads: set[Spot] = field(default_factory=set)
    writes: set[Spot] = field(default_factory=set)

    def clash(self, op: Operation) -> bool:
        """Whether an operation needs a barrier before it."""
        reads, writes = touched(op)
        return _meet(reads, self.writes) or _meet(writes, self.reads | self.writes)

    def note(self, op: Operation) -> None:
        """Add what an operation reads and writes."""
        reads, writes = touched(op)
        self.reads |= reads
        self.writes |= writes

    def clear(self) -> None:
        """Forget everything: there is a barrier."""
        self.reads.clear()
        self.writes.clear()

    def join(self, other: _Pending) -> None:
        """Add what another branch has read and written."""
        self.reads |= other.reads
        self.writes |= other.writes

    def start_over(self, loop: Operation) -> None:
        """Continue with a loop's next iteration, in which the indices of slots may differ."""
        self.reads = {one.later(loop) for one in self.reads}
        self.writes = {one.later(loop) for one in self.writes}

    def copy(self) -> _Pending:
        """A copy with sets of its own."""
        return _Pending(set(self.reads), set(self.writes))


def place_barriers(kernel: gpu.GPUFuncOp) -> int:
    """Insert the barriers that a kernel needs. Returns how many were inserted."""
    before = sum(isinstance(op, gpu.Barrier) for op in kernel.walk())
    _block(kernel.body.blocks[0], _Pending())
    for op in kernel.walk():
        op.attributes.pop(LATER_PIECE, None)
    return sum(isinstance(op, gpu.Barrier) for op in kernel.walk()) - before


def _block(block: Block, pending: _Pending) -> None:
    for op in list(block):
        match op:
            case gpu.Barrier():
                pending.clear()
            case _ if LATER_PIECE in op.attributes:  # The first one has waited for all of them.
                pending.note(op)
            case scf.If() if not is_uniform(op.condition):  # Not all threads may enter it.
                _wait(op, pending)
            case scf.If():
                _branches(op, pending)
            case scf.For() | scf.While():
                _loop(op, pending)
            case _:
                _wait(op, pending)


def _branches(op: scf.If, pending: _Pending) -> None:
    """Insert the barriers of an `scf.if` that all threads enter."""
    if pending.clash(op):  # Outside, so that every way passes as many barriers.
        _barrier(op, pending)
    ways = [pending.copy() for _ in op.regions]
    for region, way in zip(op.regions, ways, strict=True):
        _region(region, way)
    pending.clear()
    for way in ways:
        pending.join(way)


def _loop(op: scf.For | scf.While, pending: _Pending) -> None:
    """Insert the barriers of a loop."""
    if pending.clash(op) and not _clashes_inside(op):
        _barrier(op, pending)  # Once, not in each iteration.
    # The second time, what an iteration leaves to the next one is known.
    start = pending.copy()
    for _ in range(2):
        for region in op.regions:
            _region(region, pending)
        pending.start_over(op)
    pending.join(start)


def _region(region: Region, pending: _Pending) -> None:
    for block in region.blocks:
        _block(block, pending)


def _clashes_inside(op: Operation) -> bool:
    """Whether an operation needs barriers within itself."""
    reads, writes = touched(op)
    return _meet(reads | writes, writes)


def _wait(op: Operation, pending: _Pending) -> None:
    if pending.clash(op):
        _barrier(op, pending)
    pending.note(op)


def _barrier(op: Operation, pending: _Pending) -> None:
    assert op.parent is not None
    op.parent.insert_before(gpu.Barrier(loc=op.loc), op)
    pending.clear()


def _meet(some: set[Spot], others: set[Spot]) -> bool:
    return any(one.meets(other) for one in some for other in others)


def touched(op: Operation) -> tuple[set[Spot], set[Spot]]:
    """The buffers that an operation reads, and those that it writes."""
    reads: set[Spot] = set()
    writes: set[Spot] = set()
    for inner in op.walk():
        buffers = {spot(inner, v) for v in inner.operands if isinstance(v.type, MemRefType)}
        if inner.has_trait(ReadsMemory):
            reads |= buffers
        elif inner.has_trait(WritesMemory):
            writes |= buffers
            if isinstance(inner, memref.Copy):
                reads |= buffers
    return reads, writes
