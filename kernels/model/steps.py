"""Steps of remainder loops, for extents that are not multiples of the step."""

from __future__ import annotations

from collections.abc import Iterator


def power_of_two(number: int) -> int:
    """The least power of two that is at least `number`."""
    return 1 << max(0, number - 1).bit_length()


def remainders(step: int) -> Iterator[int]:
    """The steps of the loops over the remainder of an unknown extent, the largest first.

    They are the powers of two below its own: few rows are often 4, 8 or 16.
    """
    while step > 1:
        step = power_of_two(step) // 2
        yield step
