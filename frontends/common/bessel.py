"""Bessel's and Airy's functions, of f64.

Near zero they are integrals by the trapezoidal rule, which converges as fast as a power series
where the integrand is periodic or vanishes at both ends; far from zero they are series of inverse
powers. Source: Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964); numbers such as
10.4.14 are those of its formulas.
"""

from __future__ import annotations

from itertools import pairwise

from .special import exp, log, polynomial
from .words import *

_FAR = 25.0
"""J and Y are integrals up to this argument, and series of inverse powers above it."""

_POINTS = 96
"""The number of points at which an integral is sampled."""

_ANGLES = (np.arange(_POINTS) + 0.5) * math.pi / _POINTS

Function = Callable[[Term], Term]


def _integral(values: Term, weights: np.ndarray) -> Term:
    """The weighted sum of samples along the last dimension."""
    return (values @ constant(values.n, weights[:, None], values.element)).column(0)


def _around(x: Term, cosines: np.ndarray, sines: np.ndarray) -> Term:
    """The sum of `cosines` * cos(x * sin(angle)) and `sines` * sin(x * sin(angle)) over angles."""
    turns = x.spread(0, 1) * constant(x.n, np.sin(_ANGLES), x.element)
    waves = [(turns.function(nn.Cos), cosines), (turns.function(nn.Sin), sines)]
    parts = [_integral(wave, weights) for wave, weights in waves if weights.any()]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


_MEAN = np.full(_POINTS, 1 / _POINTS)
_NONE = np.zeros(_POINTS)
_TURNS = np.arange(1, 41)
_LOGARITHM = ((-1.0) ** _TURNS / _TURNS) @ np.cos(2 * np.outer(_TURNS, _ANGLES)) / _POINTS
"""Weights of the series 9.1.13, whose terms are integrals themselves."""


def _near(order: int, x: Term) -> tuple[Term, Term]:
    """J (9.1.18) and Y (9.1.13) of order 0 near 0; for order 1, by the derivatives of these."""
    first, sine = _around(x, _MEAN, _NONE), np.sin(_ANGLES)
    j = first if order == 0 else _around(x, _NONE, _MEAN * sine)
    bend = log(x * 0.5) + float(np.euler_gamma)
    if order == 0:
        rest = _around(x, _LOGARITHM, _NONE)
        return j, bend * j * (2 / math.pi) - rest * (4 / math.pi)
    rest = _around(x, _NONE, _LOGARITHM * sine)
    return j, (bend * j - first / x) * (2 / math.pi) - rest * (4 / math.pi)


def _far(order: int, x: Term) -> tuple[Term, Term]:
    """J and Y of order 0 or 1 for large x, by 9.2.5 to 9.2.10."""
    factors = [(4 * order**2 - (2 * k - 1) ** 2) / (8 * k) for k in range(1, 16)]
    terms = np.cumprod([1.0, *factors]).tolist()
    inverse = 1.0 / x
    square = inverse * inverse
    p = polynomial(square, _in_turn(terms[0::2]))
    q = polynomial(square, _in_turn(terms[1::2])) * inverse
    # Cosine and sine of x - pi / 4 or x - 3 pi / 4, by the addition theorem: the difference itself
    # would lose digits of a large x.
    waves = x.function(nn.Cos), x.function(nn.Sin)
    both, apart = waves[0] + waves[1], waves[1] - waves[0]
    cosine, sine = (apart, -both) if order else (both, apart)
    size = (inverse / math.pi).function(nn.Sqrt)
    return size * (p * cosine - q * sine), size * (p * sine + q * cosine)


def _in_turn(terms: Sequence[float]) -> list[float]:
    """The terms with alternating signs, the first one positive."""
    return [(-1) ** k * term for k, term in enumerate(terms)]


def bessel_j(order: int) -> Function:
    """The Bessel function of the first kind, J, of order 0 or 1."""

    def formula(x: Term) -> Term:
        size = x.function(nn.Abs)
        near = _near(order, size.min(_FAR))[0]
        found = (size > _FAR).choose(_far(order, size.max(_FAR))[0], near)
        return (x < 0.0).choose(-found, found) if order else found

    return formula


def bessel_y(order: int) -> Function:
    """The Bessel function of the second kind, Y, of order 0 or 1."""

    def formula(x: Term) -> Term:
        near = _near(order, x.min(_FAR).max(1e-300))[1]
        found = (x > _FAR).choose(_far(order, x.max(_FAR))[1], near)
        found = x.equals(0.0).choose(-math.inf, found)
        return (x < 0.0).choose(math.nan, found)

    return formula


