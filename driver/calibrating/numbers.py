"""Combines a number from several rounds: the median, with the extremes as its spread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from ...targets.calibration import Number


@dataclass(frozen=True)
class Fitted:
    """Measured numbers by the description's fields, and further ones without a field."""

    numbers: Mapping[str, Number]
    observed: Mapping[str, Number]


def digits(value: float) -> float:
    """The value rounded to three digits: more mean nothing, and would tell equal machines apart."""
    return float(f"{value:.3g}")


def number(values: Sequence[float], taken: Callable[[float], float] = digits) -> Number:
    """The median converted by `taken`, with the spread as measured."""
    return Number(taken(median(values)), digits(min(values)), digits(max(values)))
