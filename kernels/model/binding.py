"""How a loop's iterations are executed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Binding:
    """How a loop's iterations are executed; code that reads it need not know the kinds.

    `name` is what messages call such a loop. If `in_tile`, the iterations are elements of an
    n-dimensional vector, so that no loop remains; if `in_lanes`, they lie along its last dimension.
    If `at_once`, iterations may run at the same time; with an `axis` ("x", "y" or "z"), each is a
    group of threads of a device, numbered along that axis. If `mark` is not empty, the operation
    that the loop becomes gets an attribute of that name, whose number is `value`.
    """

    name: str
    in_tile: bool = False
    in_lanes: bool = False
    at_once: bool = False
    axis: str = ""
    mark: str = ""
    value: int = 0


SERIAL = Binding("for")
"""One after the other, as every loop starts."""
PARALLEL = Binding("parallel", at_once=True)
GROUPS = {axis: Binding(f"bound to groups along {axis}", at_once=True, axis=axis) for axis in "xyz"}
"""The iterations are groups of threads of a device."""
UNROLLED = Binding("unrolled", in_tile=True)
VECTORIZED = Binding("vectorized", in_tile=True, in_lanes=True)
