"""Bounds of values over all iterations of the enclosing loops.

An interval's bounds are arrays with an axis for each loop, of length 1 along those on which the
bounds do not depend. So each element of a constant is known by itself. Floats are rounded as the
program rounds them, which is monotonic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ir.core import Operation
from ...ir.types import FloatType, IntegerType, Type

AXES = 16
"""The deepest loop nest."""
_ONE = (1,) * AXES


@dataclass(frozen=True, eq=False)
class Interval:
    """The least and the greatest value, as f64, which holds all integers of 53 bits."""

    low: np.ndarray
    high: np.ndarray

    @property
    def span(self) -> tuple[float, float]:
        """The least and the greatest value over all iterations."""
        return float(self.low.min()), float(self.high.max())

    @property
    def is_known(self) -> bool:
        return bool(np.array_equal(self.low, self.high))


def between(low: Any, high: Any) -> Interval:
    """An interval that does not depend on loops."""
    return Interval(np.full(_ONE, low, np.float64), np.full(_ONE, high, np.float64))


def along(axis: int, numbers: np.ndarray) -> Interval:
    """The interval of a loop's known numbers, one for each iteration."""
    shape = (*_ONE[:axis], len(numbers), *_ONE[axis + 1 :])
    found = np.asarray(numbers, np.float64).reshape(shape)
    return Interval(found, found)


def limits(type: Type) -> Interval:
    """The interval of all values of a type; integers count as signed."""
    if isinstance(type, IntegerType):
        if type.width == 1:
            return between(0, 1)
        return between(-(2.0 ** (type.width - 1)), 2.0 ** (type.width - 1) - 1)
    return between(-np.inf, np.inf)


def joined(one: Interval, other: Interval) -> Interval:
    """The union of two intervals (their hull)."""
    return Interval(np.minimum(one.low, other.low), np.maximum(one.high, other.high))


def held(found: Interval, type: Type) -> Interval:
    """The interval of an operation's result in a type: rounded, or the whole type if it wraps."""
    if isinstance(type, FloatType):
        low, high = found.low, found.high
        if type.kind == "f32":
            low, high = (a.astype(np.float32).astype(np.float64) for a in (low, high))
        return Interval(np.nan_to_num(low, nan=-np.inf, posinf=np.inf, neginf=-np.inf),
                        np.nan_to_num(high, nan=np.inf, posinf=np.inf, neginf=-np.inf))  # fmt: skip
    if isinstance(type, IntegerType):
        whole, (low, high) = limits(type), found.span
        if np.isnan(low) or low < whole.span[0] or high > whole.span[1]:
            return whole
    return found


def _product(a: Interval, b: Interval) -> Interval:
    with np.errstate(all="ignore"):
        corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    corners = [np.where(np.isnan(one), 0.0, one) for one in corners]
    return Interval(np.minimum.reduce(corners), np.maximum.reduce(corners))


def _quotient(a: Interval, b: Interval) -> Interval:
    if not (b.low > 0).all() and not (b.high < 0).all():
        return between(-np.inf, np.inf)
    with np.errstate(all="ignore"):
        corners = [x / y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Interval(np.minimum.reduce(corners), np.maximum.reduce(corners))


def _whole_quotient(a: Interval, b: Interval) -> Interval:
    found = _quotient(a, b)
    return Interval(np.trunc(found.low), np.trunc(found.high))


def _each(function: Callable[[Any], Any]) -> Callable[[Interval], Interval]:
    """The rule of a monotonic function."""
    return lambda a: Interval(function(a.low), function(a.high))


def _pair(function: Callable[[Any, Any], Any]) -> Callable[[Interval, Interval], Interval]:
    return lambda a, b: Interval(function(a.low, b.low), function(a.high, b.high))


def _absolute(a: Interval) -> Interval:
    ends = np.abs(a.low), np.abs(a.high)
    inside = (a.low <= 0) & (a.high >= 0)
    return Interval(np.where(inside, 0.0, np.minimum(*ends)), np.maximum(*ends))


def _unsigned(a: Interval, type: Any) -> Interval:
    """The interval of the same bits read as unsigned."""
    return a if (a.low >= 0).all() else between(0, 2.0**type.width - 1)


def _shifted_left(a: Interval, b: Interval) -> Interval:
    return _product(a, Interval(2.0**b.low, 2.0**b.high))


def _shifted_right(a: Interval, b: Interval) -> Interval:
    return _each(np.floor)(_quotient(a, Interval(2.0**b.low, 2.0**b.high)))


def _masked(a: Interval, b: Interval) -> Interval:
    most = [x.span[1] for x in (a, b) if x.span[0] >= 0]
    return between(0, min(most)) if most else between(-np.inf, np.inf)


_SAME = _each(lambda n: n)
RULES: dict[str, Callable[..., Interval]] = {
    **dict.fromkeys(("arith.addi", "arith.addf"), _pair(np.add)),
    **dict.fromkeys(
        ("arith.subi", "arith.subf"), lambda a, b: Interval(a.low - b.high, a.high - b.low)
    ),
    **dict.fromkeys(("arith.muli", "arith.mulf"), _product),
    "arith.divf": _quotient,
    "arith.divsi": _whole_quotient,
    **dict.fromkeys(("arith.maximumf", "arith.maxnumf", "arith.maxsi"), _pair(np.maximum)),
    **dict.fromkeys(("arith.minimumf", "arith.minnumf", "arith.minsi"), _pair(np.minimum)),
    "arith.negf": lambda a: Interval(-a.high, -a.low),
    **dict.fromkeys(("math.absf", "math.absi"), _absolute),
    "math.roundeven": _each(np.rint),
    "math.floor": _each(np.floor),
    "math.ceil": _each(np.ceil),
    "math.trunc": _each(np.trunc),
    "arith.fptosi": _each(np.trunc),
    "arith.shli": _shifted_left,
    "arith.shrsi": _shifted_right,
    "arith.andi": _masked,
    **dict.fromkeys(
        ("arith.extsi", "arith.sitofp", "arith.extf", "arith.truncf", "arith.trunci",
         "arith.index_cast"),
        _SAME,
    ),
}  # fmt: skip
"""Functions from the operands' intervals to the result's, by operation, before the type limits it.
"""

_OF_BITS = ("arith.extui", "arith.uitofp", "arith.index_castui", "arith.fptoui")


def applied(op: Operation, operands: Sequence[Interval]) -> Interval:
    """The interval of an operation's only result; that of the whole type if no rule knows it."""
    type = op.results[0].type
    if op.name in ("arith.cmpi", "arith.cmpf"):
        return between(0, 1)
    if op.name == "arith.select":
        return joined(operands[1], operands[2])
    if op.name in _OF_BITS and isinstance(op.operands[0].type, IntegerType):
        return held(_unsigned(operands[0], op.operands[0].type), type)
    if op.name in ("arith.extsi", "arith.sitofp") and op.operands[0].type is IntegerType(1):
        return between(-1, 0)
    if op.name == "math.sqrt" and (operands[0].low >= 0).all():
        return held(_each(np.sqrt)(operands[0]), type)
    rule = RULES.get(op.name)
    return limits(type) if rule is None else held(rule(*operands), type)
