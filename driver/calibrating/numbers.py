"""One number of several rounds: the median, with the extremes as its spread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from ...targets.calibration import Number


@dataclass(frozen=True)
class Fitted:
    """Numbers by the fields of the description, and such as it has no field for."""

    numbers: Mapping[str, Number]
    observed: Mapping[str, Number]


def digits(value: float) -> float:
    """Three digits: more say nothing, and make two machines of one."""
    return float(f"{value:.3g}")


def number(values: Sequence[float], taken: Callable[[float], float] = digits) -> Number:
    """What is taken of the median, and the spread as it was measured."""
    return Number(taken(median(values)), digits(min(values)), digits(max(values)))
