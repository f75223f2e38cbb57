"""The errors of outputs relative to the original's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_BYTE = 1.0
"""The tolerance of 8-bit integers, which are rounded real numbers."""


@dataclass(frozen=True)
class Accuracy:
    """The comparison of an engine's outputs with the original's.

    `max_abs` is the largest difference of two numbers; `max_rel` the largest relative to the
    largest value of its output; `cosine` the least cosine of the angle between two outputs (None if
    one is zero or there are no numbers); `equal` the share of equal elements. `fault` says why
    outputs cannot be compared, or where one side has no number; the differences are then those of
    the other elements, or None if there are none.
    """

    max_abs: float | None
    max_rel: float | None
    cosine: float | None
    equal: float
    integers_agree: bool = True
    fault: str = ""

    def within(self, tolerance: float) -> bool:
        """Whether floats are within the tolerance, relative to the largest value, and integers and
        texts are equal (8-bit integers within 1).
        """
        close = self.max_rel is None or self.max_rel <= tolerance
        return not self.fault and close and self.integers_agree


def accuracy(found: Sequence[np.ndarray], want: Sequence[np.ndarray]) -> Accuracy:
    """Compare outputs in order; NaN equals NaN, and infinities of one sign are equal."""
    if len(found) != len(want):
        return Accuracy(None, None, None, 0.0, False, f"{len(found)} outputs, but {len(want)}")
    parts = [_compared(i, a, b) for i, (a, b) in enumerate(zip(found, want, strict=True))]
    sizes = [max(1, b.size) for b in want]
    return Accuracy(
        max((one.max_abs for one in parts if one.max_abs is not None), default=None),
        max((one.max_rel for one in parts if one.max_rel is not None), default=None),
        min((one.cosine for one in parts if one.cosine is not None), default=None),
        sum(one.equal * size for one, size in zip(parts, sizes, strict=True)) / max(1, sum(sizes)),
        all(one.integers_agree for one in parts),
        next((one.fault for one in parts if one.fault), ""),
    )


def _compared(index: int, a: np.ndarray, b: np.ndarray) -> Accuracy:
    if a.shape != b.shape and (a.size != b.size or max(1, a.size) != 1):
        fault = f"output {index} has shape {list(a.shape)}, the original's {list(b.shape)}"
        return Accuracy(None, None, None, 0.0, False, fault)
    a = a.reshape(b.shape)
    if a.dtype.kind not in "biufc" or b.dtype.kind not in "biufc":
        same = np.asarray(a.astype(str) == b.astype(str))
        return Accuracy(None, None, None, _share(same), bool(same.all()))
    exact = a.dtype.kind in "biu" and b.dtype.kind in "biu"
    kind = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
    wide_a, wide_b = a.astype(kind), b.astype(kind)
    same = (a == b) if exact else (wide_a == wide_b) | (np.isnan(wide_a) & np.isnan(wide_b))
    finite = np.isfinite(wide_a) & np.isfinite(wide_b)
    lost = int((~finite & ~same).sum())
    fault = f"output {index}: {lost} of {b.size} values are not finite on one side alone"
    with np.errstate(over="ignore"):
        largest = float(np.abs(wide_a[finite] - wide_b[finite]).max(initial=0.0))
    scale = float(np.abs(wide_b[finite]).max(initial=0.0)) or 1.0
    allowed = _BYTE if exact and b.dtype.itemsize == 1 and b.dtype.kind in "iu" else 0.0
    return Accuracy(
        largest if finite.any() else None,
        None if exact or not finite.any() else largest / scale,
        _cosine(wide_a[finite], wide_b[finite]),
        _share(same),
        not exact or bool(same.all()) or 0 < largest <= allowed,
        fault if lost else "",
    )


def _share(same: np.ndarray) -> float:
    return float(same.mean()) if same.size else 1.0


def _cosine(a: np.ndarray, b: np.ndarray) -> float | None:
    lengths = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    if not lengths or not np.isfinite(lengths):
        return None
    return float(np.clip(np.vdot(a, b).real / lengths, -1.0, 1.0))
