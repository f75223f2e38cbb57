"""Which ops treat the images of a batch independently.

A value is *batched* if its first dimension is the batch, or a multiple of it, so that a part of the
batch is a run of its rows. An op is independent if a part of its result needs only the same part of
its batched operands.
"""

from __future__ import annotations

from ...dialects import nn
from ...dialects.nn.traits import Fusion
from ...ir.core import Value
from .building import has_static_shapes


def rows_of(op: nn.NnOp, batched: set[Value], batch: int) -> frozenset[int] | None:
    """The indices of the operands to split along the batch; None if the op mixes images.

    These are the batched operands, and others with as many rows, such as a constant for each image.
    """
    if not has_static_shapes(op):
        return None
    if any(r.type.rank == 0 or r.type.shape[0] % batch for r in op.results):
        return None
    by_parts = op.operands_by_parts()
    taken = {i for i, v in enumerate(op.operands) if v in batched}
    if by_parts is None or not taken <= by_parts:
        return None
    rows = op.results[0].type.shape[0]
    sizes = {op.operands[i].type.shape[0] for i in by_parts}
    if op.fusion is Fusion.VIEW:
        fits = all(s % batch == 0 for s in sizes)
    else:
        fits = sizes == {rows}
    return frozenset(by_parts) if fits else None
