"""Fourier transforms of the last dimensions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....ir.types import i64
from ...common.fourier import Complex, each, fourier, mirrored
from ...common.terms import Term, constant
from ..complexes import Pair, pair, terms
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
    others = [axis for axis in axes if axis != last]
    if kind == "RFFT":
        value = _along(n, value, rank - 1, lengths[-1] // 2 + 1, inverse)
    for axis in reversed(others):
        value = _along(n, value, axis, value[0].shape[axis] or 0, inverse)
    if kind == "IRFFT":
        count, lead = constant(n, lengths[-1], i64), [d or 0 for d in value[0].shape[:-1]]
        halves = each(value, lambda part: part.flattened(rank - 1))
        found = fourier(mirrored(halves, count), count, count, inverse)
        return found[0].reshape(*lead, lengths[-1]).value
    real, imag = value
    assert imag is not None
    return pair(real, imag)


def _along(n: HloLayer, x: Complex, axis: int, bins: int, inverse: bool) -> Complex:
    """The transforms along an axis, brought to the end for it."""
    shape = x[0].shape
    order = [*(i for i in range(len(shape)) if i != axis), axis]
    size = shape[axis] or 0
    count = math.prod(d or 0 for i, d in enumerate(shape) if i != axis)
    rows_ = each(x, lambda part: part.transpose(*order).reshape(count, size))
    found = fourier(rows_, constant(n, size, i64), constant(n, bins, i64), inverse)
    turned = [shape[i] or 0 for i in order[:-1]]
    back = np.argsort(order).tolist()
    return each(found, lambda part: part.reshape(*turned, bins).transpose(*back))
