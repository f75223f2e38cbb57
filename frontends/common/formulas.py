"""Elementwise formulas that several formats have as operators.

A function with the name of a NumPy function means the same. Operands have one element type, to
which the caller has promoted them.
"""

from __future__ import annotations

from functools import reduce

from .loops import Iteration, while_loop
from .words import *


def widened(formula: Callable[..., Term], *operands: Term) -> Term:
    """The formula computed in f64, and its result cast back to the first operand's element type."""
    return formula(*(x.cast(f64) for x in operands)).cast(operands[0].element)


# -- kinds of numbers ------------------------------------------------------------------------------


def isnan(x: Term) -> Term:
    """Whether a float is NaN."""
    return x.function(nn.IsNan)


def isfinite(x: Term) -> Term:
    """Whether a float is neither infinite nor NaN."""
    return x.function(nn.Abs) < math.inf


def isclose(x: Term, y: Term, relative: Any, absolute: Any, equal_nan: bool = False) -> Term:
    """Whether floats differ by no more than `absolute + relative * abs(y)`."""
    size = y.function(nn.Abs)
    near = ((x - y).function(nn.Abs) <= size * relative + absolute) & (size < math.inf)
    near = near | x.equals(y)
    return near | (isnan(x) & isnan(y)) if equal_nan else near


def isin(x: Term, among: Term) -> Term:
    """Whether each element of x is one of the elements of `among`."""
    return x.spread(0, 1).equals(among.flat()).cast(i64).sum(x.rank) > 0


def all_of(holds: Term) -> Term:
    """Whether all elements of a condition are true: 0-d."""
    return holds.cast(i32).least(*range(holds.rank)) > 0


def without_nan(x: Term, number: float) -> Term:
    """x with `number` in place of NaN."""
    return isnan(x).choose(number, x) if isinstance(x.element, FloatType) else x


