"""Elements around a buffer: nn.pad, and the padding that convolutions and poolings ask for."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import arith, nn
from ...ir.core import Value
from ...ir.types import Type
from .emitter import Emitter, Size, storage_type
from .table import lowers


def pad_constant(
    e: Emitter,
    source: Value,
    out: Value,
    begin: Sequence[int],
    end: Sequence[int],
    fill: Value,
) -> None:
    """Copy a buffer to the middle of a larger one and fill the border; negative pads crop.

    The border is written in strips that do not overlap: along each dimension one before and
    one after, as wide as the copied part in the dimensions before it.
    """
    rank = len(begin)
    full = e.sizes(out)
    first = [max(0, b) for b in begin]
    inner: list[Size] = [
        e.sub(n, max(0, -b) + max(0, -a))
        for n, b, a in zip(e.sizes(source), begin, end, strict=True)
    ]
    for axis in range(rank):
        after = e.add(first[axis], inner[axis])
        for width, start in ((max(0, begin[axis]), 0), (max(0, end[axis]), after)):
            if width:
                offsets = [*first[:axis], start, *[0] * (rank - axis - 1)]
                sizes = [*inner[:axis], width, *full[axis + 1 :]]
                e.fill(fill, e.subview(out, offsets, sizes))
    part = source
    if any(b < 0 for b in (*begin, *end)):
        part = e.subview(source, [max(0, -b) for b in begin], inner)
    e.copy(part, e.subview(out, first, inner))


def padded(
    e: Emitter, source: Value, begin: Sequence[int], end: Sequence[int], fill: float, type: Type
) -> Value:
    """The buffer padded along its last dimensions, or itself where there is nothing to add."""
    if not any(begin) and not any(end):
        return source
    lead = [0] * (source.type.rank - len(begin))  # type: ignore[attr-defined]
    begin, end = [*lead, *begin], [*lead, *end]
    sizes = [e.add(n, b + a) for n, b, a in zip(e.sizes(source), begin, end, strict=True)]
    out = e.alloc(sizes, type)
    pad_constant(e, source, out, begin, end, e.constant(fill, storage_type(type)))
    return out


@lowers(nn.Pad)
def lower_pad(e: Emitter, op: nn.Pad) -> None:
    """Constant padding copies; the other modes read each element from where it comes from."""
    source = e.buffer(op.x)
    rank = op.x.type.rank
    begin, end = op.pads[:rank], op.pads[rank:]
    sizes = [e.add(n, b + a) for n, b, a in zip(e.sizes(source), begin, end, strict=True)]
    out = e.destination(op.out, sizes)
    if op.mode == "constant":
        element = storage_type(op.out.type.element_type)
        if op.value is None:
            fill = e.constant(0, element)
        else:
            fill = e.operand(op.value)
            fill = e.load(fill) if hasattr(fill.type, "shape") else fill
        pad_constant(e, source, out, begin, end, fill)
        return
    extents = e.sizes(source)
    parts = _parts(begin[-1], end[-1], extents[-1]) if rank else []
    if not parts:
        e.elementwise([], out, lambda e, _: e.load(source, _origins(e, op, extents, 0)))
    for first, count in parts:
        part = e.subview(out, [0] * (rank - 1) + [first], [*sizes[:-1], count])
        e.elementwise(
            [], part, lambda e, _, first=first: e.load(source, _origins(e, op, extents, first))
        )


def _parts(begin: int, end: int, extent: Size) -> list[tuple[int, int]]:
    """(first, count) of the columns of a row's borders, and of the copied ones between them.

    Those are read as whole vectors. None where that is not known to help.
    """
    if min(begin, end) < 0 or begin == end == 0 or not isinstance(extent, int):
        return []
    parts = [(0, begin), (begin, extent), (begin + extent, end)]
    return [(first, count) for first, count in parts if count]


def _origins(e: Emitter, op: nn.Pad, extents: Sequence[Size], first: int) -> list[Size]:
    """Which element of the operand stands at the current position of the columns from `first`."""
    rank = len(extents)
    begin, end = op.pads[:rank], op.pads[rank:]
    found: list[Size] = []
    for d in range(rank):
        shift = first if d == rank - 1 else 0
        is_copied = shift and shift == begin[d]
        if is_copied or not (begin[d] or end[d]):
            found.append(e.position(d))
        else:
            found.append(_origin(e, op.mode, d, begin[d] - shift, extents))
    return found


def _origin(e: Emitter, mode: str, dim: int, begin: int, extents: Sequence[Size]) -> Size:
    """Which element of the operand stands at the current position along a dimension."""
    extent = extents[dim]
    at = e.sub(e.position(dim), begin)
    last = e.sub(extent, 1)
    if mode == "edge":
        return e.min(e.max(at, 0), last)
    if mode == "wrap":
        return _modulo(e, at, extent)
    # Reflected: a walk to and fro with a period of twice the last index.
    period = e.max(e.mul(2, last), 1)
    phase = _modulo(e, at, period)
    return e.min(phase, e.sub(period, phase)) if extent != 1 else 0


def _modulo(e: Emitter, a: Size, b: Size) -> Size:
    """The remainder with the sign of the divisor."""
    rest = e.insert(arith.RemSI(e.value(a), e.value(b))).result
    return e.select(e.compare("slt", rest, 0), e.add(rest, b), rest)
