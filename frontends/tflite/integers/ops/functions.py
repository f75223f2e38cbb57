"""Elementwise functions: for 8 bits, by a table of 256 entries.

For 16 bits, by linear interpolation in a table of 513 entries, or in that of sigmoid(i / 24).
"""

from __future__ import annotations

from ....common.fixed_functions import inverse_root
from ....common.fixed_point import Multiplier, divided_by_power, rounded_away
from ....common.vocabulary import *
from ...layer import TfliteLayer
from ..rows import INTEGERS
from ..steps import centred, limited, of_input, of_output, stored
from .elementwise import is_power, power_of

Real = Callable[[TfliteLayer, np.ndarray], np.ndarray]
"""A function of f32 numbers, with each operation rounded to f32."""


def tabulated(n: TfliteLayer, x: Value, function: Callable[[Term], Value]) -> Value:
    """A function tabulated for all 8-bit integers, looked up at the elements of x."""
    least, most = (int(v) for v in limits_of(x.type.element_type))
    every = np.arange(least, most + 1, dtype=type_to_numpy(x.type.element_type))
    table = function(Term(n, n.constant(every)))
    return gathered(n, table, (Term(n, x).cast(i32) - least).value)


def between_words(n: TfliteLayer, table: np.ndarray, x: Term) -> Term:
    """Values of a table of 513 entries for 16-bit x, interpolated linearly by its low 7 bits."""
    place = (x >> 7) + 256
    words = constant(n, table.astype(np.int32))
    base = words.gather(place)
    slope = _as_i16(words.gather(place + 1) - base)
    return _as_i16(base + ((slope * (x & 0x7F) + 64) >> 7))


def _as_i16(x: Term) -> Term:
    return x.cast(i16).cast(i32)


def words_between(
    function: Callable[[np.ndarray], np.ndarray], ins: tuple[Any, int], outs: tuple[Any, int]
) -> np.ndarray:
    """The 513 entries of a function of floats, from the scales and zero points of both sides.

    Each entry is shifted by half of the interpolation error in the middle of its interval.
    """
    number = type(ins[0])
    low, high = (ins[0] * number(v - ins[1]) for v in (-(1 << 15), (1 << 15) - 1))
    least, most = (outs[0] * number(v - outs[1]) for v in (-(1 << 15), (1 << 15) - 1))
    step, inverse = (high - low) / number(512), number(1 << 16) / (most - least)
    at = low + np.arange(512).astype(number) * step
    after = low + np.arange(1, 513).astype(number) * step
    here, middle, then = (function(v) for v in (at, at + step / number(2), after))
    sample = rounded_away(here * inverse)
    line = rounded_away((then * inverse + sample) / number(2))
    bias = rounded_away((line - rounded_away(middle * inverse)) / number(2))
    last = rounded_away(function(np.array([high])) * inverse)
    return np.clip(np.concatenate([sample - bias, last]), -(1 << 15), (1 << 15) - 1).astype(
        np.int16
    )


def _function(real: Real) -> Any:
    """A converter of a function of real numbers."""

    def convert(n: TfliteLayer, x: Value) -> Value:
        about, out = of_input(n, 0), of_output(n)

        def function(numbers: np.ndarray) -> np.ndarray:
            with np.errstate(all="ignore"):
                return real(n, numbers).astype(np.float32)

        def table(steps: Term) -> Value:
            every = n.array(steps.value)
            assert every is not None
            centre = every.astype(np.int32) - about.zero
            real_ = function(about.scale * centre.astype(np.float32))
            words = rounded_away(real_ * (np.float32(1) / out.scale)) + np.float32(out.zero)
            least, most = limits_of(out.element)
            words = np.clip(words, least, most)
            return n.constant(words.astype(type_to_numpy(out.element)))

        if about.element.width == 8:
            return tabulated(n, x, table)
        words = words_between(function, (about.scale, about.zero), (out.scale, out.zero))
        return n.cast(between_words(n, words, Term(n, x).cast(i32)).value, out.element)

    return convert


