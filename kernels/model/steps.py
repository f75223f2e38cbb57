"""Steps of loops whose extents are no multiples of them."""

from __future__ import annotations

from collections.abc import Iterator


def power_of_two(number: int) -> int:
    """The least power of two that is not less."""
    return 1 << max(0, number - 1).bit_length()


def halves(step: int) -> Iterator[int]:
    """The steps of what an unknown extent leaves of a loop: half, a quarter and so on down to 1."""
    while step > 1:
        step //= 2
        yield step
