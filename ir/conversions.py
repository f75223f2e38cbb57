"""How numbers become elements of another type: rules, and the conversions of NumPy arrays.

Values of models often overflow floats of 8 bits and less, so a rule says what becomes of them;
f8E8M0FNU, which holds powers of two only, also has a rule for rounding.

Source: ONNX Cast-25.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .lazy import np
from .numpy_types import type_to_numpy
from .types import FLOAT_KINDS, FloatType, IntegerType, Type

ROUND_MODES = ("up", "down", "nearest")


@dataclass(frozen=True, slots=True)
class Conversion:
    """Rules of a conversion to a float of 8 bits or less.

    A number that is too large becomes the largest one if `saturate`, else infinity, or NaN in types
    without infinity. `round_mode` is for f8E8M0FNU alone: the next power of two "up" or "down", or
    the "nearest" (the larger of two equally near); other types round to nearest even.
    """

    saturate: bool = True
    round_mode: str = "up"


CASTS = {
    "cast": Conversion(),
    "cast_down": Conversion(round_mode="down"),
    "cast_nearest": Conversion(round_mode="nearest"),
    "cast_overflow": Conversion(saturate=False),
    "cast_down_overflow": Conversion(saturate=False, round_mode="down"),
    "cast_nearest_overflow": Conversion(saturate=False, round_mode="nearest"),
}
"""The functions of comprehensions that convert to a small float, with the rules of each."""

PLAIN = CASTS["cast_nearest_overflow"]
"""The conversion of arithmetic results to the element type."""


def is_small_float(type: Type) -> bool:
    """Whether the type is a float of 8 bits or less, which no machine computes with."""
    return isinstance(type, FloatType) and type.width <= 8


def is_small_integer(type: Type) -> bool:
    """Whether the type is an integer of 2 to 7 bits, which lies in the low bits of a byte."""
    return isinstance(type, IntegerType) and 1 < type.width < 8


def is_small(type: Type) -> bool:
    """Whether elements of the type are converted before anything is computed with them."""
    return is_small_float(type) or is_small_integer(type)


def cast_name(conversion: Conversion) -> str:
    """The name, in `CASTS`, of the comprehension function that converts by these rules."""
    return next(name for name, rules in CASTS.items() if rules == conversion)


def convert(values: np.ndarray, type: Type, rules: Conversion = PLAIN) -> np.ndarray:
    """Convert elements: floats truncate to integers, integers wrap, anything but 0 is true."""
    values, dtype = np.asarray(values), type_to_numpy(type)
    if values.dtype == dtype:
        return values
    if dtype == np.bool_:
        return values != 0
    if isinstance(type, IntegerType):
        return _to_integers(values, dtype)
    if is_small_float(type):
        return _to_small_floats(values, type, rules)
    return values.astype(dtype)


def _to_integers(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if values.dtype.kind in "biu":
        return values.astype(dtype)
    wide = values.astype(np.float64) if values.dtype.char not in "efd" else values
    if dtype.itemsize == 8:
        return wide.astype(dtype)
    return np.trunc(wide).astype(np.uint64 if dtype.kind == "u" else np.int64).astype(dtype)


def _to_small_floats(values: np.ndarray, type: Any, rules: Conversion) -> np.ndarray:
    import ml_dtypes

    exact = values if values.dtype in (np.float32, np.float64) else _as_float(values)
    if FLOAT_KINDS[type.kind][4] == "unsigned":
        return _to_powers_of_two(exact, rules).view(type_to_numpy(type))
    dtype = type_to_numpy(type)
    if FLOAT_KINDS[type.kind][4] == "finite":  # NaN of any sign is the same zero
        exact = np.where(np.isnan(exact), exact.dtype.type(np.nan), exact)
    if rules.saturate:
        info = ml_dtypes.finfo(dtype)
        exact = np.clip(exact, float(info.min), float(info.max))
    return narrowed(exact, dtype)


def _as_float(values: np.ndarray) -> np.ndarray:
    """Floats in which the values are exact: f32, or f64 (rounded) for integers above 16 bits."""
    is_wide = values.dtype.kind in "iu" and values.dtype.itemsize > 2
    return values.astype(np.float64 if is_wide else np.float32)


def narrowed(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Round f32 or f64 values once to a dtype of ml_dtypes, to nearest even.

    ml_dtypes converts f64 to small floats by way of f32. Here that first step rounds inexact
    values to odd, so that the second rounding is as if there had been one.
    """
    if values.dtype != np.float64:
        return values.astype(dtype)
    near = np.asarray(values, np.float32)
    even = (near.view(np.uint32) & 1) == 0
    toward = np.where(near < values, np.float32(np.inf), np.float32(-np.inf))
    inexact = np.isfinite(near) & (near != values)
    return np.where(inexact & even, np.nextafter(near, toward), near).astype(dtype)


def _to_powers_of_two(values: np.ndarray, rules: Conversion) -> np.ndarray:
    """The bytes of f8E8M0FNU: biased exponents of the magnitudes, 255 for NaN."""
    size = np.abs(np.asarray(values, np.float64))
    mantissa, exponent = np.frexp(size)  # of 2**k: 0.5 and k + 1
    shift = {"up": mantissa > 0.5, "nearest": mantissa >= 0.75}.get(rules.round_mode, False)
    code = exponent.astype(np.int64) - 1 + 127 + shift
    if rules.round_mode == "up":
        code = np.maximum(code, 0)
    low, high = (size == 0) | (code < 0), np.isinf(size) | (code > 254)
    least, most = (0, 254) if rules.saturate else (255, 255)
    code = np.select([np.isnan(size), high, low], [255, most, least], code)
    return np.asarray(code, np.uint8)
