"""Padding of convolutions and poolings: explicit, or such that windows cover all positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .movement import FAR, padded_by, slice_axis
from .words import *

Padding = Sequence[int] | str
"""Elements at all begins, then at all ends, of the spatial dimensions; or VALID, which is none; or
SAME_UPPER or SAME_LOWER, for ceil(extent / stride) windows, with an odd element at the end or at
the begin.
"""


@dataclass(frozen=True)
class Padded:
    """The operand of a convolution or pooling, and the padding left for its op.

    `by` is the padding that the operand already got, if it is known only at run time: a 1-D tensor
    of i64 as of nn.pad_dynamic. Otherwise it is None.
    """

    x: Value
    pads: tuple[int, ...]
    by: Value | None = None


def padded(
    n: Layer,
    x: Value,
    kernel: Sequence[Dim],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: Padding,
    fill: float = 0,
) -> Padded:
    """The operand, [batch, channels, spatial..], and its padding as numbers.

    If the padding depends on unknown extents, the operand is padded with `fill` at run time. Raises
    NncError if the kernel's extents must be known and are not.
    """
    count = len(kernel)
    if min((*strides, *dilations), default=1) < 1:
        raise n.error(
            f"strides {list(strides)} and dilations {list(dilations)}, expected 1 or more"
        )
    if not isinstance(padding, str):
        return Padded(x, tuple(padding))
    if padding == "VALID":
        return Padded(x, (0,) * 2 * count)
    if None in kernel:
        raise n.error(f"padding {padding} needs a kernel of known extents")
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]  # type: ignore[operator]
    along = zip(x.type.shape[2:], reach, strides, strict=True)
    sides = [same_padding(*each, padding) for each in along]
    if any(side is None for side in sides):
        by = _pads_at_run_time(n, x, reach, strides, padding)
        return Padded(pad_by_vector(n, x, by, n.scalar(fill, x)), (0,) * 2 * count, by)
    known = [side for side in sides if side is not None]
    return Padded(x, (*(begin for begin, _ in known), *(end for _, end in known)))


def elements_of_windows(
    n: Layer,
    x: Value,
    first: int,
    size: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
) -> Iterator[tuple[tuple[int, ...], Value]]:
    """For each place in a window, the elements of x there: one of each window.

    x is padded already; the dimensions from `first` on are those that windows move along, with
    `rates` between the elements of a window.
    """
    for place in np.ndindex(*size):
        part = x
        for axis, (at, k, rate, stride) in enumerate(
            zip(place, size, rates, strides, strict=True), first
        ):
            begin = at * rate
            part = slice_axis(n, part, axis, begin, begin - (k - 1) * rate or FAR, stride)
        yield place, part


def check_fit(n: Layer, x: Value, reach: Sequence[int], pads: Sequence[int]) -> None:
    """Raise NncError where windows span more elements than padded images [N, C, D..] have."""
    for axis, (extent, span) in enumerate(zip(x.type.shape[2:], reach, strict=True)):
        around = pads[axis] + pads[len(reach) + axis]
        if extent is not None and extent + around < span:
            raise n.error(
                f"windows of {span} do not fit into {extent} elements with {around} of padding"
            )


def same_padding(extent: Dim, reach: int, stride: int, padding: str) -> tuple[int, int] | None:
    """SAME's padding at both sides of a dimension; None if it depends on an unknown extent.

    Padding behind the last window changes no result. So an unknown extent gets the most padding
    that any extent may need, if all need the same at the begin.
    """
    if extent is not None:
        return halves(max(0, (extent - 1) // stride * stride + reach - extent), padding)
    begin, end = halves(reach - 1, padding)
    return (begin, end) if halves(max(0, reach - stride), padding)[0] == begin else None


def _pads_at_run_time(
    n: Layer, x: Value, reach: Sequence[int], strides: Sequence[int], padding: str
) -> Value:
    """The padding of `same_padding` from the operand's shape, with zeros for batch and channels."""
    extents = Term(n, part_of_vector(n, shape_of(n, x), 2, x.type.rank))
    by, reaches = (constant(n, np.array(v, np.int64)) for v in (strides, reach))
    # Strides are positive: the last window begins at the last multiple before the end.
    sides = halves(((extents - 1) / by * by + reaches - extents).max(0), padding)
    none = constant(n, np.zeros(2, np.int64))
    return joined([none, sides[0], none, sides[1]], 0).value


def halves(total: Any, padding: str) -> tuple[Any, Any]:
    """Padding, numbers or terms, split in two sides; SAME_UPPER puts an odd element at the end."""
    small = total / 2 if isinstance(total, Term) else total // 2
    return (small, total - small) if padding == "SAME_UPPER" else (total - small, small)


def pad_by_vector(
    n: Layer, x: Value, pads: Value, fill: Value | None, mode: str = "constant"
) -> Value:
    """x padded by a 1-D i64 [begins.., ends..], which may be known only at run time."""
    rank, known = x.type.rank, n.known(pads)
    if known is not None:
        return padded_by(n, x, [int(v) for v in known], fill, mode)
    found = n.extents(pads) or (None,) * 2 * rank
    shape = [
        None if d is None or b is None or e is None else max(0, d + b + e)
        for d, b, e in zip(x.type.shape, found[:rank], found[rank:], strict=True)
    ]
    out = TensorType(tuple(shape), x.type.element_type)
    return n(nn.PadDynamic(x, pads, fill, mode=mode, out=out))
