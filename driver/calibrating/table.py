"""A calibration as a table beside the built-in numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from ...targets.calibration import BOUNDS, Calibration
from ...targets.machine import Machine

REFUSED = "refused"
"""The key in `about` of the measured numbers that were rejected, a line each."""


def table(found: Calibration, machine: Machine) -> Iterator[str]:
    """Lines with each number as built in and as measured, with its spread."""
    rows = [("number", "built in", "measured", "spread")]
    for path, number in found.numbers.items():
        spread = f"{number.low:g} .. {number.high:g}"
        rows.append((path, f"{value_of(machine, path):g}", f"{number.value:g}", spread))
    for name, number in found.observed.items():
        spread = f"{number.low:g} .. {number.high:g}"
        rows.append((f"({name})", "", f"{number.value:g}", spread))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for name, *others in rows:
        cells = (f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join((f"{name:{widths[0]}}", *cells))
    yield "in brackets: what no field of the description has, for information"
    yield f"as described: {', '.join(unmeasured(found, machine))}"
    yield ", ".join(f"{key}: {value}" for key, value in found.about.items() if key != REFUSED)


def value_of(machine: Machine, path: str) -> float:
    """A machine's number at a path such as `costs.operations.exp`."""
    value: Any = machine
    for name in path.split("."):
        value = getattr(value, name)
    return value


def unmeasured(found: Calibration, machine: Machine) -> Iterator[str]:
    """The unmeasured fields of a machine; groups of its costs are named as a whole."""
    for field in fields(machine):
        value = getattr(machine, field.name)
        if not is_dataclass(value) and field.name not in found.numbers:
            yield field.name
    costs = [path for path in BOUNDS if path.startswith("costs.")]
    if any(path in found.numbers for path in costs):
        yield from (path for path in costs if path not in found.numbers)
        yield "all other costs"
    else:
        yield "all costs"
