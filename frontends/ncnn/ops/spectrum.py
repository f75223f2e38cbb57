"""Short-time Fourier transforms and their inverses."""

from __future__ import annotations

from ...common.fourier import on_rows, transformed
from ...common.vocabulary import *
from ..layer import NcnnLayer, rows


def _frames(n: NcnnLayer) -> tuple[int, int, np.ndarray, float]:
    """(frame length, hop, window, the divisor of spectra)."""
    size = n.int(0)
    hop, width = n.int(2, size // 4), n.int(3, size)
    if size < 2 or hop < 1 or not 0 < width <= size or not 0 <= n.int(4) < 3:
        raise n.error(f"frames of {size} elements, every {hop}, windows of {width}")
    turn = np.cos(2 * np.pi * np.arange(width) / width)
    window = (np.ones(width), 0.5 - 0.5 * turn, 0.54 - 0.46 * turn)[n.int(4)]
    before = (size - width) // 2
    window = np.pad(window, (before, size - width - before))
    norm = (1.0, np.sqrt(size), np.sqrt((window**2).sum()))[n.int(7) if 0 <= n.int(7) < 3 else 0]
    return size, hop, window.astype(np.float32), float(norm)


@rows("Spectrogram")
def spectrogram(n: NcnnLayer, x: Value) -> Value:
    """The spectrogram of a vector: complex [bins, frames, 2], or magnitudes or powers [bins,
    frames].
    """
    size, hop, window, norm = _frames(n)
    if n.int(5, 1):
        pads, mode = (0, size // 2) * 2, ("constant", "edge", "reflect")[n.int(6, 2) % 3]
        x = padded_by(n, x, pads, mode=mode)
    length = x.type.shape[1]
    if x.type.rank != 2 or length is None or length < size:
        raise n.error(f"a signal '{x.type}', expected one of known length, no less than a frame")
    places = np.arange(0, length - size + 1, hop)[:, None] + np.arange(size)
    wide = Term(n, x).gather(constant(n, places.astype(np.int64)), 1) * constant(n, window / norm)
    half = bool(n.int(8, 1))
    found = on_rows((wide, None), lambda rows: transformed(rows, None, False, half))
    real, imaginary = (part.transpose(0, 2, 1) for part in found if part is not None)
    if n.int(1) == 0:
        return joined([real.spread(0, 1), imaginary.spread(0, 1)], 3).value
    power = real * real + imaginary * imaginary
    return (power.function(nn.Sqrt) if n.int(1) == 1 else power).value


@rows("InverseSpectrogram")
def signal(n: NcnnLayer, x: Value) -> Value:
    """The inverse transform of [bins, frames, 2]: frames overlap and add, divided by the sum of
    squared windows.
    """
    size, hop, window, norm = _frames(n)
    bins, frames = x.type.shape[1:3]
    if x.type.rank != 4 or bins not in (size, size // 2 + 1) or frames is None:
        raise n.error(
            f"the spectrum is '{x.type}', expected {size} or {size // 2 + 1} bins, and "
            "a known number of frames"
        )
    spectrum = tuple(Term(n, x).column(i).transpose(0, 2, 1) for i in range(2))
    half = bins != size
    parts = on_rows((spectrum[0], spectrum[1]), lambda rows: transformed(rows, None, True, half))
    total = (frames - 1) * hop + size
    squares = np.zeros(total)
    for i in range(frames):
        squares[i * hop : i * hop + size] += window.astype(np.float64) ** 2
    weights = constant(n, np.where(squares == 0, 1, squares).astype(np.float32))
    begin = size // 2 if n.int(5, 1) else 0
    wanted = [part or parts[0] * 0.0 for part in parts]
    wanted = wanted if n.int(1) == 0 else wanted[n.int(1) == 2 :][:1]
    sums = []
    for part in wanted:
        columns = (part * constant(n, window * np.float32(norm))).transpose(0, 2, 1)
        line = folded(n, columns.value, (1, total), (1, size), (1, hop), (1, 1), (0,) * 4)
        whole = Term(n, line).reshape(1, total) / weights
        sums.append(whole.part(1, begin, total - begin))
    return sums[0].value if len(sums) == 1 else joined([s.spread(0, 1) for s in sums], 2).value
