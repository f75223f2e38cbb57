"""Operators on whole rows: softmax, log-softmax, and norms."""

from __future__ import annotations

from ....common import fixed_functions as fixed
from ....common.fixed_point import Multiplier, divided_by_power, high_product
from ....common.vocabulary import *
from ...layer import TfliteLayer
from ..rows import INTEGERS
from ..steps import centred, limited, of_input, of_output
from .functions import between_words, words_between

DIFFERENCE_BITS = 5
SUM_BITS = 12


def _below_largest(n: TfliteLayer, x: Value) -> Term:
    """Elements minus the largest of their row, as i32."""
    data = Term(n, x).cast(i32)
    return data - data.largest(data.rank - 1, keep=True)


def _difference_scale(scale: np.float32, beta: float) -> tuple[Multiplier, int]:
    """The multiplier to numbers of five integer bits, and the least difference that counts."""
    real = min(float(np.float32(beta)) * float(scale) * (1 << (31 - DIFFERENCE_BITS)), 2.0**31 - 1)
    multiplier = Multiplier.of(real)
    most = (
        ((1 << DIFFERENCE_BITS) - 1) * 2.0 ** (31 - DIFFERENCE_BITS) / 2.0 ** int(multiplier.shift)
    )
    return multiplier, -math.floor(most)


def _of_differences(n: TfliteLayer, function: Callable[[Term], Term], apart: Term) -> Term:
    """A function of i32 differences from -255 to 0, by a table."""
    table = function(constant(n, np.arange(-255, 1, dtype=np.int32)))
    return table.gather(apart + 255)


@INTEGERS("SOFTMAX")
def softmax(n: TfliteLayer, x: Value) -> Value:
    about, out = of_input(n, 0), of_output(n)
    beta = n.options.beta
    if about.element.width == 16:
        return _softmax_16(n, x, np.float32(beta))
    scale, least = _difference_scale(about.scale, beta)
    apart = _below_largest(n, x)

    def power(apart: Term) -> Term:
        found = fixed.exponential(scale(apart.max(least)), DIFFERENCE_BITS)
        return (apart >= least).choose(found, 0)

    powers = _of_differences(n, power, apart)
    parts = _of_differences(n, lambda v: divided_by_power(power(v), SUM_BITS), apart)
    inverse, over = fixed.reciprocal(parts.sum(apart.rank - 1, keep=True), SUM_BITS)
    exponent = over + (31 - out.element.width)
    found = divided_by_power(high_product(powers, inverse), exponent)
    least_out = int(limits_of(out.element)[0])
    return limited(n, found + least_out if least_out else found)


def _softmax_16(n: TfliteLayer, x: Value, beta: np.float32) -> Value:
    """Softmax by tables of exp between -10 and 0 and of 1 / (1 + x) between 0 and 1."""
    whole, most = float((1 << 16) - 1), (1 << 15) - 1
    outs = np.float64(2.0 / whole), 0
    powers = words_between(np.exp, (np.float64(10.0 / whole), most), outs)
    inverses = words_between(lambda v: 1 / (1 + v), (np.float64(1.0 / whole), -most - 1), outs)
    real = np.float64(of_input(n, 0).scale * beta) / (10.0 / 65535.0)
    apart = Multiplier.of(real)(_below_largest(n, x))
    power = between_words(n, powers, (apart + most).max(-most - 1).min(most))
    total = power.sum(power.rank - 1, keep=True)
    zeros = fixed.leading_zeros(total)
    wide = (total.cast(i64) << (zeros - 1).cast(i64)) + (1 << 13)
    part = (wide >> 14).cast(i32) - ((1 << 15) + (1 << 16))
    inverse = between_words(n, inverses, part.max(-most - 1).min(most))
    right = (31 - zeros).cast(i64)
    half = constant(n, 1, i64) << (right - 1)
    found = (power.cast(i64) * inverse.cast(i64) + half) >> right
    return n.cast(found.cast(i32).max(0).min(most).value, i16)


@INTEGERS("LOG_SOFTMAX")
def log_softmax(n: TfliteLayer, x: Value) -> Value:
    about, out = of_input(n, 0), of_output(n)
    if about.element.width != 8:
        return NotImplemented
    scale, least = _difference_scale(about.scale, 1.0)
    apart = _below_largest(n, x)

    def part(apart: Term) -> Term:
        power = fixed.exponential(scale(apart.max(least)), DIFFERENCE_BITS)
        return (apart >= least).choose(divided_by_power(power, SUM_BITS), 0)

    total = _of_differences(n, part, apart).sum(apart.rank - 1, keep=True)
    log = fixed.logarithm(total, SUM_BITS, DIFFERENCE_BITS)
    back = Multiplier.of(2.0 ** (31 - int(scale.shift)) / float(scale.significand))
    lowest = back(log + fixed.LEAST).max(least - 1)
    found = divided_by_power(scale(apart) - log, 31 - DIFFERENCE_BITS - 4)
    most = int(limits_of(out.element)[1])
    found = (apart > lowest).choose(found + most, int(limits_of(out.element)[0]))
    return limited(n, found)


@INTEGERS("L2_NORMALIZATION")
def l2_normalization(n: TfliteLayer, x: Value) -> Value:
    """L2 normalization; the result's scale is 1 / 128."""
    data = centred(n, 0, x)
    root, power = fixed.inverse_root((data * data).sum(data.rank - 1, keep=True))
    if of_output(n).element.signedness == "u":
        found = divided_by_power(high_product(data * 128, root), power) + 128
        return limited(n, found)
    left, right = (7 - power).max(0), (power - 7).max(0)
    return limited(n, divided_by_power(high_product(data << left, root), right))
