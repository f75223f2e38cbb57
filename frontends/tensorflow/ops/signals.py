"""Complex numbers, Fourier transforms, and audio spectra."""

from __future__ import annotations

from ...common import formulas, fourier
from ...common.complexes import Pair, pair, terms
from ...common.vocabulary import *
from ..complexes import complex_of
from ..layer import TfLayer, rows


@rows("Complex")
def complex_(n: TfLayer, real: Value, imag: Value) -> Any:
    return Pair(real, imag)


@rows("Real", "Imag")
def part(n: TfLayer, x: Any) -> Value:
    found = complex_of(n, x)
    return found.real if n.kind == "Real" else found.imag


@rows("ComplexAbs")
def magnitude(n: TfLayer, x: Pair) -> Value:
    return formulas.hypot(*terms(n, x)).value


@rows("Angle")
def angle(n: TfLayer, x: Pair) -> Value:
    real, imag = terms(n, x)
    return formulas.atan2(imag, real).value


@rows("Conj")
def conjugate(n: TfLayer, x: Any) -> Any:
    return Pair(x.real, n(nn.Neg(x.imag))) if isinstance(x, Pair) else x


# -- transforms ------------------------------------------------------------------------------------


def _sizes(n: TfLayer, length: Value | None, count: int) -> list[Term | None]:
    if length is None:
        return [None] * count
    given = Term(n, as_i64(n, length))
    return [given.column(i, 0) for i in range(count)]


def transform(inverse: bool, half: bool, count: int) -> Callable[..., Any]:
    """A converter of transforms along the last `count` dimensions; `half` for real numbers."""

    def convert(n: TfLayer, x: Any, length: Value | None = None) -> Any:
        sizes = _sizes(n, length, count)
        parts = terms(n, x) if isinstance(x, Pair) else (Term(n, x), None)
        rank = parts[0].rank
        axes = range(rank - count, rank)
        real, imag = fourier.along_axes(parts, list(zip(axes, sizes, strict=True)), inverse, half)
        return real.value if imag is None else pair(real, imag)

    return convert


for _count, _suffix in enumerate(("", "2D", "3D"), 1):
    for _half, _name in ((False, f"FFT{_suffix}"), (True, f"RFFT{_suffix}")):
        rows.add(
            {_name: transform(False, _half, _count), f"I{_name}": transform(True, _half, _count)}
        )


# -- sound -----------------------------------------------------------------------------------------


@rows("AudioSpectrogram")
def spectrogram(n: TfLayer, x: Value) -> Value:
    """[samples, channels] -> [channels, frames, bins], with Hann's window."""
    window, stride = n.int("window_size"), n.int("stride")
    size = 1 << max(window - 1, 0).bit_length()
    samples = x.type.shape[0]
    if samples is None or samples < window:
        raise n.error(f"{samples} samples are fewer than a window of {window}")
    starts = np.arange((samples - window) // stride + 1) * stride
    places = constant(n, starts[:, None] + np.arange(window))
    channels = Term(n, swapped(n, x, 0, 1))
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window)
    frames = channels.gather(places, 1) * constant(n, hann, f32)
    whole = n.constant(size, i64)
    real, imag = fourier.on_rows(
        (frames, None), lambda rows: fourier.transformed(rows, Term(n, whole), False, True)
    )
    power = real * real if imag is None else real * real + imag * imag
    return (power if n.flag("magnitude_squared") else power.function(nn.Sqrt)).value


def _mel(hertz: Any) -> Any:
    """A frequency on the mel scale of TensorFlow's mfcc_mel_filterbank."""
    return 1127.0 * np.log1p(np.asarray(hertz) / 700.0)


def _mel_weights(bins: int, rate: float, channels: int, low: float, high: float) -> np.ndarray:
    """Half-overlapping triangular filters, evenly spaced in mel: [bins, channels]"""
    centers = _mel(low) + (_mel(high) - _mel(low)) / (channels + 1) * np.arange(1, channels + 2)
    step = 0.5 * rate / (bins - 1)
    first, last = int(1.5 + low / step), int(high / step)
    weights = np.zeros((bins, channels))
    edges = np.concatenate([[_mel(low)], centers])
    for i in range(first, min(last, bins - 1) + 1):
        mel = _mel(i * step)
        channel = int(np.searchsorted(centers[:channels], mel))
        share = (centers[channel] - mel) / (edges[channel + 1] - edges[channel])
        if channel > 0:
            weights[i, channel - 1] += share
        if channel < channels:
            weights[i, channel] += 1 - share
    return weights


@rows("Mfcc")
def mfcc(n: TfLayer, x: Value, rate: Value) -> Value:
    """Cepstral coefficients of a spectrogram's mel bands: [.., bins] -> [.., coefficients]"""
    bands, count = n.int("filterbank_channel_count", 40), n.int("dct_coefficient_count", 13)
    limits = n.float("lower_frequency_limit", 20.0), n.float("upper_frequency_limit", 4000.0)
    bins = x.type.shape[-1]
    if bins is None:
        raise n.error("the number of bins must be known")
    weights = _mel_weights(bins, float(n.known_int(rate, "the rate")), bands, *limits)
    size = Term(n, x).function(nn.Sqrt) @ constant(n, weights, f32)
    places = np.arange(bands)[:, None] + 0.5
    cosines = np.sqrt(2 / bands) * np.cos(np.pi / bands * places * np.arange(count))
    return (size.max(1e-12).function(nn.Log) @ constant(n, cosines, f32)).value