def nan_to_num(
    x: Term, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Term:
    """x with NaN and infinities replaced, by default with 0 and the type's largest numbers."""
    if not isinstance(x.element, FloatType):
        return x
    most = float(np.nextafter(np.array(np.inf, type_to_numpy(x.element)), 0))
    high, low = (most if posinf is None else posinf), (-most if neginf is None else neginf)
    x = without_nan(x, 0.0 if nan is None else nan)
    return x.equals(math.inf).choose(high, x.equals(-math.inf).choose(low, x))


# -- arithmetic ------------------------------------------------------------------------------------


def divisor(x: Term) -> Term:
    """x as a divisor: if x has integers, the program fails where one of them is 0."""
    known = x.n.array(x.value)
    if isinstance(x.element, FloatType) or (known is not None and known.all()):
        return x
    return assured(x, ~x.equals(0), "an integer is divided by 0")


def assured(x: Term, holds: Term, text: str) -> Term:
    """x; the program fails with the message `text` unless the condition holds everywhere."""
    known = x.n.known(holds.value)
    if known is not None and known.all():
        return x
    faults = (~holds).cast(i32)
    if faults.rank:
        faults = faults.largest(*range(faults.rank))
    # Less than 1, not equal to 0, as the largest of no elements is the least integer.
    return x.made(nn.Assume(x.value, (faults < 1).value, text))


def floor_div(x: Term, y: Term) -> Term:
    """A quotient, rounded down."""
    if isinstance(x.element, FloatType):
        return (x / y).function(nn.Floor)
    y = divisor(y)
    quotient = x / y
    if isinstance(x.element, IntegerType) and x.element.signedness == "u":
        return quotient
    below = ~(quotient * y).equals(x) & ((x < 0) ^ (y < 0))
    return quotient - below.cast(x.element)


def floor_of_quotient(a: Term, b: Term) -> Term:
    """a // b of floats as in Python, by the remainder: 1.0 // 0.1 is 9, and inf // b is NaN."""
    rest = a.made(nn.Mod(a.value, b.value, fmod=True))
    found = (a - rest) / b
    below = ~rest.equals(0.0) & ((b < 0.0) ^ (rest < 0.0))
    found = below.choose(found - 1.0, found)
    whole = found.function(nn.Floor)
    whole = (found - whole > 0.5).choose(whole + 1.0, whole)
    negative = is_negative(a) ^ is_negative(b)
    zero = negative.choose(-(a * 0.0).function(nn.Abs), (a * 0.0).function(nn.Abs))
    whole = found.equals(0.0).choose(zero, whole)
    return b.equals(0.0).choose(a / b, whole)


def combined(n: Layer, op: Callable[[Value, Value], Any], values: Sequence[Value]) -> Value:
    """The values combined by an op from the first to the last: op(op(a, b), c), .."""
    return reduce(lambda total, value: n(op(total, value)), values)


def trunc(x: Term) -> Term:
    """x without its fractional part."""
    if not isinstance(x.element, FloatType):
        return x
    return (x < 0.0).choose(x.function(nn.Ceil), x.function(nn.Floor))


def around(x: Term, decimals: int) -> Term:
    """x rounded to `decimals` digits after the decimal point, halves to even."""
    if not decimals or not isinstance(x.element, FloatType):
        return x.function(nn.Round)
    scale = 10.0 ** abs(decimals)
    if decimals < 0:
        return (x / scale).function(nn.Round) * scale
    return (x * scale).function(nn.Round) / scale


def round_half_away(x: Term) -> Term:
    """x rounded to a whole number, halves away from 0."""
    size = x.function(nn.Abs)
    low = size.function(nn.Floor)
    return copysign((size - low >= 0.5).choose(low + 1.0, low), x)


def divide_no_nan(x: Term, y: Term) -> Term:
    """x / y, but 0 where y is 0."""
    return y.equals(0).choose(0, x / y.equals(0).choose(1, y))


def fmax(x: Term, y: Term) -> Term:
    """The larger of two numbers; NaN only where both are NaN."""
    return _number_of(x, y, x.max(y))


def fmin(x: Term, y: Term) -> Term:
    """The smaller of two numbers; NaN only where both are NaN."""
    return _number_of(x, y, x.min(y))


def _number_of(x: Term, y: Term, found: Term) -> Term:
    if not isinstance(x.element, FloatType):
        return found
    return isnan(x).choose(y, isnan(y).choose(x, found))


def heaviside(x: Term, at_zero: Term, of_nan: float = math.nan) -> Term:
    """0 where x < 0, 1 where x > 0, `at_zero` where x is 0, and `of_nan` where x is NaN."""
    found = x.equals(0).choose(at_zero, (x > 0).cast(at_zero.element))
    if not of_nan or not isinstance(x.element, FloatType):
        return found
    return isnan(x).choose(of_nan, found)


def copysign(size: Term, sign: Term) -> Term:
    """The absolute value of one float with the sign of another, which may be -0."""
    size = size.function(nn.Abs)
    return is_negative(sign).choose(-size, size)


def ldexp(x: Term, power: Term) -> Term:
    """x * 2**power, also where 2**power alone is beyond the type; both are floats of one type."""
    limits: dict[Type, int] = {f16: 14, f64: 1022}
    limit = limits.get(x.element, 126)
    for _ in range(3):
        step = power.max(-limit).min(limit)
        x, power = x * 2.0**step, power - step
    return x


def nextafter(x: Term, y: Term) -> Term:
    """The next float after x towards y: floats of one sign are ordered as their bits are."""
    bits = bits_of(x)
    away = (y > x).equals(x > 0.0)
    least = (y < 0.0).choose(constant(x.n, 1 - 2 ** (width_of(x) - 1), bits.element), 1)
    bits = x.equals(0.0).choose(least, away.choose(bits + 1, bits - 1))
    found = bits.made(nn.Bitcast(bits.value, out=TensorType(bits.shape, x.element)))
    found = x.equals(y).choose(y, found)
    return (isnan(x) | isnan(y)).choose(math.nan, found)


def gcd(x: Term, y: Term) -> Term:
    """The greatest common divisor of integers: Euclid's algorithm, until all elements are done."""
    x, y = x.function(nn.Abs), y.function(nn.Abs)
    a, b = x + y.zeros(), y + x.zeros()

    def unfinished(rest: Term) -> Value:
        return (rest.flat().largest(0) > 0).value

    def step(number: Value, flag: Value, values: list[Value]) -> Iteration:
        a, b = (Term(x.n, v) for v in values)
        done = b.equals(0)
        following = done.choose(a, b), done.choose(b, a % done.choose(1, b))
        return Iteration([v.value for v in following], going=unfinished(following[1]))

    found, _ = while_loop(x.n, step, [a.value, b.value], None, unfinished(b))
    return Term(x.n, found[0])


def lcm(x: Term, y: Term) -> Term:
    """The least common multiple of integers."""
    return x.function(nn.Abs) / gcd(x, y).max(1) * y.function(nn.Abs)


# -- functions -------------------------------------------------------------------------------------


def polyval(coefficients: Sequence[float | Term], x: Term) -> Term:
    """The polynomial with these coefficients, the highest power first, by Horner's rule."""
    first, *rest = coefficients
    if not rest:
        return x.zeros() + first
    return reduce(lambda found, c: found * x + c, rest[1:], x * first + rest[0])


def exp2(x: Term) -> Term:
    """2**x"""
    return 2.0**x


def log2(x: Term) -> Term:
    """The logarithm of base 2."""
    return x.function(nn.Log) / math.log(2)


def log10(x: Term) -> Term:
    """The logarithm of base 10."""
    return x.function(nn.Log) / math.log(10)


def logaddexp(x: Term, y: Term, unit: float = 1.0) -> Term:
    """log(exp(x) + exp(y)); for another base, `unit` is the base's natural logarithm."""
    apart = x.equals(y).choose(0.0, -(x - y).function(nn.Abs))
    return x.max(y) + (apart * unit).function(nn.Exp).function(nn.Log1p) / unit


def hypot(x: Term, y: Term) -> Term:
    """sqrt(x² + y²), in which no square overflows; infinite where x or y is."""
    a, b = x.function(nn.Abs), y.function(nn.Abs)
    great, small = a.max(b), a.min(b)
    share = small / great
    found = great * (share * share + 1.0).function(nn.Sqrt)
    found = great.equals(0.0).choose(great, found)
    return (a.equals(math.inf) | b.equals(math.inf)).choose(math.inf, found)


def sinc(x: Term) -> Term:
    """sin(pi * x) / (pi * x); 1 at x = 0."""
    turn = x * math.pi
    return turn.equals(0.0).choose(1.0, turn.function(nn.Sin) / turn)


def cbrt(x: Term) -> Term:
    """The cube root, with the sign of x: a power, and a step of Newton's method."""
    magnitude = x.function(nn.Abs)
    root = magnitude ** (1.0 / 3.0)
    better = root - (root - magnitude / (root * root)) / 3.0  # root**3 may be infinite
    usable = (magnitude > 0.0) & (magnitude < math.inf)
    return copysign(usable.choose(better, magnitude), x)


def atan2(y: Term, x: Term) -> Term:
    """The angle of the point (x, y), by the arc tangent of the smaller over the greater."""
    ay, ax = y.function(nn.Abs), x.function(nn.Abs)
    great, small = ax.max(ay), ax.min(ay)
    ratio = (great > 0.0).choose(small / great, 0.0)
    same = great.equals(math.inf) & small.equals(math.inf)
    angle = same.choose(1.0, ratio).function(nn.Atan)
    angle = (ay > ax).choose(math.pi / 2 - angle, angle)
    angle = is_negative(x).choose(math.pi - angle, angle)
    angle = is_negative(y).choose(-angle, angle)
    missing = ~(x.equals(x) & y.equals(y))
    return missing.choose(math.nan, angle)


# -- bits ------------------------------------------------------------------------------------------


def width_of(x: Term) -> int:
    """The number of bits of an element."""
    element: Any = x.element
    return element.width


def bits_of(x: Term) -> Term:
    """The bits of floats as integers."""
    integers = TensorType(x.shape, IntegerType(width_of(x)))
    return x.made(nn.Bitcast(x.value, out=integers))


def is_negative(x: Term) -> Term:
    """Whether the sign bit is set, as it is for -0 too."""
    return bits_of(x) < 0


def power_of_two_below(x: Term) -> Term:
    """The greatest power of two that is not more than a positive float; 1 for 0 and subnormals."""
    mantissa = {16: 10, 32: 23, 64: 52}[width_of(x)]
    exponent = (bits_of(x) >> mantissa) << mantissa
    found = x.made(nn.Bitcast(exponent.value, out=x.value.type))
    return found.equals(0.0).choose(1.0, found)
