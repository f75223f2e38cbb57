"""Values as text: the same on every machine, and short enough to be checked line by line.

    result #0: f32[2x3]
    [[1.0, -0.0, nan],
     [inf, 0.1, 1e-20]]

Each float is the shortest decimal number that its type reads back as the same value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..ir.diagnostics import NncError
from ..ir.numpy_types import number_kind, numpy_to_type

SHOWN = 8


def type_text(value: Any) -> str:
    """The type of a value as text: `f32[2x3]`, `i64`."""
    array = np.asarray(value)
    try:
        element = str(numpy_to_type(array.dtype))
    except NncError:
        element = str(array.dtype)
    return f"{element}[{'x'.join(map(str, array.shape))}]" if array.ndim else element


def number_text(value: Any) -> str:
    """The text of one element."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    array = np.asarray(value)
    if number_kind(array.dtype) in "iu":
        return str(int(value))
    if array.dtype.kind == "c":
        return f"({number_text(np.real(array)[()])}, {number_text(np.imag(array)[()])})"
    if array.dtype.kind == "f" or array.dtype.kind == "V":
        return str(value) if array.dtype.kind == "f" else str(float(value))
    return str(value)


def full_text(value: Any) -> str:
    """All elements, with the last dimension on a line."""
    return _rows(np.asarray(value), 0)


def _rows(array: np.ndarray, depth: int) -> str:
    if array.ndim == 0:
        return number_text(array[()])
    if array.ndim == 1:
        return "[" + ", ".join(number_text(v) for v in array) + "]"
    gap = ",\n" + " " * (depth + 1)
    return "[" + gap.join(_rows(row, depth + 1) for row in array) + "]"


def summary_text(value: Any) -> str:
    """The least, largest and mean finite element, the number of others, and the first few."""
    array = np.asarray(value)
    flat = array.reshape(-1)
    first = ", ".join(number_text(v) for v in flat[:SHOWN]) + (", .." if flat.size > SHOWN else "")
    if array.ndim == 0 or array.dtype.kind in "bc" or not flat.size:
        return first
    wide = flat if array.dtype.kind in "iu" else flat.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    parts = []
    if finite.size:
        parts.append(f"min {finite.min():.6g} max {finite.max():.6g} mean {finite.mean():.6g}")
    if finite.size < flat.size:
        parts.append(f"nan {int(np.isnan(wide).sum())} inf {int(np.isinf(wide).sum())}")
    return f"{' '.join(parts)}: {first}"


def print_values(values: Mapping[str, Any], style: str) -> str:
    """The text of named values: `full`, `summary`, or nothing for `none`."""
    if style == "none":
        return ""
    lines = []
    for name, value in values.items():
        if style == "summary":
            lines.append(f"{name}: {type_text(value)} {summary_text(value)}")
        else:
            lines += [f"{name}: {type_text(value)}", full_text(value)]
    return "".join(line + "\n" for line in lines)


def compare_values(
    values: Mapping[str, Any], expected: Mapping[str, np.ndarray], rtol: float, atol: float
) -> list[str]:
    """Complaints where |value - expected| > atol + rtol * |expected|; NaN equals NaN."""
    by_name = dict(expected)
    if not set(by_name) <= {key_of(name) for name in values}:
        if len(by_name) != len(values):
            return [f"{len(values)} values, but the reference has {len(by_name)}"]
        by_name = dict(zip((key_of(name) for name in values), by_name.values(), strict=True))
    complaints = []
    for name, value in values.items():
        want = by_name.get(key_of(name))
        if want is None:
            continue
        got = np.asarray(storable(value))
        if got.shape != want.shape:
            complaints.append(f"{name}: shape {got.shape}, but the reference has {want.shape}")
            continue
        with np.errstate(all="ignore"):
            wrong = ~np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
        if wrong.any():
            at = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
            place = f" at [{', '.join(map(str, at))}]" if at else ""
            complaints.append(
                f"{name}: {int(wrong.sum())} of {wrong.size} elements differ; first{place}: "
                f"{number_text(got[at])}, but the reference has {number_text(want[at])}"
            )
    return complaints


def key_of(name: str) -> str:
    """The name of a value in an .npz file: `result0` for `result #0`."""
    return name.replace(" #", "")


def storable(value: Any) -> np.ndarray:
    """The value in a type that NumPy's files support: floats that NumPy lacks as f32."""
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype.kind == "V" or array.dtype.num >= 256 else array
