"""Where each loop nest of a kernel is inserted: at its last stage, if no other use is passed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...dialects import linalg, memref
from ...dialects.memref import base_buffer
from ...ir.core import Block, Operation
from ...ir.traits import is_pure
from .legality import illegal
from .nest import Node
from .stages import Stage


def place_nests(block: Block, nests: Sequence[Node | Stage]) -> list[Operation]:
    """The operation before which each nest is inserted: that of its last stage, in nest order.

    Raises IllegalScheduleError if a stage would move past another use of its buffers.
    """
    position = {op: i for i, op in enumerate(block)}
    ops = list(position)
    anchors: list[Operation] = []
    least = 0
    for root in nests:
        least = max(least, *(position.get(s.op, 0) for s in _stages(root)))
        anchors.append(ops[least])
    for stage, op in _passed(block, nests, anchors):
        if not isinstance(op, memref.Dealloc):
            text = f"schedule: cannot carry the stage past '{op.name}', which uses its buffers"
            raise illegal(stage.op, text)
    return anchors


def move_deallocations(
    block: Block, nests: Sequence[Node | Stage], anchors: Sequence[Operation]
) -> None:
    """Move deallocations of buffers after the loops that still use them."""
    last = {s: end for root, end in zip(nests, anchors, strict=True) for s in _stages(root)}
    for stage, op in list(_passed(block, nests, anchors)):
        if block.comes_before(op, last[stage]):
            op.move_after(last[stage])


def _passed(
    block: Block, nests: Sequence[Node | Stage], anchors: Sequence[Operation]
) -> Iterator[tuple[Stage, Operation]]:
    """(stage, operation) where the stage moves past an operation that uses one of its buffers."""
    position = {op: i for i, op in enumerate(block)}
    ops = list(position)
    for root, anchor in zip(nests, anchors, strict=True):
        for stage in _stages(root):
            if stage.op not in position:  # a copy that is put before its reader later
                continue
            mine = {base_buffer(a.value) for a in stage.accesses if not a.is_scalar}
            for op in ops[position[stage.op] + 1 : position[anchor]]:
                if _is_other_use(op) and any(
                    base_buffer(v) in mine for inner in op.walk() for v in inner.operands
                ):
                    yield stage, op


def _is_other_use(op: Operation) -> bool:
    """Whether an operation has effects and is not a stage."""
    return not (isinstance(op, linalg.StructuredOp | memref.Alloc | memref.Alloca) or is_pure(op))


def _stages(root: Node | Stage) -> list[Stage]:
    return [root] if isinstance(root, Stage) else list(root.stages())
