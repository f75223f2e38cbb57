"""The differences of arrays, and where they are largest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ir.numpy_types import number_kind


@dataclass(frozen=True)
class Tolerance:
    """The allowed difference of two values: `atol`, and for floats `rtol` of the largest value."""

    rtol: float = 1e-4
    atol: float = 1e-5


@dataclass(frozen=True)
class Difference:
    """The comparison of two arrays: the worst element's index, and its values.

    `fault` is set if they cannot be compared element by element. Otherwise, `wrong` elements of
    `size` differ by more than `allowed`.
    """

    name: str
    fault: str = ""
    index: tuple[int, ...] = ()
    ours: Any = None
    theirs: Any = None
    largest: float = 0.0
    allowed: float = 0.0
    wrong: int = 0
    size: int = 0

    @property
    def differs(self) -> bool:
        return bool(self.fault) or self.wrong > 0


def difference(name: str, ours: Any, theirs: Any, tolerance: Tolerance) -> Difference:
    """Compare two values; NaN equals NaN, and infinities of one sign are equal."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape:
        return Difference(name, f"shape {list(ours.shape)}, but {list(theirs.shape)}")
    if not ours.size:
        return Difference(name)
    if ours.dtype.kind in "OSUT" or theirs.dtype.kind in "OSUT":
        return _worst(name, (ours != theirs).astype(np.float64), 0.0, ours, theirs)
    exact = number_kind(ours.dtype) in "biu" and number_kind(theirs.dtype) in "biu"
    kind = np.complex128 if "c" in (ours.dtype.kind, theirs.dtype.kind) else np.float64
    a, b = ours.astype(kind), theirs.astype(kind)
    with np.errstate(all="ignore"):
        apart = np.abs(a - b)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        apart = np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))
        finite = np.abs(b[np.isfinite(b)])
    allowed = tolerance.atol
    if not exact and finite.size:
        allowed += tolerance.rtol * float(finite.max())
    return _worst(name, apart, allowed, ours, theirs)


def _worst(name: str, apart: np.ndarray, allowed: float, ours: Any, theirs: Any) -> Difference:
    at = tuple(int(i) for i in np.unravel_index(int(np.argmax(apart)), apart.shape))
    wrong = int((apart > allowed).sum())
    largest = float(apart[at])
    return Difference(name, "", at, ours[at], theirs[at], largest, allowed, wrong, apart.size)


def differences(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], tolerance: Tolerance
) -> list[Difference]:
    """The difference of each pair of tensors, paired by name, or else by position."""
    ours, theirs = flattened(ours), flattened(theirs)
    if set(ours) != set(theirs):
        if len(ours) != len(theirs):
            return [Difference("outputs", f"{len(ours)} outputs, but {len(theirs)}")]
        theirs = dict(zip(ours, theirs.values(), strict=True))
    return [difference(name, ours[name], theirs[name], tolerance) for name in ours]


def flattened(values: Mapping[str, Any]) -> dict[str, Any]:
    """The tensors in values, by name: `y.0` in a sequence, `y.key` in a map, none in None."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= flattened({f"{name}.{key}": one for key, one in value.items()})
        elif isinstance(value, list):
            found |= flattened({f"{name}.{i}": one for i, one in enumerate(value)})
        elif value is not None:
            array = np.asarray(value)
            found[name] = array.astype(str) if array.dtype == object else array
    return found
