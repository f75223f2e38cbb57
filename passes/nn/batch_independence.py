"""Which ops treat the images of a batch one by one.

A value is *batched* if its first dimension is the batch's, or a multiple of it: then a part of
the batch is a run of its rows. An op is independent if rows of its result depend on the same
rows of its batched operands and on nothing else of them.
"""

from __future__ import annotations

from ...dialects import nn
from ...dialects.nn.traits import Fusion
from ...ir.core import Value
from .building import has_static_shapes


def rows_of(op: nn.NnOp, batched: set[Value], batch: int) -> frozenset[int] | None:
    """The numbers of the operands to split along the batch, or None if the op mixes images.

    They are the batched operands, and others with as many rows, such as a batch of constants.
    """
    if not has_static_shapes(op):
        return None
    if any(r.type.rank == 0 or r.type.shape[0] % batch for r in op.results):  # type: ignore[attr-defined]
        return None
    by_parts = op.operands_by_parts()
    taken = {i for i, v in enumerate(op.operands) if v in batched}
    if by_parts is None or not taken <= by_parts:
        return None
    rows = op.results[0].type.shape[0]  # type: ignore[attr-defined]
    sizes = {op.operands[i].type.shape[0] for i in by_parts}  # type: ignore[attr-defined]
    if op.fusion is Fusion.VIEW:
        fits = all(s % batch == 0 for s in sizes)
    else:
        fits = sizes == {rows}
    return frozenset(by_parts) if fits else None
