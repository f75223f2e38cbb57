"""Fourier transforms of the last dimensions."""

from __future__ import annotations

from typing import Any

from ....ir.types import i64
from ...common.complexes import Pair, pair, terms
from ...common.fourier import Complex, along, fourier, mirrored
from ...common.terms import Term, constant
from ..layer import HloLayer
from ..rows import rows


@rows("stablehlo.fft")
def fft(n: HloLayer, x: Any) -> Any:
    kind, lengths = n.op.fft_type, n.op.fft_length
    rank = x.type.rank
    value: Complex = terms(n, x) if isinstance(x, Pair) else (Term(n, x), None)
    axes = list(range(rank - len(lengths), rank))
    if None in x.type.shape:
        raise n.error("a transform needs a known shape")
    inverse = kind in ("IFFT", "IRFFT")
    last = axes[-1] if kind in ("RFFT", "IRFFT") else None

    def transformed(bins: int, size: int, mirror: bool = False) -> Any:
        count, wanted = (constant(n, v, i64) for v in (size, bins))

        def work(rows: Complex) -> Complex:
            return fourier(mirrored(rows, count) if mirror else rows, count, wanted, inverse)

        return work

    if kind == "RFFT":
        size = lengths[-1]
        value = along(value, rank - 1, transformed(size // 2 + 1, size))
    for axis in reversed([axis for axis in axes if axis != last]):
        size = value[0].shape[axis] or 0
        value = along(value, axis, transformed(size, size))
    if kind == "IRFFT":
        size = lengths[-1]
        return along(value, rank - 1, transformed(size, size, mirror=True))[0].value
    real, imag = value
    assert imag is not None
    return pair(real, imag)
