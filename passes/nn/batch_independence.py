"""Which ops treat the images of a batch one by one.

A value is *batched* if its first dimension is the batch's, or a multiple of it: then a part of
the batch is a run of its rows. An op is independent if rows of its result depend on the same
rows of its batched operands and on nothing else of them.
"""

from __future__ import annotations

from ...dialects import nn
from ...ir.affine import AffineDim
from ...ir.core import Value
from ...ir.types import TensorType

IMAGES_FIRST = (
    *(nn.Conv, nn.ConvTranspose, nn.pooling.PoolingOp, nn.Resize),
    *(nn.BatchNorm, nn.InstanceNorm, nn.GroupNorm, nn.Lrn, nn.DepthToSpace, nn.SpaceToDepth),
)
"""Ops whose first operand and results have images as first dimension; the other operands are
parameters."""


def rows_of(op: nn.NnOp, batched: set[Value], batch: int) -> frozenset[int] | None:
    """The numbers of the operands that go by parts, or None where the op mixes images.

    They are the batched ones, and others with as many rows, such as a whole batch of constants.
    """
    if not all(_is_static(v) for v in (*op.operands, *op.results)):
        return None
    if any(r.type.rank == 0 or r.type.shape[0] % batch for r in op.results):  # type: ignore[attr-defined]
        return None
    by_parts = _operands(op, batched)
    taken = {i for i, v in enumerate(op.operands) if v in batched}
    if by_parts is None or not taken <= by_parts:
        return None
    rows = op.results[0].type.shape[0]  # type: ignore[attr-defined]
    sizes = {op.operands[i].type.shape[0] for i in by_parts}  # type: ignore[attr-defined]
    if isinstance(op, nn.Reshape):
        fits = all(s % batch == 0 for s in sizes)
    else:
        fits = sizes == {rows}
    return frozenset(by_parts) if fits else None


def _is_static(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.type.has_static_shape


def _operands(op: nn.NnOp, batched: set[Value]) -> set[int] | None:
    match op:
        case _ if isinstance(op, IMAGES_FIRST):
            return {0}
        case nn.Reshape():
            return {0}
        case nn.Softmax() | nn.LogSoftmax() | nn.LayerNorm() | nn.RmsNorm() | nn.Split():
            return {0} if op.axis != 0 else None
        case nn.reductions.ReductionOp():
            return {0} if 0 not in op.axes else None
        case nn.Concat():
            return set(range(len(op.operands))) if op.axis != 0 else None
        case nn.Pad():
            return {0} if op.pads[0] == op.pads[op.x.type.rank] == 0 else None
        case nn.Slice():
            whole = op.starts[0] == 0 and (op.steps is None or op.steps[0] == 1)
            return {0} if whole and op.out.type.shape[0] == op.x.type.shape[0] else None
        case nn.Gather() if op.operands[0] not in batched:
            return {1} if op.axis == 0 and op.operands[1].type.rank else None
    return _by_comprehension(op)


def _by_comprehension(op: nn.NnOp) -> set[int] | None:
    """Operands whose first index is the result's first, where nothing else depends on it."""
    form = op.comprehension()
    if form is None or not form.out.results or not isinstance(form.out.results[0], AffineDim):
        return None
    first = form.out.results[0]
    found: set[int] = set()
    for access in form.accesses:
        using = [i for i, e in enumerate(access.map.results) if first.position in e.dims_used()]
        if using == [0] and access.map.results[0] == first:
            found.add(access.operand)
        elif using or access.operand in found:
            return None
    whole = {a.operand for a in form.accesses if first.position not in _dims(a)}
    return None if whole & found else found


def _dims(access) -> set[int]:
    return set().union(*(e.dims_used() for e in access.map.results))
