"""Space to batch and back, pixel unshuffling, dilated tensors, and mirrored borders."""

from __future__ import annotations

from math import prod

from .formulas import assured
from .movement import Index, as_vector, concat, padded_by, slice_axis, unsqueezed
from .windows import pad_by_vector
from .words import *

Pairs = Sequence[tuple[Index, Index]]
"""How much is added or cut before and after, for each dimension: numbers or 0-d tensors."""

Size = int | Term
"""An extent: a number, or a 0-d i64 that is computed at run time."""


def space_to_batch(
    n: Layer, x: Value, block: Sequence[int], pads: Pairs, fill: Value | None = None
) -> Value:
    """Blocks of spatial positions moved into the batch, after x is padded by `pads` with `fill`.

    x [N, D.., C..] -> [N * product of block, D / block.., C..]
    """
    count, rank = len(block), x.type.rank
    _check(n, x, block)
    rest = rank - 1 - count
    begins, ends = ([pair[i] for pair in pads] for i in (0, 1))
    if begins + ends != [0] * len(begins + ends):
        by = [0, *begins, *[0] * rest, 0, *ends, *[0] * rest]
        x = pad_by_vector(n, x, _vector(n, by), n.scalar(0, x) if fill is None else fill)
    sizes = [_size(n, x, axis) for axis in range(rank)]
    split = [sizes[0]]
    for whole, size in zip(sizes[1:], block, strict=False):
        split += [_quotient(n, whole, size, "elements"), size]
    tail = sizes[1 + count :]
    apart = _reshaped(n, x, [*split, *tail])
    inner = range(2, 2 + 2 * count, 2)
    outer = range(1, 1 + 2 * count, 2)
    order = (*inner, 0, *outer, *range(1 + 2 * count, apart.type.rank))
    turned = n(nn.Transpose(apart, permutation=order))
    return _reshaped(n, turned, [sizes[0] * prod(block), *split[1::2], *tail])


def batch_to_space(n: Layer, x: Value, block: Sequence[int], crops: Pairs) -> Value:
    """The inverse of `space_to_batch`; `crops` are then cut from the borders."""
    count = len(block)
    _check(n, x, block)
    sizes = [_size(n, x, axis) for axis in range(x.type.rank)]
    batch = _quotient(n, sizes[0], prod(block), "examples")
    space, tail = sizes[1 : 1 + count], sizes[1 + count :]
    apart = _reshaped(n, x, [*block, batch, *space, *tail])
    pairs = [axis for i in range(count) for axis in (count + 1 + i, i)]
    order = (count, *pairs, *range(2 * count + 1, apart.type.rank))
    turned = n(nn.Transpose(apart, permutation=order))
    wide = [d * b for d, b in zip(space, block, strict=True)]
    out = _reshaped(n, turned, [batch, *wide, *tail])
    for axis, (begin, end) in enumerate(crops, 1):
        if (begin, end) != (0, 0):
            out = _cut(n, out, axis, begin, end)
    return out


def _cut(n: Layer, x: Value, axis: int, begin: Index, end: Index) -> Value:
    """x without the first `begin` and the last `end` elements of an axis."""
    whole = x.type.shape[axis]
    if isinstance(begin, int) and isinstance(end, int):
        last = whole - end if whole is not None else -end if end else 1 << 62
        return slice_axis(n, x, axis, begin, last)
    stop = extent(n, (x, axis)) - (constant(n, end) if isinstance(end, int) else Term(n, end))
    return slice_axis(n, x, axis, begin, stop.value)


def mirrored_pad(n: Layer, x: Value, pads: Sequence[tuple[int, int]]) -> Value:
    """x with its own border mirrored around it, the outermost elements included."""
    for axis, (begin, end) in enumerate(pads):
        if not begin and not end:
            continue
        whole = x.type.shape[axis]
        if min(begin, end) < 0 or (whole is not None and max(begin, end) > whole):
            raise n.error(f"dimension {axis} of {whole} elements is padded by {begin} and {end}")
        count = extent(n, (x, axis))
        text = f"dimension {axis} has less elements than it is padded by"
        count = assured(count, count >= max(begin, end), text)
        front = constant(n, np.arange(begin, dtype=np.int64)[::-1])
        behind = count - 1 - constant(n, np.arange(end, dtype=np.int64))
        parts = [Term(n, x).gather(front, axis).value] if begin else []
        parts += [x, Term(n, x).gather(behind, axis).value] if end else [x]
        x = concat(n, parts, axis)
    return x


