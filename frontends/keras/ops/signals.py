"""Fourier transforms of functional models, and layers for audio spectra."""

from __future__ import annotations

from ...common import fourier
from ...common.arrays import window
from ...common.vocabulary import *
from ..layer import KerasLayer, layer
from .convolution import PADDINGS
from .reshaping import is_channels_first

LEAST = 1e-7
"""Keras' epsilon: the least operand of a logarithm or root."""


def _real(n: KerasLayer) -> Term:
    return Term(n, n.floating(n.tensor()))


def _number(n: KerasLayer, value: int | None) -> Term | None:
    return None if value is None else constant(n, value, i64)


def _pair(n: KerasLayer) -> list[Term]:
    """The real and imaginary parts that a transform is called with."""
    parts = [Term(n, x) for x in n.tensors()]
    if len(parts) != 2:
        raise n.error("it is not called with a real and an imaginary part")
    return parts


def _outside(x: Term, found: fourier.Complex) -> list[Value]:
    real, imaginary = found
    return [real.value, ((x * 0.0) if imaginary is None else imaginary).value]


@layer("ops.FFT", "ops.IFFT", "ops.FFT2", "ops.IFFT2")
def transform(n: KerasLayer) -> list[Value]:
    real, imaginary = _pair(n)
    inverse, parts = "IFFT" in n.kind, (real, imaginary)
    for axis in range(real.rank - (2 if n.kind.endswith("2") else 1), real.rank):
        parts = fourier.along(parts, axis, lambda x: fourier.transformed(x, None, inverse))
    return _outside(real, parts)


@layer("ops.RFFT")
def real_transform(n: KerasLayer) -> list[Value]:
    x, size = _real(n), _number(n, n.option("fft_length", None))
    return _outside(x, fourier.on_rows((x, None), lambda v: _half(v, size)))


def _half(rows: fourier.Complex, size: Term | None) -> fourier.Complex:
    return fourier.transformed(rows, size, False, half=True)


@layer("ops.IRFFT")
def inverse_real_transform(n: KerasLayer) -> Value:
    real, imaginary = _pair(n)
    size = _number(n, n.option("fft_length", None))
    found = fourier.on_rows(
        (real, imaginary), lambda v: fourier.transformed(v, size, True, half=True)
    )
    return found[0].value


# -- frames ----------------------------------------------------------------------------------------


