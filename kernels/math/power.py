"""Powers and similar functions: in f64, rounded to f32 at the end, or in pairs of f32.

x**y is 2**(y log2(x)), where a relative error of the logarithm becomes one of up to 128 times
as much in the result. In f64 there are bits enough, f32's denormals are normal numbers, and
only the last rounding has an effect.
"""

from __future__ import annotations

import struct

from . import pairs
from .formulas import Float, Formulas
from .logarithm import INFINITY, NAN

ROUNDER = 6755399441055744.0
"""1.5 * 2**52: a sum with it rounds to an integer and has that in its low bits."""
ONE_BITS = 0x3FF << 52
SQRT_HALF_BITS = struct.unpack("<q", struct.pack("<d", 0.7071067811865476))[0]
LOG2_E = 1.4426950408889634
SIGN = -(1 << 31)

# log2((1 + s) / (1 - s)) / s in powers of s**2, |s| <= 0.172; error 2**-38.
LOG2 = (2.8853900817901064, 0.9617966733290847, 0.5770835872120397, 0.411672582795309,
        0.3407326929655482)  # fmt: skip
# (2**x - 1) / x for |x| <= 1/2; error 2**-34.
EXP2 = (0.6931471807046665, 0.24022651066614062, 0.05550410365681341, 0.009618038125025794,
        0.0013333935213679015, 0.00015466758420151395, 1.5196135226233675e-05)  # fmt: skip
# erfc(a) exp(a**2) / t in powers of t = 1 / (1 + a/2) for 0 <= a <= 10.2; error 2**-28.
ERFC = (0.28208852106196003, 0.28225239617426456, 0.24517915797153697, 0.18559502119994312,
        0.054877527657248536, 0.0354070558154378, -0.021962235005900565, -0.2895898485520453,
        0.3814182580761542, -0.19103287655866108, 0.03576702565170283)  # fmt: skip


def wide_log2(a: Float) -> Float:
    """log2 in f64, of numbers that came from f32 and are not negative: also 0, infinity, NaN."""
    bits = a.bits()
    e = (bits - SQRT_HALF_BITS) >> 52
    m = (bits - (e << 52)).as_float()
    s = (m - 1.0) / (m + 1.0)
    result = s.fma((s * s).polynomial(LOG2), e.to_float())
    return (a > 0.0).select((a < INFINITY).select(result, a), a.equals(0.0).select(-INFINITY, a))


def wide_exp2(p: Float) -> Float:
    """2**p in f64, exact enough to be rounded to f32.

    p is limited to [-200, 200]: beyond, the result only has to round to 0 or infinity in f32.
    """
    p = p.at_least(-200.0).at_most(200.0)
    shifted = p + ROUNDER
    r = p - (shifted - ROUNDER)
    scale = ((shifted.bits() << 52) + ONE_BITS).as_float()
    return r.fma(r.polynomial(EXP2), 1.0) * scale


def _wide(x: Float) -> Formulas:
    return Formulas(x.code.builder, x.code.shape_of, wide=True, fused=x.code.fused)


def _magnitude(x: Float, exponent: Float | float) -> Float:
    """|x|**exponent; NaN where exponent * log2|x| is 0 times infinity."""
    code = x.code
    if code.has_f64:
        wide = _wide(x)
        y = exponent.widened(wide) if isinstance(exponent, Float) else wide.float(exponent)
        return wide_exp2(y * wide_log2(x.abs().widened(wide))).narrowed(code)
    if isinstance(exponent, Float):
        return pairs.magnitude(x, (exponent, code.float(0.0)))
    first, second = map(code.float, pairs.of_constant(exponent))
    return pairs.magnitude(x, (first, second))


def pow(x: Float, y: Float) -> Float:
    """x**y with the special cases of C's pow, within 0.51 ulp; without f64 within 2.4."""
    a = x.abs()
    power = _magnitude(x, y)
    half = y * 0.5
    integral = y.equals(y.round_even())
    odd = integral & half.compare("one", half.round_even())
    sign = x.bits() & odd.select_int(SIGN, 0)
    power = (power.bits() ^ sign).as_float()
    # A negative, finite base has powers with integral exponents only.
    fractional = y.compare("one", y.round_even())
    undefined = (x < 0.0) & (a < INFINITY) & fractional
    unit = (a.equals(1.0) & y.abs().equals(INFINITY)) | x.equals(1.0) | y.equals(0.0)
    return unit.select(1.0, undefined.select(NAN, power))


def pow_constant(x: Float, y: float) -> Float | None:
    """x**y for exponents that a few products or a square root reach, else None.

    Within y / 2 + 0.6 ulp for y > 0, 1.4 - y for y < 0.
    """
    match y:
        case 0.0:
            return x.code.float(1.0)
        case 0.5 | -0.5:
            # The root of -inf is inf and that of -0 is 0, other than sqrt has it.
            root = x.equals(-INFINITY).select(INFINITY, x.sqrt() + 0.0)
            return root if y > 0 else 1.0 / root
    if not (y.is_integer() and -3 <= y <= 8):
        return None
    base, left = (x, int(y)) if y > 0 else (1.0 / x, -int(y))
    product = None
    while left:
        if left & 1:
            product = base if product is None else product * base
        left >>= 1
        if left:
            base = base * base
    return product


def cbrt(x: Float) -> Float:
    """The cube root, within 0.51 ulp; without f64 within 0.9."""
    return _magnitude(x, 1.0 / 3.0).copy_sign(x)


def erfc(x: Float) -> Float:
    """1 - erf(x), where small without cancellation; within 0.57 ulp; without f64 within 5."""
    code, a = x.code, x.abs().at_most(11.0)
    if code.has_f64:
        a = a.widened(_wide(x))
        power = wide_exp2(a * a * -LOG2_E)
    else:
        power = pairs.exp_of_square(a, -LOG2_E)
    t = 1.0 / a.fma(0.5, 1.0)
    tail = t * t.polynomial(ERFC) * power
    result = (x < 0.0).select(2.0 - tail, tail)
    return result.narrowed(code) if code.has_f64 else result
