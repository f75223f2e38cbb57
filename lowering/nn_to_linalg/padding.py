"""Padding of buffers: nn.pad, and the padding of convolutions and poolings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...dialects import arith, nn
from ...ir.core import Value
from ...ir.types import Type
from .emitter import Emitter, buffer_type
from .extents import Size
from .table import lowers

Part = tuple[Sequence[Size], Sequence[Size]]
"""The offsets and sizes of a part of a buffer."""


def pad_constant(
    e: Emitter,
    source: Value,
    out: Value,
    begin: Sequence[Size],
    end: Sequence[Size],
    fill: Value,
) -> None:
    """Copy a buffer to the middle of a larger one and fill the border; negative pads crop.

    Nothing is copied where pads of known extents crop all of it.
    """
    part, inner = _cropped(e, source, begin, end)
    first = [e.max(b, 0) for b in begin]
    if 0 in inner:
        first = [e.min(b, n) for b, n in zip(first, e.sizes(out), strict=True)]
    for offsets, sizes in _border(e, e.sizes(out), first, end, inner, range(len(begin))):
        e.fill(fill, e.subview(out, offsets, sizes))
    e.copy(part, e.subview(out, first, inner))


def _border(
    e: Emitter,
    full: Sequence[Size],
    first: Sequence[Size],
    end: Sequence[Size],
    inner: Sequence[Size],
    order: Iterable[int],
) -> Iterator[Part]:
    """The strips around the copied part, which starts at `first` and has the extents `inner`.

    Each dimension, in the given order, has a strip before and one after the part. They do not
    overlap: in the dimensions before it in the order, a strip is as wide as the copied part.
    """
    offsets: list[Size] = [0] * len(full)
    sizes = list(full)
    for axis in order:
        after = e.add(first[axis], inner[axis])
        rest = e.sub(full[axis], after) if inner[axis] == 0 else e.max(end[axis], 0)
        for width, start in ((first[axis], 0), (rest, after)):
            if width != 0:
                offsets[axis], sizes[axis] = start, width
                yield list(offsets), list(sizes)
        offsets[axis], sizes[axis] = first[axis], inner[axis]


def _cropped(
    e: Emitter, source: Value, begin: Sequence[Size], end: Sequence[Size]
) -> tuple[Value, list[Size]]:
    """A view of the part of a buffer that negative pads leave, and its extents."""
    pads = [*begin, *end]
    if not any(isinstance(b, Value) or b < 0 for b in pads):
        return source, e.sizes(source)
    cut = [e.max(e.sub(0, b), 0) for b in begin]
    cut = [
        min(c, n) if isinstance(c, int) and isinstance(n, int) else c
        for c, n in zip(cut, e.sizes(source), strict=True)
    ]
    inner = [
        e.sub(n, e.add(c, e.max(e.sub(0, a), 0)))
        for n, c, a in zip(e.sizes(source), cut, end, strict=True)
    ]
    for n in inner:
        if isinstance(n, Value):
            e.require(e.compare("sge", n, 0), "pads remove more than there is of its operand")
    inner = [n if isinstance(n, Value) else max(n, 0) for n in inner]
    return e.subview(source, cut, inner), inner


def padded(
    e: Emitter, source: Value, begin: Sequence[int], end: Sequence[int], fill: float, type: Type
) -> Value:
    """A copy of the buffer with its last dimensions padded; the buffer itself if all pads are 0."""
    if not any(begin) and not any(end):
        return source
    lead = [0] * (source.type.rank - len(begin))
    begin, end = [*lead, *begin], [*lead, *end]
    sizes = [e.add(n, b + a) for n, b, a in zip(e.sizes(source), begin, end, strict=True)]
    out = e.alloc(sizes, type)
    pad_constant(e, source, out, begin, end, e.element(fill, type))
    return out


@lowers(nn.Pad)
def lower_pad(e: Emitter, op: nn.Pad) -> None:
    """Lower padding by known numbers."""
    rank = op.x.type.rank
    _pad(e, op, op.pads[:rank], op.pads[rank:])


@lowers(nn.PadDynamic)
def lower_pad_dynamic(e: Emitter, op: nn.PadDynamic) -> None:
    """Lower padding by numbers read from memory."""
    pads, rank = e.buffer(op.pads), op.x.type.rank
    e.require_equal(e.size(pads, 0), 2 * rank, f"the number of pads is not {2 * rank}")
    most = e.globals.largest_index
    numbers = [e.bounded_index(e.load(pads, [i]), most) for i in range(2 * rank)]
    _pad(e, op, numbers[:rank], numbers[rank:])


def _pad(
    e: Emitter, op: nn.Pad | nn.PadDynamic, begin: Sequence[Size], end: Sequence[Size]
) -> None:
    """Write the border, then copy the operand to the middle.

    In mode "constant" the border is filled; in other modes each of its elements is copied from the
    operand's element that it repeats.
    """
    source = e.buffer(op.x)
    rank = op.x.type.rank
    found = [e.add(n, e.add(b, a)) for n, b, a in zip(e.sizes(source), begin, end, strict=True)]
    shape = buffer_type(op.out.type).shape
    sizes = [n if d is None else d for n, d in zip(found, shape, strict=True)]
    out = e.destination(op.out, sizes)
    if op.mode == "constant":
        if op.value is None:
            fill = e.element(0, op.out.type.element_type)
        else:
            fill = e.operand(op.value)
            fill = e.load(fill) if hasattr(fill.type, "shape") else fill
        pad_constant(e, source, out, begin, end, fill)
        return
    source, extents = _cropped(e, source, begin, end)
    begin, end = ([e.max(pad, 0) for pad in side] for side in (begin, end))
    for extent, size in zip(extents, sizes, strict=True):
        if not isinstance(extent, int):
            some = e.compare("sgt", extent, 0)
            none = e.compare("eq", size, 0)
            e.require(e.insert(arith.OrI(some, none)).result, "there is no element to repeat")

    # Columns first: the strips of rows are then no wider than the operand, and copy whole rows.
    for part in _border(e, sizes, begin, end, extents, reversed(range(rank))):

        def read(e: Emitter, _: Value, part: Part = part) -> Value:
            return e.load(source, _origins(e, op.mode, part, (begin, extents)))

        e.elementwise([], e.subview(out, *part), read)
    e.copy(source, e.subview(out, begin, extents))


def _origins(e: Emitter, mode: str, part: Part, copied: Part) -> list[Size]:
    """The indices, in the operand, of the element to copy to the current position of a part."""
    found: list[Size] = []
    for d, (offset, size, begin, extent) in enumerate(zip(*part, *copied, strict=True)):
        if offset == begin and size == extent:
            found.append(e.position(d))
        else:
            at = e.add(e.position(d), e.sub(offset, begin))
            found.append(_origin(e, mode, at, extent))
    return found


def _origin(e: Emitter, mode: str, at: Size, extent: Size) -> Size:
    """The operand's index, along one dimension, for a position that may be outside of it."""
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