def _rounded(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """A function of f32 that is computed in f64 and rounded."""
    return lambda x: function(x.astype(np.float64)).astype(np.float32)


_exp, _tanh = _rounded(np.exp), _rounded(np.tanh)


def _gelu(n: TfliteLayer, x: np.ndarray) -> np.ndarray:
    half, one = np.float32(0.5), np.float32(1)
    if not n.options.approximate:
        complement = _rounded(np.vectorize(math.erfc))
        return half * x * complement(x * np.float32(-math.sqrt(0.5)))
    cubic = x + np.float32(0.044715) * x * x * x
    return half * x * (one + _tanh(np.float32(math.sqrt(2 / math.pi)) * cubic))


def _log(n: TfliteLayer, x: np.ndarray) -> np.ndarray:
    out = of_output(n)
    least = np.float32(limits_of(out.element)[0] - out.zero) * out.scale
    return np.where(x <= 0, least, _rounded(np.log)(np.where(x <= 0, 1, x).astype(np.float32)))


_REAL: dict[str, Real] = {
    "EXP": lambda n, x: _exp(x),
    "ELU": lambda n, x: np.where(x < 0, _rounded(np.expm1)(x), x),
    "GELU": _gelu,
    "LOG": _log,
}
INTEGERS.add({kind: _function(real) for kind, real in _REAL.items()})


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return np.float32(1) / (np.float32(1) + _exp(-x))


def _sigmoids() -> np.ndarray:
    """sigmoid(i / 24) * 2^16, shifted by half of the interpolation error."""
    places = np.arange(256.0)
    here, middle, then = (65536 / (1 + np.exp(-(places + d) / 24)) for d in (0, 0.5, 1))
    found = rounded_away(here + (middle - (here + then) / 2) / 2).astype(np.int32)
    found[-1] = 65535
    return found


SIGMOIDS = _sigmoids()


def sigmoid_16(n: TfliteLayer, x: Term, multiplier: int, shift: int) -> Term:
    """2^15 * sigmoid of x * multiplier / 2^shift * 2^-12 / 3, for x of i32."""
    data = x * multiplier
    data = (data + (1 << (shift - 1))) >> shift if shift else data
    size = data.function(nn.Abs)
    found = _on_sigmoids(n, size, 9, 0x7FFF << 10)
    found = (data >= 0).choose(found + (1 << 9), (1 << 25) - found + (1 << 9) - 1)
    return found >> 10


def tanh_16(n: TfliteLayer, x: Term, multiplier: int, shift: int) -> Term:
    """2^15 * tanh of x * multiplier / 2^shift * 2^-12 / 3, for x of i32."""
    data = x * multiplier
    data = (data + (1 << (shift - 1))) >> shift if shift else data
    size = data.function(nn.Abs)
    found = _on_sigmoids(n, size, 8, 0xFFFF << 8)
    middle = (1 << 23) - (1 << 7)
    return (data >= 0).choose(found - middle, (1 << 23) + (1 << 7) - 1 - found) >> 8


def _on_sigmoids(n: TfliteLayer, size: Term, bits: int, most: int) -> Term:
    """The interpolation between two entries of the table by the lowest `bits` bits."""
    place = (size >> bits).min(254)
    words = constant(n, SIGMOIDS)
    low = words.gather(place)
    rest = size & ((1 << bits) - 1)
    found = (low << bits) + rest * (words.gather(place + 1) - low)
    return ((size >> bits) >= 255).choose(most, found)


def _rescaled(scale: np.float32) -> tuple[int, int]:
    """A multiplier of up to 15 bits, and its shift, from a scale to 2^-12 / 3."""
    real, shift = float(scale) * 4096.0 * 3.0, 0
    while real <= 32767.0 / 2.0 and shift <= 30:
        real, shift = real * 2, shift + 1
    return int(real), shift


@INTEGERS("LOGISTIC")
def logistic(n: TfliteLayer, x: Value) -> Value:
    about = of_input(n, 0)
    if about.element.width == 8:
        return _function(lambda n, x: _sigmoid(x))(n, x)
    multiplier, shift = _rescaled(about.scale)
    if is_power(about.scale) and power_of(about.scale) == -12:
        multiplier, shift = 3, 0
    return n.cast(sigmoid_16(n, Term(n, x).cast(i32), multiplier, shift).value, i16)


@INTEGERS("TANH")
def tanh(n: TfliteLayer, x: Value) -> Value:
    about = of_input(n, 0)
    if about.element.width == 8:
        return _function(lambda n, x: _tanh(x))(n, x)
    multiplier, shift = _rescaled(about.scale)
    if is_power(about.scale) and power_of(about.scale) in (-12, -11):
        multiplier, shift = 3 << (power_of(about.scale) + 12), 0
    return n.cast(tanh_16(n, Term(n, x).cast(i32), multiplier, shift).value, i16)


@INTEGERS("HARD_SWISH")
def hard_swish(n: TfliteLayer, x: Value) -> Value:
    """x * (x + 3) / 6 between -3 and 3, in 16 bits."""
    if of_input(n, 0).element.width != 8:
        return NotImplemented
    fine, out = np.float32(1 / 128) * of_input(n, 0).scale, of_output(n).scale
    outer = Multiplier.of(np.float64(fine / out))
    inner = Multiplier.of(np.float64(fine / np.float32(3 / 32768)))
    power = int(inner.shift)

    def function(every: Term) -> Value:
        data = centred(n, 0, every.value) << 7
        before = _high_16(data, _in_15_bits(outer))
        share = limited_16(data << (power - 1)) if power > 0 else data
        share = _high_16(share, _in_15_bits(inner))
        share = limited_16(share << 1) if power > 0 else divided_by_power(share, max(0, -power))
        share = (share + (1 << 15)) >> 1
        found = (share * before) / (1 << 15)
        return stored(n, divided_by_power(found, -int(outer.shift)))

    return tabulated(n, x, function)


def _in_15_bits(m: Multiplier) -> int:
    few = int(m.significand) + (1 << 15)
    return (1 << 15) - 1 if few >= (1 << 31) - 1 else few >> 16


def _high_16(x: Term, factor: int) -> Term:
    """round(x * factor / 2^15), halves up."""
    return (x * factor + (1 << 14)) >> 15


def limited_16(x: Term) -> Term:
    """x within the numbers of 16 bits."""
    return x.max(-(1 << 15)).min((1 << 15) - 1)


@INTEGERS("ABS")
def absolute(n: TfliteLayer, x: Value) -> Value:
    inner, outer = of_input(n, 0).scale, of_output(n).scale
    size = centred(n, 0, x).function(nn.Abs)
    return stored(n, size if inner == outer else Multiplier.of(np.float64(inner / outer))(size))


@INTEGERS("SQRT")
def sqrt(n: TfliteLayer, x: Value) -> Value:
    """The square root; 0 for negative numbers, which the kernels refuse."""
    about, out = of_input(n, 0), of_output(n)
    centre = centred(n, 0, x).max(0)
    root = (centre.cast(f32) * Term(n, n.constant(about.scale))).function(nn.Sqrt)
    steps = (root.cast(f64) * (1.0 / float(out.scale))).cast(f32).cast(i32)
    return stored(n, steps)


@INTEGERS("RSQRT")
def rsqrt(n: TfliteLayer, x: Value) -> Value:
    """1 / sqrt(x); the largest number for 0, and for negative ones, which the kernels refuse."""
    about, out = of_input(n, 0), of_output(n)
    if about.element.width == 16:
        most = np.float32((1 << 15) - 1) * out.scale

        def real(n: TfliteLayer, x: np.ndarray) -> np.ndarray:
            return np.where(x <= 0, most, np.float32(1) / np.sqrt(np.where(x <= 0, 1, x)))

        return _function(real)(n, x)
    scale = Multiplier.of(1.0 / np.float64(np.sqrt(about.scale) * out.scale))
    shift = 20

    def function(every: Term) -> Value:
        data = centred(n, 0, every.value)
        root, power = inverse_root(data.max(1))
        # 1 * 2^(20 - power) times the root: the same with one more shift to the left.
        left, right = (shift - power).max(0), (power - shift).max(0)
        one = (root.cast(i64) * (constant(n, 1, i64) << left.cast(i64)) + (1 << 30)) >> 31
        fine = divided_by_power(one.cast(i32), right)
        steps = Multiplier(scale.significand, scale.shift - shift)(fine) + out.zero
        most = int(limits_of(out.element)[1])
        return limited(n, (data > 0).choose(steps, most))

    return tabulated(n, x, function)
