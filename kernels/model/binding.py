"""What becomes of a loop's iterations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Binding:
    """What becomes of a loop's iterations; its readers ask this, and know of no other binding.

    `name` is what messages call such a loop. Iterations `in_tile` are elements of an
    n-dimensional vector, so that no loop remains; those `in_lanes` lie along its last dimension.
    Those that are `at_once` may run at the same time.
    """

    name: str
    in_tile: bool = False
    in_lanes: bool = False
    at_once: bool = False


SERIAL = Binding("for")
"""One after the other, as every loop starts."""
PARALLEL = Binding("parallel", at_once=True)
UNROLLED = Binding("unrolled", in_tile=True)
VECTORIZED = Binding("vectorized", in_tile=True, in_lanes=True)
