"""DFT, STFT and MelWeightMatrix.

A complex number is two elements; formulas work on the real and the imaginary parts separately.

Source: ONNX DFT-20, STFT-17, MelWeightMatrix-17.
"""

from __future__ import annotations

from ...common.fourier import Complex, along, each, fitted, fourier, on_rows, transformed
from ...common.runtime_axes import axes_mask, in_order, order_of
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from ..tensors import element_type


@converter("DFT")
def dft_17(n: Node, x: Value, length: Value | None = None) -> Value:
    axis = normalize_axis(n, n.int("axis", 1), x.type.rank)
    return _dft(n, x, length, lambda part, work: along(part, axis, work))


@converter("DFT", since=20)
def dft(n: Node, x: Value, length: Value | None = None, axis: Value | None = None) -> Value:
    rank = x.type.rank
    if axis is not None and n.known(axis) is None:
        mask = part_of_vector(n, axes_mask(n, axis, rank), 0, rank - 1)
        return _dft(n, x, length, lambda part, work: _along_late(part, mask, work))
    known = -2 if axis is None else n.known_int(axis, "axis")
    place = normalize_axis(n, known, rank)
    return _dft(n, x, length, lambda part, work: along(part, place, work))


def _dft(n: Node, x: Value, length: Value | None, turned: Callable) -> Value:
    """The DFT; `turned(parts, work)` applies `work` to rows along the axis."""
    inverse, onesided = bool(n.int("inverse")), bool(n.int("onesided"))
    size = None if length is None else Term(n, as_scalar(n, as_i64(n, length)))

    def work(rows: Complex) -> Complex:
        return transformed(rows, size, inverse, onesided)

    found = turned(_parts(n, x), work)
    return _together(found).cast(x.type.element_type).value


def _parts(n: Node, x: Value) -> Complex:
    """Real and imaginary parts [..] of numbers [.., 1 or 2]; both if the extent is unknown."""
    wide, count = Term(n, x).cast(_wide(x.type.element_type)), x.type.shape[-1]
    if count not in (1, 2, None):
        raise n.error(f"the last dimension has {count} elements, expected 1 or 2")
    real = wide.column(0)
    if count == 1:
        return real, None
    if count is None:
        wide = joined([wide, real.zeros().spread(0, 1)], -1)
    return real, wide.column(1)


def _wide(element: Type) -> FloatType:
    return f64 if element is f64 else f32


def _together(x: Complex) -> Term:
    """The parts joined in a new last dimension."""
    return joined([part.spread(0, 1) for part in x if part is not None], -1)


def _along_late(x: Complex, mask: Value, work: Callable[[Complex], Complex]) -> Complex:
    """Apply `work` along an axis that is known only at run time."""
    n, shape = x[0].n, (None,) * x[0].rank
    order = order_of(n, mask)
    back = in_order(n, order)

    def turned(part: Term, by: Value) -> Term:
        return part.made(nn.TransposeDynamic(part.value, by, out=TensorType(shape, part.element)))

    found = on_rows(each(x, lambda part: turned(part, order)), work)
    return each(found, lambda part: turned(part, back))


@converter("STFT")
def stft(
    n: Node, signal: Value, step: Value, window: Value | None = None, length: Value | None = None
) -> Value:
    """Frames of the signal every `step` elements, weighted by a window and transformed.

    signal [B, L, 1 or 2] -> frames [B, F, N] -> [B, F, bins, 2]
    """
    rank, element = signal.type.rank, signal.type.element_type
    if rank not in (2, 3) or (window is not None and window.type.rank != 1):
        raise n.error(f"the signal has rank {rank}, expected 3, and a window 1")
    hop = Term(n, as_scalar(n, as_i64(n, step)))
    if length is not None:
        count = Term(n, as_scalar(n, as_i64(n, length)))
    elif window is not None:
        count = extent(n, (window, 0))
    else:
        raise n.error("neither window nor frame_length is given")
    parts = _parts(n, signal) if rank == 3 else (Term(n, signal).cast(_wide(element)), None)
    frames = (extent(n, (signal, 1)) - count) / hop + 1
    places = (counting(n, frames) * hop).spread(0, 1) + counting(n, count)
    parts = each(parts, lambda part: part.gather(places, 1))
    if window is not None:
        row = Term(n, window).cast(_wide(element)).spread(1, 0)
        weights = fitted((row, None), count)[0].reshape((places.value, 1))
        parts = each(parts, lambda part: part * weights)
    bins = count / 2 + 1 if n.int("onesided", 1) else count
    found = on_rows(parts, lambda rows: fourier(rows, count, bins, inverse=False))
    return _together(found).cast(element).value


@converter("MelWeightMatrix")
def mel_weight_matrix(
    n: Node, mels: Value, length: Value, rate: Value, lowest: Value, highest: Value
) -> Value:
    """Triangular filters over the bins of a spectrum, evenly spaced in mel: [bins, mels].

    The mel scale is 2595 log10(1 + f / 700); the edges of the triangles are rounded down to bins.
    """
    count, size, samples = (Term(n, as_scalar(n, as_i64(n, v))) for v in (mels, length, rate))
    low, high = (_mel(Term(n, as_scalar(n, v)).cast(f64)) for v in (lowest, highest))
    step = (high - low) / (count + 2).cast(f64)
    mel = counting(n, count + 2).cast(f64) * step + low
    frequency = ((mel * (math.log(10) / 2595)).function(nn.Exp) - 1.0) * 700.0
    edge = ((size + 1).cast(f64) * frequency / samples.cast(f64)).function(nn.Floor).cast(i64)
    places = counting(n, count)
    left, center, right = (edge.gather(places + i) for i in range(3))
    bins = counting(n, size / 2 + 1).spread(0, 1)

    def ratio(a: Term, b: Term) -> Term:
        return a.cast(f64) / b.max(1).cast(f64)

    rising = left.equals(center).choose(1.0, ratio(bins - left, center - left))
    falling = ratio(right - bins, right - center)
    up = (bins >= left) & (bins <= center)
    down = (bins >= center) & (bins < right)
    out = down.choose(falling, up.choose(rising, 0.0))
    return out.cast(element_type(n.int("output_datatype", 1))).value


_WINDOWS = {
    "HannWindow": (0.5, 0.5, 0.0),
    "HammingWindow": (25 / 46, 21 / 46, 0.0),
    "BlackmanWindow": (0.42, 0.5, 0.5 - 0.42),
}
"""Weights of the mean, and of the first and second cosine."""


@converter(*_WINDOWS)
def window(n: Node, size: Value) -> Value:
    """A window of cosines with a period of `size`, or of `size` - 1 if it is symmetric."""
    mean, first, second = _WINDOWS[n.op_type]
    count = Term(n, as_scalar(n, as_i64(n, size)))
    period = count if n.int("periodic", 1) else count - 1
    angle = counting(n, count).cast(f64) * 2 * math.pi / period.cast(f64)
    found = mean - angle.function(nn.Cos) * first + (angle * 2).function(nn.Cos) * second
    return found.cast(element_type(n.int("output_datatype", 1))).value


def _mel(frequency: Term) -> Term:
    return (frequency / 700.0 + 1.0).function(nn.Log) * (2595 / math.log(10))
