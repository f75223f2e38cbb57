"""Images: colors, patches, and resizing by weights of each row and column."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import FloatType
from ...common import images
from ...common.movement import padded_by
from ...common.resampling import KERNELS, covered, sampled, sampled_late, weighted
from ...common.shapes import as_i64
from ...common.terms import Term, extent, joined
from ...common.windows import elements_of_windows
from ..layer import TfLayer, rows

# -- colors ----------------------------------------------------------------------------------------


@rows("RGBToHSV")
def rgb_to_hsv(n: TfLayer, x: Value) -> Value:
    return joined([part.spread(0, 1) for part in images.hsv_of(Term(n, x))], -1).value


@rows("HSVToRGB")
def hsv_to_rgb(n: TfLayer, x: Value) -> Value:
    return images.rgb_of(*(Term(n, x).column(i) for i in range(3))).value


@rows("AdjustHue")
def adjust_hue(n: TfLayer, x: Value, delta: Value) -> Value:
    hue, saturation, value = images.hsv_of(Term(n, x))
    return images.rgb_of((hue + Term(n, delta)) % 1.0, saturation, value).value


@rows("AdjustSaturation")
def adjust_saturation(n: TfLayer, x: Value, scale: Value) -> Value:
    hue, saturation, value = images.hsv_of(Term(n, x))
    return images.rgb_of(hue, (saturation * Term(n, scale)).max(0.0).min(1.0), value).value


@rows("AdjustContrastv2")
def adjust_contrast(n: TfLayer, x: Value, factor: Value) -> Value:
    rank = x.type.rank
    mean = Term(n, x).mean(rank - 3, rank - 2, keep=True)
    return ((Term(n, x) - mean) * Term(n, factor) + mean).value


# -- patches ---------------------------------------------------------------------------------------


def _shifted(
    n: TfLayer, x: Value, size: tuple[int, ...], strides: tuple[int, ...], rates: tuple[int, ...],
    fill: float,
) -> Iterator[tuple[tuple[int, ...], Value]]:  # fmt: skip
    """For each position in a window, the elements there of all windows: x [N, D.., C]."""
    count = len(size)
    extents = x.type.shape[1 : 1 + count]
    reach = [(k - 1) * r + 1 for k, r in zip(size, rates, strict=True)]
    same = n.text("padding", "VALID", ("SAME", "VALID")) == "SAME"
    totals = [0] * count
    for i, (d, s, k) in enumerate(zip(extents, strides, reach, strict=True)):
        if same and s == 1:
            totals[i] = k - 1
        elif same and d is None:
            raise n.error("the extents of the images must be known where not each has a window")
        elif same and d is not None:
            totals[i] = max((-(-d // s) - 1) * s + k - d, 0)
    pads = [0, *(t // 2 for t in totals), 0, 0, *(t - t // 2 for t in totals), 0]
    whole = padded_by(n, x, pads, fill)
    return elements_of_windows(n, whole, 1, size, strides, rates)


@rows("ExtractImagePatches", "ExtractVolumePatches")
def patches(n: TfLayer, x: Value) -> Value:
    sizes, strides = n.ints("ksizes")[1:-1], n.ints("strides")[1:-1]
    rates = n.ints("rates")[1:-1] or (1,) * len(sizes)
    parts = [Term(n, part) for _, part in _shifted(n, x, sizes, strides, rates, 0)]
    return joined(parts, -1).value


@rows("Dilation2D")
def dilation(n: TfLayer, x: Value, kernel: Value) -> Value:
    """Grayscale dilation: the largest sum of a window's element and the kernel's [H, W, C]."""
    size = kernel.type.shape[:2]
    strides, rates = n.ints("strides")[1:-1], n.ints("rates")[1:-1]
    least = float(np.finfo(np.float32).min)
    weight, found = Term(n, kernel), None
    for (row, column), part in _shifted(n, x, size, strides, rates, least):
        here = Term(n, part) + weight.column(row, 0).column(column, 0)
        found = here if found is None else found.max(here)
    assert found is not None
    return found.value


# -- other sizes -----------------------------------------------------------------------------------


def _sizes(n: TfLayer, x: Value, size: Value) -> list[tuple[int, int]]:
    """Heights and widths, as (before, after) pairs."""
    own = x.type.shape[1:3]
    if x.type.rank != 4 or None in own:
        raise n.error(f"the input is '{x.type}', expected images of known size")
    return list(zip(own, n.known_ints(size, "the size"), strict=True))  # type: ignore[arg-type]


def _are_known(n: TfLayer, x: Value, size: Value) -> bool:
    """Whether the extents of images and of the result are known at import."""
    return None not in x.type.shape[1:3] and n.known(size) is not None


def _sizes_late(n: TfLayer, x: Value, size: Value) -> list[tuple[Term, Term]]:
    """Heights and widths, as (before, after) pairs of what is known at run time."""
    if x.type.rank != 4:
        raise n.error(f"the input is '{x.type}', expected images [N, H, W, C]")
    sizes = Term(n, as_i64(n, size))
    return [(extent(n, (x, axis)), sizes.column(axis - 1)) for axis in (1, 2)]


@rows("ScaleAndTranslate")
def scale_and_translate(n: TfLayer, x: Value, size: Value, scale: Value, shift: Value) -> Value:
    kind, wide = n.text("kernel_type", "lanczos3", tuple(KERNELS)), n.flag("antialias", True)
    scales, shifts = n.known(scale), n.known(shift)
    if scales is None or shifts is None or not _are_known(n, x, size):
        late = [
            sampled_late(*pair, kind, wide, Term(n, scale).column(i), Term(n, shift).column(i))
            for i, pair in enumerate(_sizes_late(n, x, size))
        ]
        return weighted(n, x, *late)
    pairs = zip(_sizes(n, x, size), scales.tolist(), shifts.tolist(), strict=True)
    return weighted(n, x, *(sampled(*sizes, s, t, kind, wide) for sizes, s, t in pairs))


@rows("ResizeArea")
def resize_area(n: TfLayer, x: Value, size: Value) -> Value:
    """Resize by the mean of the area that each element of the result covers."""
    if n.flag("align_corners"):
        raise n.error("'align_corners' is not supported")
    if _are_known(n, x, size):
        return weighted(n, x, *(covered(*pair) for pair in _sizes(n, x, size)))
    return weighted(n, x, *(sampled_late(*p, "area", True) for p in _sizes_late(n, x, size)))


@rows("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")
def projected(
    n: TfLayer, x: Value, transforms: Value, size: Value, fill: Value | None = None
) -> Value:
    border = n.text("fill_mode", "CONSTANT")
    known = np.zeros(()) if fill is None else n.known(fill)
    if known is None or known.size != 1:
        raise n.error("the fill value must be one number that is known at import")
    value = float(known.item())
    if border not in ("CONSTANT", *FILL_MODES):
        raise n.error(f"'fill_mode' is {border}, expected CONSTANT, {', '.join(FILL_MODES)}")
    if x.type.rank != 4:
        raise n.error(f"the input is '{x.type}', expected images [N, H, W, C]")
    height, width = n.known_ints(size, "the size")
    mode = {"BILINEAR": "linear", "NEAREST": "nearest"}[n.text("interpolation", "NEAREST")]
    where, to = Term(n, transforms), (height, width)
    if border != "CONSTANT" or value == 0:
        return images.projected(n, x, where, to, mode, inside=FILL_MODES.get(border))
    element = x.type.element_type
    if not isinstance(element, FloatType):
        raise n.error("a border of integers other than 0 is not supported")
    found = images.projected(n, (Term(n, x) - value).value, where, to, mode)
    return (Term(n, found) + value).value


def _mirrored(place: Term, count: Term) -> Term:
    """Places of [abcd] in [dcba|abcd|dcba]."""
    period = count * 2.0
    low = period * (-place / period).function(nn.Floor) + place
    low = (low < -count).choose(low + period, -low - 1.0)
    high = place - period * (place / period).function(nn.Floor)
    high = (high >= count).choose(period - high - 1.0, high)
    return _either(place, count, low, high)


def _wrapped(place: Term, count: Term) -> Term:
    """Places of [abcd] in [abcd|abcd|abcd]; those between two copies count as TensorFlow has it."""
    last = (count - 1.0).max(1.0)
    low = place + count * ((-place / last).function(nn.Floor) + 1.0)
    high = place - count * (place / last).function(nn.Floor)
    return _either(place, count, low, high)


def _either(place: Term, count: Term, low: Term, high: Term) -> Term:
    """`low` for places before the image, `high` for those behind it."""
    return _nearest((place < 0.0).choose(low, (place > count - 1.0).choose(high, place)), count)


def _nearest(place: Term, count: Term) -> Term:
    return place.max(0.0).min(count - 1.0)


FILL_MODES = {"REFLECT": _mirrored, "WRAP": _wrapped, "NEAREST": _nearest}
"""How places outside of an image are mapped to its own. Source: `MapCoordinate` of TensorFlow."""
