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

# (1 - (1 - erf(x))**(1/8)) / x for 0 <= x <= 4; error 0.05 ulp of 1 in erf(x).
WHOLE = (0.14104735851287842, 0.0696309506893158, 0.002086114138364792, -0.006582700647413731,
         -0.0001939899957505986, 0.0005173468962311745, -9.022832819027826e-05,
         4.960163551004371e-06)  # fmt: skip
WHOLE_ONE = 4.0
"""From here on the formula of `WHOLE` is 1, however its steps are rounded."""


def erf(x: Float) -> Float:
    """A polynomial where |x| < 0.85, else 1 - 2**-p(|x|) with another; within 1.2 ulp."""
    square = x * x
    near = x.fma(square.polynomial(ERF), x)
    a = x.abs()
    far = _less_power(a.at_most(ERF_ONE).polynomial([-c for c in ERFC_LOG2]))
    return (a < ERF_NEAR).select(near, far.copy_sign(x))


def erf_beside_one(x: Float) -> Float:
    """1 - (1 - u)**8 with one polynomial u for all x; within 1 ulp of 1, not of the result.

    Three times 1 - (1 - u)**2 = 2 u - u**2, without 1 - u, which would round what small u hold.
    """
    a = x.abs().at_most(WHOLE_ONE)
    u = a * a.polynomial(WHOLE)
    for _ in range(3):
        u = (-u).fma(u, u + u)
    return u.copy_sign(x)


def _less_power(power: Float) -> Float:
    """1 - 2**power for power <= 0."""
    shifted = power + ROUNDER
    r = power - (shifted - ROUNDER)
    found = r.fma(r.polynomial(EXP2), 1.0)
    return found.fma(-power_of_two(shifted.bits()), 1.0)
