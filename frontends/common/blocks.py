"""Blocks of positions in space as examples of a batch, and mirrored borders."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import nn
from ...ir.core import Value
from ...ir.types import Dim, TensorType
from .layer import Layer
from .movement import concat, padded_by, slice_axis

Pairs = Sequence[tuple[int, int]]
"""How much is added or cut before and after, for each dimension."""


def space_to_batch(
    n: Layer, x: Value, block: Sequence[int], pads: Pairs, fill: Value | None = None
) -> Value:
    """x [N, D.., ..] padded, each position of blocks as a batch: [N * blocks, D / block.., ..]."""
    count, rank = len(block), x.type.rank
    _check(n, x, block)
    rest = rank - 1 - count
    begins, ends = ([pair[i] for pair in pads] for i in (0, 1))
    x = padded_by(n, x, (0, *begins, *[0] * rest, 0, *ends, *[0] * rest), fill)
    shape = x.type.shape
    split: list[Dim] = [shape[0]]
    for i, size in enumerate(block):
        extent = shape[1 + i]
        if extent is not None and extent % size:
            raise n.error(f"{extent} elements do not divide into blocks of {size}")
        split += [None if extent is None else extent // size, size]
    tail = list(shape[1 + count :])
    apart = _reshaped(n, x, [*split, *tail])
    inner = range(2, 2 + 2 * count, 2)
    outer = range(1, 1 + 2 * count, 2)
    order = (*inner, 0, *outer, *range(1 + 2 * count, apart.type.rank))
    turned = n(nn.Transpose(apart, permutation=order))
    batch = _times(shape[0], block)
    return _reshaped(n, turned, [batch, *split[1::2], *tail])


def batch_to_space(n: Layer, x: Value, block: Sequence[int], crops: Pairs) -> Value:
    """The inverse: examples as positions of blocks, of which a border is cut."""
    count, shape = len(block), x.type.shape
    _check(n, x, block)
    total = _times(1, block)
    assert total is not None
    if shape[0] is not None and shape[0] % total:
        raise n.error(f"{shape[0]} examples do not divide into blocks of {total}")
    batch = None if shape[0] is None else shape[0] // total
    tail = list(shape[1 + count :])
    apart = _reshaped(n, x, [*block, batch, *shape[1 : 1 + count], *tail])
    pairs = [axis for i in range(count) for axis in (count + 1 + i, i)]
    order = (count, *pairs, *range(2 * count + 1, apart.type.rank))
    turned = n(nn.Transpose(apart, permutation=order))
    wide = [None if d is None else d * b for d, b in zip(shape[1 : 1 + count], block, strict=True)]
    out = _reshaped(n, turned, [batch, *wide, *tail])
    for axis, (begin, end) in enumerate(crops, 1):
        extent = out.type.shape[axis]
        if begin or end:
            last = -end if extent is None else extent - end
            out = slice_axis(n, out, axis, begin, last)
    return out


def mirrored_pad(n: Layer, x: Value, pads: Pairs) -> Value:
    """x with its own border mirrored around it, the outermost elements included."""
    for axis, (begin, end) in enumerate(pads):
        extent = x.type.shape[axis]
        if not begin and not end:
            continue
        if extent is None or max(begin, end) > extent or min(begin, end) < 0:
            raise n.error(f"dimension {axis} of {extent} elements is padded by {begin} and {end}")
        parts = [x]
        if begin:
            parts.insert(0, _backwards(n, x, axis, begin - 1, begin))
        if end:
            parts.append(_backwards(n, x, axis, extent - 1, end))
        x = concat(n, parts, axis)
    return x


def _backwards(n: Layer, x: Value, axis: int, start: int, count: int) -> Value:
    """Elements of an axis from `start` on to the front."""
    starts = tuple(start if i == axis else 0 for i in range(x.type.rank))
    steps = tuple(-1 if i == axis else 1 for i in range(x.type.rank))
    shape = tuple(count if i == axis else d for i, d in enumerate(x.type.shape))
    out = TensorType(shape, x.type.element_type)
    return n(nn.Slice(x, starts=starts, steps=steps, out=out))


def _check(n: Layer, x: Value, block: Sequence[int]) -> None:
    if len(block) >= x.type.rank or min(block, default=1) < 1:
        raise n.error(f"blocks of {list(block)} for a tensor of rank {x.type.rank}")


def _times(extent: Dim, block: Sequence[int]) -> Dim:
    for size in block:
        extent = None if extent is None else extent * size
    return extent


def _reshaped(n: Layer, x: Value, shape: Sequence[Dim]) -> Value:
    if list(shape).count(None) > 1:
        raise n.error("extents must be known, all but one")
    return n(nn.Reshape(x, out=TensorType(tuple(shape), x.type.element_type)))
