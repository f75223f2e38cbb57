"""The error function and its complement."""

from __future__ import annotations

from .exponential import EXP2, ROUNDER, power_of_two
from .formulas import Float

ERF_ONE = 3.92
"""The least x from which on erf(x) rounds to 1."""
ERF_NEAR = 0.85

# erf(x) / x - 1 in powers of x**2 for |x| <= 0.85; error 0.06 ulp of erf(x).
ERF = (0.12837916612625122, -0.37612590193748474, 0.11282864958047867, -0.026807285845279694,
       0.005057697184383869, -0.0006348462775349617)  # fmt: skip
# -log2(1 - erf(x)) for 0.85 <= x <= 3.92; error 0.02 ulp of erf(x).
ERFC_LOG2 = (0.0001507685665274039, 1.6274482011795044, 0.9183022379875183, 0.15079966187477112,
             -0.03248855844140053, 0.004498263355344534, -0.0002938643447123468)  # fmt: skip

# -log2(1 - erf(x)) / x for 0 <= x <= 3.92; error 0.13 ulp of 1 in erf(x).
WHOLE = (1.6279085874557495, 0.918416440486908, 0.14848150312900543, -0.02825363352894783,
         0.000774759566411376, 0.001489276415668428, -0.00044544023694470525,
         4.5349966967478395e-05)  # fmt: skip


def erf(x: Float) -> Float:
    """A polynomial where |x| < 0.85, else 1 - 2**-p(|x|) with another; within 1.2 ulp."""
    square = x * x
    near = x.fma(square.polynomial(ERF), x)
    a = x.abs()
    far = _less_power(a.at_most(ERF_ONE).polynomial([-c for c in ERFC_LOG2]))
    return (a < ERF_NEAR).select(near, far.copy_sign(x))


def erf_beside_one(x: Float) -> Float:
    """1 - 2**-p(|x|) with one polynomial for all x; within 0.7 ulp of 1, not of the result."""
    a = x.abs().at_most(ERF_ONE)
    return _less_power(a * a.polynomial([-c for c in WHOLE])).copy_sign(x)


def _less_power(power: Float) -> Float:
    """1 - 2**power for power <= 0."""
    shifted = power + ROUNDER
    r = power - (shifted - ROUNDER)
    found = r.fma(r.polynomial(EXP2), 1.0)
    return found.fma(-power_of_two(shifted.bits()), 1.0)
