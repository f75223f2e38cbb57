"""Fixed-point formats: a number of bits, some of which are integer bits."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, frexp

import numpy as np


@dataclass(frozen=True)
class Format:
    """`ap_fixed<bits, whole>`: a sign, and `whole` - 1 integer bits; `whole` may be negative. If it
    `saturates`, numbers are rounded to nearest and clipped to the limits; otherwise they are
    known to fit.
    """

    bits: int
    whole: int
    saturates: bool = False

    @property
    def fraction(self) -> int:
        """The number of fraction bits."""
        return self.bits - self.whole

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest number."""
        most = 2.0 ** (self.whole - 1)
        return -most, most - 2.0**-self.fraction

    @property
    def text(self) -> str:
        """The name of the type in C++."""
        how = ", AP_RND, AP_SAT" if self.saturates else ""
        return f"ap_fixed<{self.bits}, {self.whole}{how}>"

    def rounded(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers rounded and clipped as the format stores them."""
        step = 2.0**-self.fraction
        return np.clip(np.floor(numbers / step + 0.5) * step, *self.limits)


def whole_bits(low: float, high: float) -> int:
    """The sign and integer bits that numbers from `low` to `high` need."""
    most = max(high, -low)
    if most == 0:
        return 1
    mantissa, exponent = frexp(most)
    exact = -low == most and mantissa == 0.5 and high < most
    return exponent + (0 if exact else 1)


def fraction_bits(number: float, most: int) -> int:
    """The fraction bits that a number needs exactly, at most `most`."""
    for bits in range(most + 1):
        if floor(number * 2.0**bits) == number * 2.0**bits:
            return bits
    return most