def bessel_i(order: int, scaled: bool) -> Function:
    """The modified Bessel function of the first kind, I, of order 0 or 1: 9.6.10 and 9.7.1.

    It is multiplied by exp(-abs(x)) if `scaled`.
    """
    meets = 20.0
    powers = [
        0.25**k / (math.factorial(k) * math.factorial(k + order)) * 0.5**order for k in range(40)
    ]
    steps = [((2 * k - 1) ** 2 - 4 * order**2) / (8 * k) for k in range(1, 13)]
    inverses = np.cumprod([1.0, *steps]).tolist()

    def formula(x: Term) -> Term:
        size = x.function(nn.Abs)
        small = size.min(meets)
        near, far = polynomial(small * small, powers), size.max(meets)
        if order:
            near = near * small
        behind = polynomial(1.0 / far, inverses) / (far * (2 * math.pi)).function(nn.Sqrt)
        near = near * exp(-small) if scaled else near
        found = (size > meets).choose(behind if scaled else behind * exp(far), near)
        return (x < 0.0).choose(-found, found) if order else found

    return formula


def _near_k(order: int, x: Term) -> Term:
    """K of order 0 or 1 for x up to 1, by 9.6.13 and 9.6.11."""
    half, count = x * 0.5, 12
    sums = [sum(1 / i for i in range(1, k + 1)) - np.euler_gamma for k in range(count + 1)]
    sizes = [1 / (math.factorial(k) * math.factorial(k + order)) for k in range(count)]
    pairs = [a + b for a, b in pairwise(sums)] if order else sums
    square = half * half
    powers = polynomial(square, sizes)
    rest = polynomial(square, [size * a for size, a in zip(sizes, pairs, strict=False)])
    if order:
        return 1.0 / x + half * (log(half) * powers - rest * 0.5)
    return rest - log(half) * powers


def bessel_k(order: float, scaled: bool) -> Function:
    """The modified Bessel function of the second kind, K, multiplied by exp(x) if `scaled`.

    It is the integral 9.6.24, up to where the integrand falls below 1e-19.
    """

    def formula(x: Term) -> Term:
        positive = x.max(1e-300)
        reach = 44.0 / positive
        last = (reach + (reach * (reach + 2.0)).function(nn.Sqrt)).function(nn.Log1p)
        steps = constant(x.n, np.arange(_POINTS) / _POINTS, x.element)
        at = last.spread(0, 1) * steps
        half = (at * 0.5).function(nn.Sinh)
        values = exp(positive.spread(0, 1) * half * half * -2.0)
        if order:
            values = values * (at * order).function(nn.Cosh)
        found = _integral(values, np.where(np.arange(_POINTS), 1.0, 0.5) / _POINTS) * last
        found = found if scaled else found * exp(-x)
        if order in (0, 1):
            near = _near_k(int(order), positive.min(1.0))
            found = (x < 1.0).choose(near * exp(x.min(1.0)) if scaled else near, found)
        found = x.equals(0.0).choose(math.inf, x.equals(math.inf).choose(0.0, found))
        return (x < 0.0).choose(math.nan, found)

    return formula


def spherical_bessel_j0(x: Term) -> Term:
    """sin(x) / x"""
    found = x.equals(0.0).choose(1.0, x.function(nn.Sin) / x)
    return x.function(nn.Abs).equals(math.inf).choose(0.0, found)


_AIRY_NEAR, _AIRY_FAR = 2.0, -8.0
"""Between these arguments Airy's function is computed by a power series."""


def airy_ai(x: Term) -> Term:
    """Airy's function Ai, by 10.4.14 (from K), 10.4.2 (a power series) and 10.4.60 (a series of
    inverse powers).
    """
    high = x.max(_AIRY_NEAR)
    root = high.function(nn.Sqrt)
    above = (high / 3.0).function(nn.Sqrt) * bessel_k(1 / 3, False)(high * root * (2 / 3)) / math.pi
    found = (x > _AIRY_NEAR).choose(above, _airy_by_powers(x.min(_AIRY_NEAR).max(_AIRY_FAR)))
    return (x < _AIRY_FAR).choose(_airy_far(-x.min(_AIRY_FAR)), found)


def _airy_by_powers(x: Term) -> Term:
    cube = x * x * x
    first = np.cumprod([1.0, *(1 / ((3 * k - 1) * 3 * k) for k in range(1, 32))]).tolist()
    second = np.cumprod([1.0, *(1 / (3 * k * (3 * k + 1)) for k in range(1, 32))]).tolist()
    at_zero = 3 ** (-2 / 3) / math.gamma(2 / 3)
    slope = 3 ** (-1 / 3) / math.gamma(1 / 3)
    return polynomial(cube, first) * at_zero - polynomial(cube, second) * x * slope


def _airy_far(size: Term) -> Term:
    """Ai(-size) for large sizes, by 10.4.60."""
    terms = [
        math.gamma(3 * k + 0.5) / (54**k * math.factorial(k) * math.gamma(k + 0.5))
        for k in range(12)
    ]
    root = size.function(nn.Sqrt)
    turn = size * root * (2 / 3)
    inverse = 1.0 / turn
    even = polynomial(inverse * inverse, _in_turn(terms[0::2]))
    odd = polynomial(inverse * inverse, _in_turn(terms[1::2])) * inverse
    angle = turn + math.pi / 4
    sine, cosine = angle.function(nn.Sin), angle.function(nn.Cos)
    return (sine * even - cosine * odd) / (root * math.pi).function(nn.Sqrt)