def mirrored_pad_by(n: Layer, x: Value, pads: Value) -> Value:
    """`mirrored_pad` by a 1-D i64 [begins.., ends..] that is known at run time only."""
    for axis in range(x.type.rank):
        begin, end = (Term(n, pads).column(i, 0) for i in (axis, x.type.rank + axis))
        count = extent(n, (x, axis))
        fits = (begin.min(end) >= 0) & (begin.max(end) <= count)
        begin = assured(begin, fits, f"dimension {axis} has less elements than it is padded by")
        place = counting(n, begin + count + end) - begin
        place = (place < 0).choose((-place) - 1, place)
        place = (place < count).choose(place, count * 2 - 1 - place)
        x = Term(n, x).gather(place, axis).value
    return x


def dilated(n: Layer, x: Value, steps: Sequence[int], fill: Value | None) -> Value:
    """x with its elements `steps` positions apart along each axis; `fill` or 0 between them."""
    for axis, step in enumerate(steps):
        if step == 1 or x.type.shape[axis] in (0, 1):
            continue
        rank = x.type.rank
        apart = unsqueezed(n, x, axis + 1)
        wide = padded_by(
            n, apart, [(i == rank + axis + 2) * (step - 1) for i in range(2 * rank + 2)], fill
        )
        spans = [(i, i + 1) for i in range(rank + 1)]
        whole = merge(n, wide, [*spans[:axis], (axis, axis + 2), *spans[axis + 2 :]])
        x = slice_axis(n, whole, axis, 0, 1 - step)
    return x


def pixel_unshuffle(n: Layer, x: Value, size: int) -> Value:
    """s by s squares of pixels as channels: [N, C, H, W] -> [N, C * s * s, H / s, W / s]."""
    _, channels, height, width = x.type.shape
    if None in (channels, height, width) or size < 1 or height % size or width % size:
        raise n.error(f"{shape_text(x)} does not divide by {size}")
    h, w = height // size, width // size
    apart = Term(n, x).reshape((x, 0), channels, h, size, w, size).transpose(0, 1, 3, 5, 2, 4)
    return apart.reshape((x, 0), channels * size * size, h, w).value


def reorganized(n: Layer, x: Value, s: int) -> Value:
    """Squares as channels, in the order of Darknet's `reorg`, which reads channels as rows.

    [N, C, H, W] -> [N, C*H/(s*s), s, W, s] -> [N, s, s, C*H/(s*s), W] -> [N, C*s*s, H/s, W/s]
    """
    if x.type.rank != 4 or None in x.type.shape[1:] or s < 1:
        raise n.error("it needs images of known extents")
    c, h, w = x.type.shape[1:]
    if c % (s * s) or h % s or w % s:
        raise n.error(
            f"images are {c} x {h} x {w}; with stride {s}, height and width must be multiples of "
            f"{s}, and channels of {s * s}"
        )
    batch = (x, 0)
    split = reshape(n, x, [batch, c * h // (s * s), s, w, s])
    moved = n(nn.Transpose(split, permutation=(0, 2, 4, 1, 3)))
    return reshape(n, moved, [batch, c * s * s, h // s, w // s])


def _check(n: Layer, x: Value, block: Sequence[int]) -> None:
    if len(block) >= x.type.rank or min(block, default=1) < 1:
        raise n.error(f"blocks of {list(block)} for a tensor of rank {x.type.rank}")


def _size(n: Layer, x: Value, axis: int) -> Size:
    known = x.type.shape[axis]
    return extent(n, (x, axis)) if known is None else known


def _quotient(n: Layer, whole: Size, by: int, what: str) -> Size:
    """An extent divided by `by`; an error, at import or at run time, if that leaves a remainder."""
    if isinstance(whole, int):
        if whole % by:
            raise n.error(f"{whole} {what} do not divide into blocks of {by}")
        return whole // by
    text = f"{what} do not divide into blocks of {by}"
    return assured(whole, (whole % by).equals(0), text) / by


def _vector(n: Layer, numbers: Sequence[Index]) -> Value:
    """Numbers and 0-d tensors as one 1-D i64."""
    if all(isinstance(v, int) for v in numbers):
        return n.constant(np.array(numbers, np.int64))
    return joined([Term(n, n.cast(as_vector(n, v), i64)) for v in numbers], 0).value


def _reshaped(n: Layer, x: Value, sizes: Sequence[Size]) -> Value:
    known = tuple(size if isinstance(size, int) else None for size in sizes)
    if known.count(None) <= (0 not in known):
        return n(nn.Reshape(x, out=TensorType(known, x.type.element_type)))
    shape = [size if isinstance(size, int) else size.value for size in sizes]
    out = TensorType(known, x.type.element_type)
    return n(nn.ReshapeDynamic(x, _vector(n, shape), out=out))
