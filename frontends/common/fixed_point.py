"""Real numbers as integers: products by a multiplier of 31 bits, rounded twice.

    x * real  ~  round(round(x * significand / 2^31) * 2^shift)      0.5 <= significand / 2^31 < 1

The first rounding takes halves up, the second one away from 0. This is the arithmetic of gemmlowp,
which TensorFlow Lite's kernels use. Source: Jacob et al., Quantization and Training of Neural
Networks for Efficient Integer-Arithmetic-Only Inference, 2017, section 2.2.
"""

from __future__ import annotations

from dataclasses import dataclass

from .words import *

LEAST_SHIFT = -31


@dataclass(frozen=True)
class Multiplier:
    """A real number, or one for each channel: `significand / 2^31 * 2^shift`."""

    significand: np.ndarray
    shift: np.ndarray

    @staticmethod
    def of(real: Any) -> Multiplier:
        """The multiplier nearest to each number; 0 where the number is too small for any."""
        fraction, shift = np.frexp(np.asarray(real, np.float64))
        significand = rounded_away(fraction * 2.0**31).astype(np.int64)
        carried = significand == 1 << 31
        significand = np.where(carried, significand // 2, significand)
        shift = np.where(carried, shift + 1, shift)
        gone = (shift < LEAST_SHIFT) | (significand == 0)
        return Multiplier(
            np.where(gone, 0, significand).astype(np.int32),
            np.where(gone, 0, shift).astype(np.int32),
        )

    def reshaped(self, *shape: int) -> Multiplier:
        """The multiplier with its channels in this shape."""
        if self.shift.size == 1:
            return Multiplier(self.significand.reshape(()), self.shift.reshape(()))
        return Multiplier(self.significand.reshape(shape), self.shift.reshape(shape))

    def __call__(self, x: Term) -> Term:
        """The product with integers of 32 or 64 bits, in 32 bits."""
        if x.element is i64:
            return self._of_wide(x)
        n = x.n
        left, right = np.maximum(self.shift, 0), np.maximum(-self.shift, 0)
        if left.any():
            x = x << constant(n, left)
        high = high_product(x, constant(n, self.significand))
        return divided_by_power(high, right)

    def _of_wide(self, x: Term) -> Term:
        """The product with i64, by a significand reduced to 15 bits; rounded once, halves up."""
        n, significand = x.n, self.significand.astype(np.int64)
        few = np.where(significand < 0x7FFF0000, (significand + (1 << 15)) >> 16, 0x7FFF)
        shift = 15 - self.shift.astype(np.int64)
        half = np.left_shift(np.int64(1), shift - 1)
        whole = x * constant(n, few) + constant(n, half)
        return (whole >> constant(n, shift)).cast(i32)


def scaled(x: Term, significand: Term, shift: Term) -> Term:
    """The product of i32 with a multiplier, as `Multiplier` does, for one computed at run time."""
    high = high_product(x << shift.max(0), significand)
    return divided_by_power(high, (-shift).max(0))


def rounded_away(x: np.ndarray) -> np.ndarray:
    """Rounded to whole numbers, halves away from 0."""
    return np.trunc(x + np.copysign(0.5, x))


def high_product(x: Term, y: Term) -> Term:
    """round(x * y / 2^31) of integers of 32 bits, halves up."""
    wide = x.cast(i64) * y.cast(i64) + (1 << 30)
    return (wide >> 31).cast(i32)


def divided_by_power(x: Term, exponent: Any) -> Term:
    """round(x / 2^exponent) of i32, halves away from 0; exponents are numbers or a term.

    It takes two shifts, as x plus a half may be more than i32 holds.
    """
    n, below = x.n, x >> 31
    if isinstance(exponent, Term):
        rounded = (((x + below) >> (exponent - 1).max(0)) + 1) >> 1
        return (exponent > 0).choose(rounded, x)
    exponent = np.asarray(exponent, np.int32)
    if not exponent.any():
        return x
    rounded = (((x + below) >> constant(n, np.maximum(exponent, 1) - 1, i32)) + 1) >> 1
    return rounded if exponent.all() else constant(n, exponent > 0, i1).choose(rounded, x)


def nearest(x: Term) -> Term:
    """Floats rounded to i32, halves away from 0, and limited to what i32 holds."""
    n, most = x.n, float((1 << 31) - 1)
    wide = x.cast(f64)
    wide = Term(n, n(nn.Clip(wide.value, n.constant(-most, f64), n.constant(most, f64))))
    whole = wide.cast(i32)
    rest = wide - whole.cast(f64)
    return whole + (rest >= 0.5).cast(i32) - (rest <= -0.5).cast(i32)


def nearest_steps(x: Term, scale: np.ndarray | np.floating) -> Term:
    """round(x / scale) of floats as i32, halves away from 0.

    Numerics: the quotient is that of f32. A product with the reciprocal in f64 has 52 right bits,
    and no quotient of two f32 lies nearer than 2^-49 to the middle between two f32.
    """
    reciprocal = constant(x.n, 1.0 / np.asarray(scale, np.float64))
    return nearest((x.cast(f64) * reciprocal).cast(f32))
