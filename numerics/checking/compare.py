"""Comparison of two values, bit by bit or within a tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...dialects import arith
from ...ir.core import Operation
from ...ir.numpy_types import number_kind
from ...ir.passes import Pass
from ...ir.types import FLOAT_KINDS, element_type
from ..options import NumericsOptions

Strictness = Literal["exact", "rounding", "approximate"]

_BY_TYPE = {"float64": 1e-10, "float32": 1e-4, "complex64": 1e-4, "complex128": 1e-10}
_SMALL = 8
"""The tolerance of types narrower than f32. Units: units in the last place."""


@dataclass(frozen=True)
class Tolerance:
    """How much a pass may change values, see docs/numerics.md.

    `exact`: not a bit, but all NaN are equal. `rounding`: floats differ by at most `relative` times
    the largest finite value of the array; NaN and infinities stay where they are. `approximate`: in
    addition, elements that are NaN or infinite on either side may differ.
    """

    strictness: Strictness
    relative: float | None = None
    signed_zeros: bool = True
    """Whether -0.0 differs from 0.0; `nn` does not keep the sign of a zero."""

    def of(self, dtype: np.dtype) -> float:
        """The allowed error of a dtype, relative to the largest value."""
        if self.strictness == "exact" or number_kind(dtype) in "biu":
            return 0.0
        if dtype.name in _BY_TYPE:
            least = _BY_TYPE[dtype.name]
        else:
            import ml_dtypes

            least = _SMALL * float(ml_dtypes.finfo(dtype).eps)
        return least if self.relative is None else max(self.relative, 0.0)


def tolerance_of(one: Pass, options: NumericsOptions, module: Operation) -> Tolerance:
    """The tolerance of a pass: from its `numerics` (default: exact) or the options.

    If the module has operations with `factor_bits`, values may differ as much as by rounding to so
    many bits. Any pass may remove casts with the flag `contract` by folding; results that depend on
    a value which is rounded there are compared with the tolerance of its type.
    """
    strictness: Strictness = "exact" if options.exact else getattr(one, "numerics", "exact")
    on_graph, relative = False, options.tolerance
    for op in module.walk():
        on_graph = on_graph or op.name.startswith("nn.")
        if isinstance(op, arith.TruncF) and op.contracts() and not options.exact:
            strictness = "approximate"  # what is not rounded between may be finite at the end
            if options.tolerance is None:
                kind = element_type(op.out.type).kind
                relative = max(relative or 0.0, _SMALL * 2.0 ** -FLOAT_KINDS[kind][2])
        bits = getattr(op, "factor_bits", 0)
        if bits and options.tolerance is None:  # the model allows rows to be rounded to so many
            relative = max(relative or 0.0, 2.0 ** (2 - bits))
    return Tolerance(strictness, relative, signed_zeros=not on_graph)


@dataclass(frozen=True)
class Difference:
    """The worst element: its index, both values, the error and the allowed error."""

    index: tuple[int, ...]
    before: Any
    after: Any
    error: float
    allowed: float

    def __str__(self) -> str:
        at = f" at [{', '.join(map(str, self.index))}]" if self.index else ""
        allowed = f"allowed {self.allowed:.3g}" if self.allowed else "allowed none"
        return f"before {self.before}, after {self.after}{at}; error {self.error:.3g}, {allowed}"


def find_difference(
    before: Any, after: Any, tolerance: Tolerance, overflows: bool = False
) -> Difference | None:
    """The worst difference of two values; None if they agree.

    With `overflows`, a sum may be infinite in one order and finite in another.
    """
    if isinstance(before, list | dict) or before is None:
        return _of_host_values(before, after, tolerance, overflows)
    a, b = np.asarray(before), np.asarray(after)
    if a.shape != b.shape or a.dtype != b.dtype:
        return Difference((), _kind(a), _kind(b), float("inf"), 0.0)
    if a.dtype.kind in "OSU":
        return None if (a == b).all() else Difference((), before, after, float("inf"), 0.0)
    if not a.size:
        return None
    if number_kind(a.dtype) in "biu":
        return _of_integers(a, b)
    return _of_floats(a, b, tolerance, overflows)


def _of_host_values(
    before: Any, after: Any, tolerance: Tolerance, overflows: bool
) -> Difference | None:
    """The first difference of two sequences or maps, or of None and a value."""
    if type(before) is not type(after):
        return Difference((), before, after, float("inf"), 0.0)
    if isinstance(before, dict):
        if before.keys() != after.keys():
            return Difference((), before, after, float("inf"), 0.0)
        after, before = [after[key] for key in before], list(before.values())
    if before is None:
        return None
    if len(before) != len(after):
        return Difference((), before, after, float("inf"), 0.0)
    pairs = zip(before, after, strict=True)
    found = (find_difference(a, b, tolerance, overflows) for a, b in pairs)
    return next((one for one in found if one is not None), None)


def _kind(array: np.ndarray) -> str:
    return f"{array.dtype}[{'x'.join(map(str, array.shape))}]"


def _of_integers(a: np.ndarray, b: np.ndarray) -> Difference | None:
    wrong = a != b
    if not wrong.any():
        return None
    at = _first(wrong)
    return Difference(at, a[at], b[at], float(abs(int(a[at]) - int(b[at]))), 0.0)


def _first(wrong: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))


def _of_floats(
    a: np.ndarray, b: np.ndarray, tolerance: Tolerance, overflows: bool
) -> Difference | None:
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        x, y = a.astype(wide), b.astype(wide)
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        if tolerance.strictness == "exact":
            if wide is np.float64 and tolerance.signed_zeros:
                same &= (np.signbit(x) == np.signbit(y)) | np.isnan(x)
            allowed = 0.0
        else:
            finite = np.isfinite(x) & np.isfinite(y)
            if overflows or tolerance.strictness == "approximate":
                same |= ~finite
            largest = float(np.max(np.abs(x[finite]), initial=0.0))
            allowed = tolerance.of(a.dtype) * largest + _least(a.dtype)
            same |= finite & (np.abs(x - y) <= allowed)
        if same.all():
            return None
        error = np.where(same, -1.0, np.abs(x - y))
        at = _first(np.isnan(error)) if np.isnan(error).any() else _first(error == error.max())
        found = float(abs(x[at] - y[at]))
    return Difference(at, a[at], b[at], found, allowed)


def _least(dtype: np.dtype) -> float:
    """The absolute error that is allowed for denormals, which may be flushed to zero."""
    if dtype.kind == "c":
        dtype = np.dtype(np.float32 if dtype.itemsize == 8 else np.float64)
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype).tiny)
