"""Trigonometric functions and their inverses.

x = q pi/2 + r with |r| <= pi/4; pi/2 is taken as the sum of three f32, which is enough for
|x| <= FARTHEST; without a fused multiply-add, as the sum of two f64.
"""

from __future__ import annotations

from .exponential import ROUNDER
from .formulas import Bool, Float, Formulas, Int

TWO_OVER_PI = 0.6366197723675814
PI_HALF = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058546e-15)
PI_HALF_WIDE = (1.5707963267341256, 6.077100506506192e-11)
"""pi/2 as 33 bits and the rest, in f64."""
FARTHEST = 2.0**18
SIGN = -(1 << 31)

# (sin(r) - r) / r**3, (cos(r) - 1 + r**2 / 2) / r**4 and (tan(r) - r) / r**3 in powers of
# r**2 for |r| <= pi/4; errors 0.03, 0.001 and 0.15 ulp.
SIN = (-0.16666655242443085, 0.008332189172506332, -0.0001951828453456983)
COS = (0.04166664555668831, -0.0013887309469282627, 2.4432327336398885e-05)
TAN = (0.33333155512809753, 0.13338835537433624, 0.053408198058605194, 0.024441421031951904,
       0.0031014098785817623, 0.009396581910550594)  # fmt: skip


def reduce(x: Float) -> tuple[Float, Int]:
    """(r, q); q in the low bits."""
    shifted = x.fma(TWO_OVER_PI, ROUNDER)
    q = shifted - ROUNDER
    if not x.code.fused:
        return _wide_rest(x, q), shifted.bits()
    r = x
    for part in PI_HALF:
        r = q.fma(-part, r)
    return r, shifted.bits()


def _wide_rest(x: Float, q: Float) -> Float:
    """x - q pi/2 in f64, where q times the first part of pi/2 is exact."""
    code = x.code
    wide = Formulas(code.builder, code.shape_of, wide=True, fused=code.fused)
    r, q = x.widened(wide), q.widened(wide)
    for part in PI_HALF_WIDE:
        r = r - q * part
    return r.narrowed(code)


def _sine_and_cosine(r: Float) -> tuple[Float, Float]:
    square = r * r
    sine = (r * square).fma(square.polynomial(SIN), r)
    cosine = (square * square).fma(square.polynomial(COS), square.fma(-0.5, 1.0))
    return sine, cosine


def _is_odd(q: Int) -> Bool:
    return (q & 1).compare("ne", 0)


def sincos(x: Float) -> tuple[Float, Float]:
    """The sine and the cosine, within 1.6 ulp where |x| <= FARTHEST."""
    r, q = reduce(x.abs())
    sine, cosine = _sine_and_cosine(r)
    odd = _is_odd(q)
    sign = ((q << 30) ^ x.bits()) & SIGN
    other_sign = ((q + 1) << 30) & SIGN
    return (
        (odd.select(cosine, sine).bits() ^ sign).as_float(),
        (odd.select(sine, cosine).bits() ^ other_sign).as_float(),
    )


def sin(x: Float) -> Float:
    """The sine, within 1.6 ulp where |x| <= FARTHEST."""
    r, q = reduce(x.abs())
    sine, cosine = _sine_and_cosine(r)
    sign = ((q << 30) ^ x.bits()) & SIGN
    return (_is_odd(q).select(cosine, sine).bits() ^ sign).as_float()


def cos(x: Float) -> Float:
    """The cosine, within 1.6 ulp where |x| <= FARTHEST."""
    r, q = reduce(x.abs())
    sine, cosine = _sine_and_cosine(r)
    sign = ((q + 1) << 30) & SIGN
    return (_is_odd(q).select(sine, cosine).bits() ^ sign).as_float()


def tan(x: Float) -> Float:
    """The tangent, within 3.5 ulp where |x| <= FARTHEST."""
    r, q = reduce(x.abs())
    square = r * r
    tangent = (r * square).fma(square.polynomial(TAN), r)
    positive = _is_odd(q).select(-1.0 / tangent, tangent)
    return (positive.bits() ^ (x.bits() & SIGN)).as_float()


# (asin(x) - x) / x**3 for |x| <= 1/2, (atan(x) - x) / x**3 for |x| <= 1, in powers of x**2;
# errors 0.04 and 0.14 ulp.
ASIN = (0.16666752099990845, 0.07495306432247162, 0.045469772070646286, 0.02418077178299427,
        0.042166419327259064)  # fmt: skip
ATAN = (-0.33333152532577515, 0.19993767142295837, -0.14211004972457886, 0.10665800422430038,
        -0.07551781088113785, 0.043206892907619476, -0.016365008428692818,
        0.0029200022108852863)  # fmt: skip


def _asin_parts(a: Float) -> tuple[Bool, Float, Float]:
    """Whether a > 1/2; where so z = sqrt((1 - a) / 2), else z = a; asin(z)."""
    large = a > 0.5
    square = large.select((1.0 - a) * 0.5, a * a)
    z = large.select(square.sqrt(), a)
    return large, z, (z * square).fma(square.polynomial(ASIN), z)


def asin(x: Float) -> Float:
    """asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)) for a = |x| > 1/2; within 2.3 ulp."""
    large, _, angle = _asin_parts(x.abs())
    high, low, _ = PI_HALF
    return large.select(high - ((angle + angle) - low), angle).copy_sign(x)


def acos(x: Float) -> Float:
    """2 asin(sqrt((1 - a) / 2)) for a = |x| > 1/2, else pi/2 - asin(x); within 1.2 ulp."""
    high, low, _ = PI_HALF
    large, _, angle = _asin_parts(x.abs())
    signed = angle.copy_sign(x)
    twice = angle + angle
    far = (x < 0.0).select(2 * high - (twice - 2 * low), twice)
    return large.select(far, high - (signed - low))


def atan(x: Float) -> Float:
    """atan(a) = pi/2 - atan(1/a) for a = |x| > 1; within 1.5 ulp."""
    a = x.abs()
    large = a > 1.0
    angle = _atan_below_one(large.select(1.0 / a, a))
    high, low, _ = PI_HALF
    return large.select(high - (angle - low), angle).copy_sign(x)


def _atan_below_one(z: Float) -> Float:
    square = z * z
    return (z * square).fma(square.polynomial(ATAN), z)


def atan2(y: Float, x: Float) -> Float:
    """The angle of the point (x, y): atan(y / x) in the right quadrant, within 1.7 ulp."""
    a, b = x.abs(), y.abs()
    steep = b > a
    least, most = steep.select(a, b), steep.select(b, a)
    # 0/0 is an angle of 0 and inf/inf one of pi/4, as C's atan2 has it.
    ratio = least.equals(most).select(most.equals(0.0).select(0.0, 1.0), least / most)
    angle = _atan_below_one(ratio)
    high, low, _ = PI_HALF
    angle = steep.select(high - (angle - low), angle)
    left = x.bits().compare("slt", 0)
    angle = left.select(2 * high - (angle - 2 * low), angle)
    angle = y.compare("uno", x).select(x + y, angle)
    return angle.copy_sign(y)