def _frames(n: KerasLayer, x: Term, length: int, step: int) -> Term:
    """[.., samples] as [.., frames, length]"""
    samples = x.shape[-1]
    if samples is None or samples < length:
        raise n.error(f"{samples} samples are fewer than a frame of {length}")
    starts = np.arange((samples - length) // step + 1) * step
    return x.gather(constant(n, starts[:, None] + np.arange(length)), x.rank - 1)


@layer("ops.ExtractSequences")
def extract_sequences(n: KerasLayer) -> Value:
    length, step = n.integer("sequence_length"), n.integer("sequence_stride")
    return _frames(n, Term(n, n.tensor()), length, step).value


def _window(n: KerasLayer, length: int, size: int) -> np.ndarray:
    """The window of a frame: `length` samples centered in `size`."""
    given = n.option("window", "hann")
    if given is None:
        return np.ones(size, np.float32)
    if isinstance(given, str):
        if given not in ("hann", "hamming"):
            raise n.error(f"'window' is '{given}', expected hann or hamming")
        given = window(given, length, periodic=True)
    before = (size - length) // 2
    return np.pad(np.asarray(given, np.float32), (before, size - length - before))


def _spectra(n: KerasLayer, x: Term) -> fourier.Complex:
    """Short-time Fourier transforms [.., frames, bins] of [.., samples], by the configuration."""
    step, size = n.integer("sequence_stride"), n.integer("fft_length")
    length = n.option("sequence_length", None) or size
    if n.option("center", True):
        sides = [0] * (x.rank - 1) + [size // 2]
        x = Term(n, padded_by(n, x.value, [*sides, *sides], mode="reflect"))
    frames = _frames(n, x, size, step) * constant(n, _window(n, length, size), x.element)
    return fourier.on_rows((frames, None), lambda v: _half(v, None))


@layer("ops.STFT")
def short_time_transform(n: KerasLayer) -> list[Value]:
    x = _real(n)
    return _outside(x, _spectra(n, x))


# -- layers ----------------------------------------------------------------------------------------


def _mel(hertz: Any) -> Any:
    """A frequency on the mel scale. Source: the Hidden Markov Model Toolkit."""
    return 1127.0 * np.log1p(np.asarray(hertz, np.float64) / 700.0)


def _mel_weights(bins: int, rate: float, bands: int, low: float, high: float) -> np.ndarray:
    """Half-overlapping triangular filters, evenly spaced in mel, 0 at 0 Hz: [bins, bands]."""
    edges = np.linspace(_mel(low), _mel(high), bands + 2)
    mels = _mel(np.linspace(0, rate / 2, bins))[:, None]
    rising = (mels - edges[:-2]) / np.diff(edges)[:-1]
    falling = (edges[2:] - mels) / np.diff(edges)[1:]
    weights = np.maximum(np.minimum(rising, falling), 0)
    weights[0] = 0
    return weights


@layer("MelSpectrogram")
def mel_spectrogram(n: KerasLayer) -> Value:
    """[.., samples] -> [.., bands, frames], in decibels."""
    real, imaginary = _spectra(n, _real(n))
    assert imaginary is not None
    power = real * real + imaginary * imaginary
    size = power ** (0.5 * n.number("mag_exp", 2.0))
    rate, bins = n.number("sampling_rate"), real.shape[-1] or 1
    limits = n.number("min_freq", 20.0), float(n.option("max_freq", None) or rate / 2)
    weights = _mel_weights(bins, rate, n.integer("num_mel_bins"), *limits)
    found = size @ constant(n, weights, real.element)
    least, reference = n.number("min_power", 1e-10), n.number("ref_power", 1.0)
    span = n.number("top_db", 80.0)
    if n.option("power_to_db", True):
        whole = found.max(least).function(nn.Log) * (10 / math.log(10.0))
        whole = whole - 10 * math.log10(max(abs(reference), least))
        peak = whole.largest(*range(whole.rank))
        found = whole.max(peak - span)
    return found.mT.value


@layer("STFTSpectrogram")
def stft_spectrogram(n: KerasLayer) -> Value:
    """Convolutions of each channel with sines and cosines, which are weights.

    [B, samples, C] -> [B, frames, C * bins], or with `expand_dims` [B, frames, bins, C]; with
    channels first, [B, C, samples] -> [B, C * bins, frames] or [B, C, frames, bins].
    """
    x, first = _real(n), is_channels_first(n)
    sound = x if first else x.transpose(0, 2, 1)
    channels = sound.shape[1]
    if channels is None:
        raise n.error("the number of channels must be known")
    rows = merge(n, sound.value, ((0, 2), (2, 3)))
    rows = Term(n, rows).reshape((rows, 0), 1, (rows, 1)).value
    step = n.option("frame_step", None) or n.integer("frame_length") // 2
    padding = PADDINGS[n.choice("padding", "valid", "same", default="valid")]

    def part(kernel: Value) -> Term:
        weight = n(nn.Transpose(kernel, permutation=(2, 1, 0)))
        how: dict[str, Any] = {"strides": (step,), "dilations": (1,), "padding": padding}
        return Term(n, convolution(n, rows, weight, **how))

    found = _moded(n, [part(kernel) for kernel in n.weights(1, 2)])
    apart = found.reshape((x.value, 0), channels, (found.value, 1), (found.value, 2))
    if n.option("expand_dims", False):
        return apart.transpose(*((0, 1, 3, 2) if first else (0, 3, 2, 1))).value
    bins = found.shape[1]
    assert bins is not None
    joint = apart.reshape((x.value, 0), channels * bins, (found.value, 2))
    return (joint if first else joint.transpose(0, 2, 1)).value


def _moded(n: KerasLayer, parts: list[Term]) -> Term:
    """The layer's output mode applied to real and imaginary parts [.., bins, frames]."""
    mode = n.choice(
        "mode", "log", "magnitude", "psd", "real", "imag", "angle", "stft", default="log"
    )
    if mode in ("real", "imag"):
        return parts[0]
    real, imaginary = parts
    if mode == "angle":
        return atan2(imaginary, real)
    if mode == "stft":
        return joined(parts, 1)
    power = real * real + imaginary * imaginary
    if mode == "psd":
        bins = power.shape[1] or 1
        twice = np.full((bins, 1), 2.0)
        twice[[0, -1]] = 1
        return power * constant(n, twice, power.element)
    size = power.max(LEAST).function(nn.Sqrt)
    return size if mode == "magnitude" else size.max(LEAST).function(nn.Log)
