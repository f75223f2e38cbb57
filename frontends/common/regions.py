"""Regions of feature maps: interpolated or pooled to a grid of bins; deformable convolutions.

A position counts elements in each spatial dimension. An interpolation reads the two neighbours of a
position in each dimension, so 2**dimensions rows of channels, and weights them.

Source: ONNX RoiAlign-22, MaxRoiPool-22, DeformConv-22.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import product as combinations
from operator import add, mul

from .formulas import round_half_away
from .words import *

Tap = tuple[Term, Term]
"""(the positions of a neighbour as i64, its weights), for interpolation."""


def roi_align(
    n: Layer,
    x: Value,
    rois: Value,
    batch: Value,
    *,
    bins: Sequence[int],
    scale: float = 1.0,
    samples: int = 0,
    half: bool = False,
    largest: bool = False,
    of_samples: bool = False,
) -> Value:
    """The mean, or the maximum if `largest`, of a grid of samples in each bin of each region.

    The maximum is of the weighted neighbours of all samples, as ONNX has it; with `of_samples`, of
    the samples and 0, as OpenVINO has it.

    Regions are multiplied by `scale`, and moved by half an element if `half`. A bin has `samples`
    in each dimension; 0 means as many as it has elements. Positions are computed in f32, or in f64
    for regions of f64.

    x [B, C, H, W], rois [R, 4] -> samples [R, PH, S, PW, T, C] -> [R, C, PH, PW]
    """
    real = f64 if rois.type.element_type is f64 else f32
    corners = Term(n, rois).cast(real) * scale - (0.5 if half else 0.0)
    sizes = [extent(n, (x, 2 + d)) for d in range(2)]
    image = Term(n, x).transpose(0, 2, 3, 1)
    rows = image.flattened(3)
    base = Term(n, batch).cast(i64) * (sizes[0] * sizes[1])
    sides: list[list[Tap]] = []
    used, counts = [], []
    for d in range(2):
        begin, end = corners.column(1 - d), corners.column(3 - d)
        length = end - begin if half else (end - begin).max(1.0)
        at, own, number = _samples(n, begin, length, bins[d], samples)
        inside = (at >= -1.0) & (at <= sizes[d].cast(real))
        taps = _clamped_taps(at, sizes[d])
        sides.append([(_apart(i, d), _apart(inside.choose(w, 0.0), d)) for i, w in taps])
        used.append(_apart(own, d))
        counts.append(number)
    both, count = used[0] & used[1], counts[0] * counts[1]
    parts = []
    for (row, row_weight), (column, column_weight) in combinations(*sides):
        index = row * sizes[1] + column + base.reshape((base.value, 0), 1, 1, 1, 1)
        weight = (row_weight * column_weight).spread(0, 1).cast(rows.element)
        parts.append(rows.gather(index) * weight)
    if largest and not of_samples:
        values = parts[0].max(parts[1]).max(parts[2].max(parts[3]))
        out = both.spread(0, 1).choose(values, -math.inf).largest(2, 4)
        some = (count > 0).reshape((count.value, 0), 1, 1, 1)
        return some.choose(out, 0.0).transpose(0, 3, 1, 2).value
    values = both.spread(0, 1).choose((parts[0] + parts[1]) + (parts[2] + parts[3]), 0.0)
    if largest:
        return values.largest(2, 4).max(0.0).transpose(0, 3, 1, 2).value
    number = count.max(1).cast(rows.element).reshape((count.value, 0), 1, 1, 1)
    return (values.sum(2, 4) / number).transpose(0, 3, 1, 2).value


def _samples(n: Layer, begin: Term, length: Term, bins: int, ratio: int) -> tuple[Term, Term, Term]:
    """Positions [R, bins, S] of the samples of regions [R] along a dimension.

    The other results are which of them count [R, 1, S], and their number in a bin [R].
    """
    bin_length = length / float(bins)
    if ratio > 0:
        number = (length * 0.0).cast(i64) + ratio
        most = constant(n, ratio, i64)
    else:
        number = bin_length.function(nn.Ceil).cast(i64).max(0)
        most = number.largest(0).max(0)

    def column(x: Term) -> Term:
        return x.reshape((x.value, 0), 1, 1)

    i = counting(n, most)
    real = length.element
    step = column(bin_length) / column(number.max(1).cast(real))
    offset = constant(n, arange(bins)).cast(real).spread(0, 1) * column(bin_length)
    at = column(begin) + offset + (i.cast(real) + 0.5) * step
    return at, i < column(number), number


def _clamped_taps(at: Term, size: Term) -> list[Tap]:
    """The two neighbours of positions, clamped to the image, with their weights."""
    last = size - 1
    at = at.max(0.0).min(last.cast(at.element))
    low = at.function(nn.Floor)
    rest = at - low
    first = low.cast(i64)
    return [(first, 1.0 - rest), ((first + 1).min(last), rest)]


def _apart(x: Term, d: int) -> Term:
    """[R, P, S] as [R, P, S, 1, 1], or [R, 1, 1, P, S] for the second dimension."""
    first, *own = ((x.value, i) for i in range(3))
    return x.reshape(first, *own, 1, 1) if d == 0 else x.reshape(first, 1, 1, *own)


def max_roi_pool(
    n: Layer, x: Value, rois: Value, *, bins: Sequence[int], scale: float = 1.0
) -> Value:
    """The maximum of each bin of a region, with bounds rounded to elements; 0 for empty bins.

    x [B, C, H, W], rois [R, 5] -> [R, C, H, PW] -> [R, C, PH, PW]
    """
    given = Term(n, rois).cast(f32)
    corners = round_half_away(given.part(1, 1, 5) * scale)
    image = Term(n, x).gather(given.column(0).cast(i64))
    lowest = -math.inf
    for d, count in ((1, bins[1]), (0, bins[0])):
        inside = _bins(n, corners.column(1 - d), corners.column(3 - d), count, (x, 2 + d))
        # [R, P, D] as [R, 1, 1, P, D], or [R, 1, P, D, 1] for rows.
        own = [(inside.value, i) for i in range(3)]
        mask = inside.reshape(own[0], 1, *((1, own[1], own[2]) if d else (own[1], own[2], 1)))
        place = 3 if d else 2
        extents = [(image.value, i) for i in range(4)]
        wide = image.reshape(*extents[:place], 1, *extents[place:])
        image = mask.choose(wide, lowest).largest(place + 1)
    return image.equals(lowest).choose(0.0, image).value


def _bins(n: Layer, begin: Term, end: Term, bins: int, size: Extent) -> Term:
    """Whether each element of a dimension lies in each bin of regions [R]: [R, bins, D]."""
    length = (end - begin + 1.0).max(1.0).spread(0, 1) / float(bins)
    number = constant(n, arange(bins)).cast(f32)
    low = (number * length).function(nn.Floor) + begin.spread(0, 1)
    high = ((number + 1.0) * length).function(nn.Ceil) + begin.spread(0, 1)
    place = counting(n, extent(n, size)).cast(f32)
    return (place >= low.spread(0, 1)) & (place < high.spread(0, 1))


@dataclass(frozen=True)
class DeformableWindows:
    """The geometry of a deformable kernel; `pads` has all begins, then all ends."""

    kernel: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    pads: Sequence[int]
    groups: int = 1
    parts: int = 1
    """How many groups of channels have their own offsets."""
    reaches: bool = True
    """Whether positions less than one element outside of the image are interpolated with its
    border."""


def deformable_convolution(
    n: Layer,
    x: Value,
    weight: Value,
    offset: Value,
    bias: Value | None,
    mask: Value | None,
    windows: DeformableWindows,
) -> Value:
    """A convolution whose kernel positions are moved by `offset` and weighted by `mask`.

    x [N, C, D..], offset [N, OG * K * d, O..] for d dimensions and a kernel of K positions ->
    columns [N, OG, K, O, C / OG] -> [N, M, O..]
    """
    if offset.type.rank != x.type.rank:
        raise n.error(f"input 'offset' has shape {shape_text(offset)}, 'X' {shape_text(x)}")
    groups, parts = windows.groups, windows.parts
    own = weight.type.shape[1]
    channels = x.type.shape[1] if own is None else own * groups
    if None in windows.kernel or channels is None:
        raise n.error(
            f"the kernel's extents and the channels must be known, but 'X' is {shape_text(x)} and "
            f"the weight {shape_text(weight)}"
        )
    dims, places = len(windows.kernel), math.prod(windows.kernel)
    if x.type.shape[1] not in (None, channels):
        raise n.error(
            f"'X' is {shape_text(x)}, but a weight {shape_text(weight)} is for {channels} channels"
        )
    if channels % parts or offset.type.shape[1] not in (None, parts * places * dims):
        raise n.error(
            f"offsets are {shape_text(offset)}, expected {parts * places * dims} channels for "
            f"{parts} groups of {channels} channels"
        )
    total = _at_offsets(n, x, offset, windows, channels)
    count = total.value, 3
    if mask is not None:
        mask_rows = _with_one_place(Term(n, mask), 2)
        total = total * mask_rows.reshape((x, 0), parts, places, count, 1)
    columns = total.transpose(0, 1, 4, 2, 3).reshape(
        (x, 0), groups, channels // groups * places, count
    )
    matrices = _grouped_rows(Term(n, weight), groups, channels // groups * places)
    y = (matrices @ columns).reshape((x, 0), (weight, 0), *((offset, 2 + d) for d in range(dims)))
    if bias is not None:
        y = y + Term(n, bias).spread(0, dims)
    return y.value


def _grouped_rows(weight: Term, groups: int, width: int) -> Term:
    """weight [M, ..], of `width` elements in each row, as [groups, M / groups, width]"""
    n, count = weight.n, weight.shape[0]
    if count is not None:
        return weight.reshape(groups, count // groups, width)
    rows = extent(n, (weight.value, 0)) / groups
    shape = [constant(n, groups, i64), rows, constant(n, width, i64)]
    return weight.shaped(joined([one.reshape(1) for one in shape], 0))


def _at_offsets(
    n: Layer, x: Value, offset: Value, windows: DeformableWindows, channels: int
) -> Term:
    """x interpolated linearly at each kernel position plus its offset.

    x [N, C, D..], offset [N, OG * K * d, O..] -> [N, OG, K, product of O.., C / OG]
    """
    parts, places, dims = windows.parts, math.prod(windows.kernel), len(windows.kernel)
    batch, out = (x, 0), [(offset, 2 + d) for d in range(dims)]
    sizes = [extent(n, (x, 2 + d)) for d in range(dims)]
    moved = Term(n, offset).cast(f64 if offset.type.element_type is f64 else f32)
    moved = moved.reshape(batch, parts, places, dims, *out)
    sides = []
    for d in range(dims):
        at = _regular(n, windows, offset, d).cast(moved.element) + moved.column(d, axis=3)
        at = _with_one_place(at, 3)
        sides.append((_zero_taps if windows.reaches else _inner_taps)(at, sizes[d]))
    image = _with_one_place(Term(n, x), 2)
    pixels = image.value, 2
    image = image.reshape(batch, parts, channels // parts, pixels).transpose(0, 1, 3, 2)
    rows = image.flattened(3)
    first = counting(n, extent(n, batch)).spread(0, 1) * parts + constant(n, arange(parts))
    base = (first * extent(n, pixels)).spread(0, 2)
    reads = []
    for taps in combinations(*sides):
        index = base
        for d, (place, _) in enumerate(taps):
            index = index + reduce(mul, sizes[d + 1 :], place)
        part = reduce(mul, (own for _, own in taps))
        reads.append(rows.gather(index) * part.cast(rows.element).spread(0, 1))
    return reduce(add, reads)


def _with_one_place(x: Term, lead: int) -> Term:
    """x with all dimensions but the first `lead` merged into one."""
    groups = [*((i, i + 1) for i in range(lead)), (lead, x.rank)]
    return Term(x.n, merge(x.n, x.value, groups))


def _regular(n: Layer, windows: DeformableWindows, offset: Value, d: int) -> Term:
    """The positions that a kernel reads in dimension d without offsets: [K, O..], O 1 but for d."""
    after = len(windows.kernel) - 1 - d
    places = np.indices(windows.kernel)[d].reshape(-1) * windows.dilations[d] - windows.pads[d]
    begins = counting(n, extent(n, (offset, 2 + d))) * windows.strides[d]
    return constant(n, places).spread(0, d + 1 + after) + begins.spread(d, after)


def _zero_taps(at: Term, size: Term) -> list[Tap]:
    """The two neighbours of positions; those outside of the image get weight 0."""
    low = at.function(nn.Floor)
    rest = at - low
    first = low.cast(i64)
    taps = []
    for place, weight in ((first, 1.0 - rest), (first + 1, rest)):
        inside = (place >= 0) & (place < size)
        taps.append((place.max(0).min(size - 1), inside.choose(weight, 0.0)))
    return taps


def _inner_taps(at: Term, size: Term) -> list[Tap]:
    """The two neighbours of positions; positions outside of the image get weight 0.

    A position between the last element and the end of the image reads the last element.
    """
    inside = (at >= 0.0) & (at < size.cast(at.element))
    taps = _clamped_taps(at, size)
    return [(place, inside.choose(weight, 0.0)) for place, weight in taps]


def average_of_own_channels(
    n: Layer,
    x: Value,
    rois: Value,
    *,
    bins: Sequence[int],
    scale: float = 1.0,
    scaled_first: bool = False,
) -> Value:
    """The mean of each bin of a region, where each bin reads channels of its own; 0 if it is empty.

    Corners are rounded and then scaled, and the last corner belongs to the region. With
    `scaled_first`, they are scaled and then rounded, and neither the last corner nor the last row
    and column of an image belong to it.

    x [B, C * PH * PW, H, W], rois [R, 5] -> [R, C, PH, PW]. Source: R-FCN's PSROIPooling, and
    torchvision's ps_roi_pool.
    """
    rows, columns = bins
    given = Term(n, rois).cast(f32)
    before, after = (scale, 1.0) if scaled_first else (1.0, scale)
    corners = round_half_away(given.part(1, 1, 5) * before)
    image = Term(n, x).gather(given.column(0).cast(i64))
    first, *own = ((image.value, i) for i in (0, 2, 3))
    channels = (x.type.shape[1] or 0) // (rows * columns)
    image = image.reshape(first, channels, rows, columns, *own)
    masks, counts = [], []
    for d, count in ((0, rows), (1, columns)):
        last = corners.column(3 - d) + (0.0 if scaled_first else 1.0)
        begin, end = corners.column(1 - d) * after, last * after
        step = ((end - begin).max(1.0 if scaled_first else 0.1) / float(count)).spread(0, 1)
        number = constant(n, arange(count)).cast(f32)
        low = (number * step + begin.spread(0, 1)).function(nn.Floor).spread(0, 1)
        high = ((number + 1.0) * step + begin.spread(0, 1)).function(nn.Ceil).spread(0, 1)
        size = extent(n, (x, 2 + d))
        place = counting(n, size).cast(f32)
        if scaled_first:
            high = high.min((size - 1).cast(f32))
        mask = ((place >= low) & (place < high)).cast(f32)
        masks.append(mask)
        counts.append(mask.sum(2))
    of_rows, of_columns = ([(m.value, i) for i in range(3)] for m in masks)
    upright = masks[0].reshape(of_rows[0], 1, of_rows[1], 1, 1, of_rows[2])
    flat = masks[1].reshape(of_columns[0], 1, 1, of_columns[1], of_columns[2], 1)
    total = (upright @ image @ flat).reshape(first, channels, rows, columns)
    area = (counts[0].spread(0, 1) * counts[1].reshape((rois, 0), 1, columns)).max(1.0)
    return (total / area.reshape((rois, 0), 1, rows, columns)).value
