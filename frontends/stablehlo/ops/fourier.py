"""Fourier transforms of the last dimensions."""

from __future__ import annotations

from ...common.complexes import Pair, pair, terms
from ...common.fourier import Complex, along, transformed
from ...common.vocabulary import *
from ..layer import HloLayer, rows


@rows("stablehlo.fft")
def fft(n: HloLayer, x: Any) -> Any:
    kind, lengths = n.op.fft_type, n.op.fft_length
    rank = x.type.rank
    value: Complex = terms(n, x) if isinstance(x, Pair) else (Term(n, x), None)
    axes = list(range(rank - len(lengths), rank))
    if None in x.type.shape[rank - len(lengths) :]:
        raise n.error("a transform needs known extents")
    inverse, half = kind in ("IFFT", "IRFFT"), kind in ("RFFT", "IRFFT")

    def work(half: bool) -> Callable[[Complex], Complex]:
        size = constant(n, lengths[-1], i64) if half else None
        return lambda rows: transformed(rows, size, inverse, half)

    if kind == "RFFT":
        value = along(value, rank - 1, work(True))
    for axis in reversed(axes[:-1] if half else axes):
        value = along(value, axis, work(False))
    if kind == "IRFFT":
        return along(value, rank - 1, work(True))[0].value
    real, imag = value
    assert imag is not None
    return pair(real, imag)
