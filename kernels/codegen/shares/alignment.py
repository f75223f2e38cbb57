"""How many elements of a row a thread can access at once, by the alignment of its address."""

from __future__ import annotations

from math import gcd, inf

from ....dialects import arith, gpu, scf, vector
from ....ir.affine import AffineDim
from ....ir.core import Value
from ....ir.rewriting import constant_int
from ....ir.types import MemRefType

Transfer = vector.TransferRead | vector.TransferWrite


def fastest_lane(op: Transfer) -> int | None:
    """The dimension of a transfer's vector whose elements lie side by side in memory, if any."""
    strides = _strides(op)
    for lane, along in enumerate(op.map.results):
        if isinstance(along, AffineDim) and strides[along.position] == 1:
            return lane
    return None


def fastest_first(op: Transfer, rank: int) -> list[int]:
    """The dimensions of a transfer's vector, the one of the smallest stride in memory first.

    Those along which the vector is broadcast come last. Among strides known only at run time, those
    of later dimensions count as the smaller ones.
    """
    strides = _strides(op)
    lanes = dict[int, tuple[float, int]]()
    for lane, along in enumerate(op.map.results):
        if isinstance(along, AffineDim):
            stride = strides[along.position]
            lanes[lane] = (inf if stride is None else stride, -along.position)
    return sorted(range(rank), key=lambda lane: (lanes.get(lane, (inf, 1)), -lane))


def lies_apart(op: Transfer, lane: int) -> bool:
    """Whether elements along a dimension are strided in memory."""
    along = op.map.results[lane]
    return isinstance(along, AffineDim) and _strides(op)[along.position] != 1


def aligned_width(op: Transfer, width: int, lane: int) -> int:
    """How many elements along dimension `lane`, up to `width`, can be accessed at once.

    Each row's address must be a multiple of that many elements; if nothing is known of it, the
    result is 1, as for strided elements and for those that do not vary along the dimension. Rows of
    workgroup memory may still be padded: there, only the index within a row counts.
    """
    type = op.base.type
    assert isinstance(type, MemRefType)
    along = op.map.results[lane]
    if not isinstance(along, AffineDim):
        return width
    if gpu.is_workgroup(type):
        return gcd(width, divisor(op.indices[along.position]))
    strides, known = _strides(op), type.strides_and_offset()
    offset = known[1] if known is not None else None
    if offset is None or strides[along.position] != 1:
        return 1
    found = gcd(width, offset)
    rows = {e.position for e in op.map.results if isinstance(e, AffineDim)}
    for position, (index, stride) in enumerate(zip(op.indices, strides, strict=True)):
        if stride is None:
            return 1
        step = stride if position in rows and position != along.position else 0
        found = gcd(found, stride * divisor(index), step)
    return found


def _strides(op: Transfer) -> list[int | None]:
    type = op.base.type
    assert isinstance(type, MemRefType)
    known = type.strides_and_offset()
    return list(known[0]) if known is not None else [None] * type.rank


def divisor(value: Value) -> int:
    """The greatest known divisor of an index; 0 where the index is 0."""
    if (known := constant_int(value)) is not None:
        return known
    op = value.defining_op
    match op:
        case arith.MulI():
            return divisor(op.lhs) * divisor(op.rhs)
        case arith.AddI() | arith.SubI() | arith.MinSI() | arith.MaxSI():
            return gcd(divisor(op.lhs), divisor(op.rhs))
        case None:
            loop = value.owner.parent_op  # type: ignore[attr-defined]
            if isinstance(loop, scf.For) and value is loop.induction_var:
                return gcd(divisor(loop.lower), divisor(loop.step))
    return 1
