"""The error function and its complement."""

from __future__ import annotations

from .formulas import Float

# x P(x**2) / Q(x**2), error 0.04 ulp of erf(x), which rounds to 1 from ERF_ONE on.
ERF_ONE = 3.92
ERF_P = (1.3459420204162598, 0.23076693713665009, 0.06675885617733002, 0.005092621315270662,
         0.000498963228892535, 8.401253580814227e-06)  # fmt: skip
ERF_Q = (1.19281005859375, 0.6021153330802917, 0.14058682322502136, 0.019566252827644348,
         0.001716607017442584, 8.872221951605752e-05, 3.2766234880909906e-07)  # fmt: skip


def erf(x: Float) -> Float:
    """The quotient of two polynomials, without branches; within 2 ulp."""
    clamped = x.at_least(-ERF_ONE).at_most(ERF_ONE)
    square = clamped * clamped
    return clamped * square.polynomial(ERF_P) / square.polynomial(ERF_Q)
