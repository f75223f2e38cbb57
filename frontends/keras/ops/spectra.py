"""Spectra of sound, by convolutions with sines and cosines."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import KerasLayer, layer
from .convolution import PADDINGS, kernel_first
from .reshaping import is_channels_first

EPSILON = 1e-7
"""Keras's own, `keras.config.epsilon()`."""


@layer("STFTSpectrogram")
def stft_spectrogram(n: KerasLayer) -> Value:
    """[N, samples, channels] -> [N, frames, channels * bins], or with `expand_dims` [N, frames,
    bins, channels]; with channels first what stands behind the batch is [channels, bins, frames].
    """
    first, mode = is_channels_first(n), n.option("mode", "log")
    x = n.tensor()
    signal = x if first else swapped(n, x, 1, 2)
    parts = [_transformed(n, signal, kernel) for kernel in n.weights(1, 2)]
    found = _of_mode(n, mode, parts)
    if n.option("expand_dims", False):
        return found.transpose(0, 1, 3, 2).value if first else found.transpose(0, 3, 2, 1).value
    flat = merge(n, found.value, ((0, 1), (1, 3), (3, 4)))
    return flat if first else swapped(n, flat, 1, 2)


def _transformed(n: KerasLayer, signal: Value, kernel: Value) -> Term:
    """[N, channels, samples] and [window, 1, bins] -> [N, channels, bins, frames]"""
    rows = merge(n, signal, ((0, 2), (2, 2), (2, 3)))
    length = n.integer("frame_length")
    step = n.option("frame_step", None) or length // 2
    padding = PADDINGS[n.choice("padding", "valid", "same", default="valid")]
    weight = kernel_first(n, n.cast(kernel, signal.type.element_type))
    y = convolution(n, rows, weight, strides=[step], dilations=[1], padding=padding)
    return Term(n, y).reshape((signal, 0), (signal, 1), (y, 1), (y, 2))


def _of_mode(n: KerasLayer, mode: str, parts: list[Term]) -> Term:
    if mode in ("real", "imag"):
        return parts[0]
    real, imag = parts
    if mode == "stft":
        return joined([real, imag], 2)
    if mode == "angle":
        return atan2(imag, real)
    power = real * real + imag * imag
    if mode == "psd":
        inner = power.part(2, 1, (power.shape[2] or 0) - 1)
        return power + Term(n, padded_by(n, inner.value, (0, 0, 1, 0, 0, 0, 1, 0)))
    root = power.max(EPSILON).function(nn.Sqrt)
    if mode not in ("magnitude", "log"):
        raise n.error(
            f"'mode' is {mode!r}, expected log, magnitude, psd, real, imag, angle or stft"
        )
    return root if mode == "magnitude" else root.max(EPSILON).function(nn.Log)


@layer("MelSpectrogram")
def mel_spectrogram(n: KerasLayer) -> Value:
    """[.., samples] -> [.., bands, frames], in decibels below the loudest with `power_to_db`."""
    x = n.tensor()
    if x.type.element_type not in (f32, f64):
        x = n.cast(x, f32)
    lead = list(range(x.type.rank - 1))
    size = n.integer("fft_length", 2048)
    rows = merge(n, x, ((0, len(lead)), (len(lead), x.type.rank))) if len(lead) > 1 else x
    rows = rows if lead else reshape(n, x, [1, (x, 0)])
    image = reshape(n, rows, [(rows, 0), 1, (rows, 1)])
    image = padded_by(n, image, (0, 0, size // 2, 0, 0, size // 2), mode="reflect")
    stride = [n.integer("sequence_stride", 512)]
    real, imag = (
        Term(n, convolution(n, image, w, strides=stride, dilations=[1], padding="VALID"))
        for w in _waves(n, size, x.type.element_type)
    )
    power = (real * real + imag * imag) ** (n.number("mag_exp", 2.0) / 2)
    bands = constant(n, _mel_weights(n, size // 2 + 1).T, power.element) @ power
    if n.option("power_to_db", True):
        bands = _decibels(n, bands)
    return bands.reshape(*((x, i) for i in lead), (bands.value, 1), (bands.value, 2)).value


def _waves(n: KerasLayer, size: int, element: Type) -> tuple[Value, Value]:
    """Cosines and sines in the window, [bins, 1, size] each."""
    length, kind = n.integer("sequence_length", 0) or size, n.option("window", "hann")
    if kind not in ("hann", "hamming") or length > size:
        raise n.error(f"a window {kind!r} of {length} samples is not supported")
    middle = 0.5 if kind == "hann" else 0.54
    window = middle - (1 - middle) * np.cos(2 * np.pi * np.arange(length) / length)
    before = (size - length) // 2
    window = np.pad(window, (before, size - length - before))
    turns = np.outer(np.arange(size // 2 + 1), np.arange(size)) % size * (2 * np.pi / size)
    waves = (np.cos(turns) * window, -np.sin(turns) * window)
    real, imag = (constant(n, wave[:, None], element).value for wave in waves)
    return real, imag


def _mel_weights(n: KerasLayer, bins: int) -> np.ndarray:
    """Triangles of height 1, evenly on HTK's mel scale: [bins, bands]; no band has bin 0."""
    rate, count = n.number("sampling_rate", 16000), n.integer("num_mel_bins", 128)
    edges = n.number("min_freq", 20.0), float(n.option("max_freq", None) or rate / 2)

    def mel(hertz: Any) -> np.ndarray:
        return 2595.0 * np.log10(1.0 + np.asarray(hertz) / 700.0)

    places = np.linspace(mel(edges[0]), mel(edges[1]), count + 2)
    at = mel(np.linspace(0, rate / 2, bins))[:, None]
    rising = (at - places[:-2]) / (places[1:-1] - places[:-2])
    falling = (places[2:] - at) / (places[2:] - places[1:-1])
    weights = np.maximum(np.minimum(rising, falling), 0)
    weights[0] = 0
    return weights


def _decibels(n: KerasLayer, power: Term) -> Term:
    """Ten times the decimal logarithm over that of the reference, at most so much below the top."""
    least = n.number("min_power", 1e-10)
    reference = max(abs(n.number("ref_power", 1.0)), least)
    loud = power.max(least).function(nn.Log) * (10 / math.log(10)) - 10 * math.log10(reference)
    top = loud.largest(*range(loud.rank), keep=True)
    return loud.max(top - n.number("top_db", 80.0))
