"""Steps of remainder loops, for extents that are not multiples of the step."""

from __future__ import annotations

from collections.abc import Iterator


def power_of_two(number: int) -> int:
    """The least power of two that is at least `number`."""
    return 1 << max(0, number - 1).bit_length()


def remainders(step: int) -> Iterator[int]:
    """The steps of the loops over what a loop of this step leaves over, the largest first.

    They are the powers of two below `step`. That suits extents known only at run time, which, where
    they are small, are often 4, 8 or 16.
    """
    while step > 1:
        step = power_of_two(step) // 2
        yield step
