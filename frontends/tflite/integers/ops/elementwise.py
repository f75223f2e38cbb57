"""Integer arithmetic and comparisons, with broadcasting, and requantization."""

from __future__ import annotations

from ....common.fixed_functions import leading_zeros, reciprocal
from ....common.fixed_point import Multiplier, divided_by_power, high_product, nearest_steps
from ....common.vocabulary import *
from ...layer import TfliteLayer
from ..rows import INTEGERS
from ..steps import Quantization, centred, of_input, of_output, quantization, stored


def _scaled(n: TfliteLayer, i: int, x: Value, left: int, real: float) -> Term:
    """Operand i minus its zero point, times 2^left and a real number."""
    return Multiplier.of(real)(centred(n, i, x) << left)


def _summed(
    n: TfliteLayer, lhs: Value, rhs: Value, combine: Callable[[Term, Term], Term], left: int
) -> tuple[Term, np.float64]:
    """The combination of both operands in a common scale, and twice the larger scale."""
    first, second = of_input(n, 0).scale, of_input(n, 1).scale
    twice = np.float64(np.float32(2) * max(first, second))
    scaled = (
        _scaled(n, i, x, left, np.float64(scale) / twice)
        for i, (x, scale) in enumerate(((lhs, first), (rhs, second)))
    )
    return combine(*scaled), twice


def _sum(combine: Callable[[Term, Term], Term]) -> Any:
    def convert(n: TfliteLayer, lhs: Value, rhs: Value) -> Value:
        out = of_output(n)
        if out.element.width == 16 and _has_powers(n):
            return _sum_of_powers(n, lhs, rhs, combine)
        left = 15 if out.element.width == 16 else 20
        sums, twice = _summed(n, lhs, rhs, combine, left)
        real = twice / np.float64(np.float32(1 << left) * out.scale)
        return stored(n, Multiplier.of(real)(sums), n.options.activation)

    return convert


def _has_powers(n: TfliteLayer) -> bool:
    """Whether the options require scales that are powers of two, and the scales are."""
    if not n.options.powers_of_two:
        return False
    scales = [of_input(n, 0).scale, of_input(n, 1).scale, of_output(n).scale]
    return all(is_power(scale) for scale in scales)


def is_power(scale: np.float32) -> bool:
    """Whether a scale is nearly a power of two."""
    power = np.float32(np.log(scale)) * np.float32(1 / np.log(np.float32(2)))
    return bool(abs(power - np.round(power)) < 1e-3)


def power_of(scale: np.float32) -> int:
    """The exponent of the nearest power of two."""
    return int(np.round(np.log2(scale)))


def _sum_of_powers(
    n: TfliteLayer, lhs: Value, rhs: Value, combine: Callable[[Term, Term], Term]
) -> Value:
    """`combine` of two operands, one with the result's scale, the other's smaller by a power of
    two.
    """
    powers = [power_of(of_input(n, i).scale) - power_of(of_output(n).scale) for i in range(2)]
    if max(powers) > 0 or all(powers):
        raise n.error("one operand must have the scale of the result, the other no larger one")
    parts = [
        divided_by_power(centred(n, i, x), -power)
        for i, (x, power) in enumerate(zip((lhs, rhs), powers, strict=True))
    ]
    return stored(n, combine(*parts), n.options.activation)


INTEGERS.add({"ADD": _sum(lambda x, y: x + y), "SUB": _sum(lambda x, y: x - y)})


@INTEGERS("MUL")
def mul(n: TfliteLayer, lhs: Value, rhs: Value) -> Value:
    real = of_input(n, 0).scale * of_input(n, 1).scale / of_output(n).scale
    found = Multiplier.of(real)(centred(n, 0, lhs) * centred(n, 1, rhs))
    return stored(n, found, n.options.activation)


@INTEGERS("SQUARED_DIFFERENCE")
def squared_difference(n: TfliteLayer, lhs: Value, rhs: Value) -> Value:
    apart, twice = _summed(n, lhs, rhs, lambda x, y: x - y, 7)
    real = twice * twice / np.float64(np.float32(1 << 14) * of_output(n).scale)
    return stored(n, Multiplier.of(real)(apart * apart))


@INTEGERS("DIV")
def div(n: TfliteLayer, lhs: Value, rhs: Value) -> Value:
    """The dividend, shifted left as far as it fits, times the divisor's reciprocal."""
    real = np.float64(of_input(n, 0).scale / (of_input(n, 1).scale * of_output(n).scale))
    scale = Multiplier.of(real)
    above, below = centred(n, 0, lhs), centred(n, 1, rhs)
    above = (below < 0).choose(-above, above)
    inverse, over = reciprocal(below.function(nn.Abs).max(1), 31)
    size = (above < 0).choose(~above, above)
    room = size.equals(0).choose(31, leading_zeros(size.max(1)) - 1)
    quotient = high_product(above << room, inverse)
    fine = high_product(quotient, constant(n, scale.significand))
    found = divided_by_power(fine, (over + room) - int(scale.shift))
    return stored(n, found, n.options.activation)


_SCALED_OF_16 = ("EQUAL", "NOT_EQUAL")
"""Comparisons whose kernels look at the scales of 16-bit integers; others compare the steps."""


def _comparison(compare: Callable[[Term, Term], Term]) -> Any:
    def convert(n: TfliteLayer, lhs: Value, rhs: Value) -> Value:
        if of_input(n, 0).element.width == 16 and n.kind not in _SCALED_OF_16:
            return compare(Term(n, lhs), Term(n, rhs)).value
        operands = (
            _scaled(n, i, x, 8, np.float64(of_input(n, i).scale)) for i, x in enumerate((lhs, rhs))
        )
        return compare(*operands).value

    return convert


_COMPARISONS: dict[str, Callable[[Term, Term], Term]] = {
    "EQUAL": lambda x, y: x.equals(y),
    "NOT_EQUAL": lambda x, y: ~x.equals(y),
    "LESS": lambda x, y: x < y,
    "LESS_EQUAL": lambda x, y: x <= y,
    "GREATER": lambda x, y: x > y,
    "GREATER_EQUAL": lambda x, y: x >= y,
}
INTEGERS.add({kind: _comparison(compare) for kind, compare in _COMPARISONS.items()})
INTEGERS.add(
    {
        "MAXIMUM": lambda n, x, y: n(nn.Max(x, y)),
        "MINIMUM": lambda n, x, y: n(nn.Min(x, y)),
    }
)


# -- other steps -----------------------------------------------------------------------------------


@INTEGERS("QUANTIZE")
def quantize(n: TfliteLayer, x: Value) -> Value:
    """Floats quantized, or integers requantized."""
    if not isinstance(x.type.element_type, FloatType):
        real = np.float64(of_input(n, 0).scale) / np.float64(of_output(n).scale)
        return stored(n, Multiplier.of(real)(centred(n, 0, x)))
    about = quantization(n, n.attributes.outputs[0])
    if about.is_one:
        return stored(n, nearest_steps(Term(n, x), about.scale))
    shape = [-1 if i == about.axis else 1 for i in range(x.type.rank)]
    steps = nearest_steps(Term(n, x), about.scales.reshape(shape))
    zeros = np.broadcast_to(about.zeros, about.scales.shape).astype(np.int32)
    return _within(n, steps + Term(n, n.constant(zeros.reshape(shape))), about)


def _within(n: TfliteLayer, x: Term, about: Quantization) -> Value:
    least, most = (int(v) for v in limits_of(about.element))
    return n.cast(n(nn.Clip(x.value, n.constant(least, i32), n.constant(most, i32))), about.element)


def _clipped(number: int) -> Any:
    """A converter of the activation with this number; the result may have another quantization."""

    def convert(n: TfliteLayer, x: Value) -> Value:
        real = np.float64(of_input(n, 0).scale / of_output(n).scale)
        return stored(n, Multiplier.of(real)(centred(n, 0, x)), number)

    return convert


INTEGERS.add(
    {
        "RELU": _clipped(1),
        "RELU_N1_TO_1": _clipped(2),
        "RELU6": _clipped(3),
        "RELU_0_TO_1": _clipped(-1),
    }
)


@INTEGERS("LEAKY_RELU")
def leaky_relu(n: TfliteLayer, x: Value) -> Value:
    inner, outer = of_input(n, 0).scale, of_output(n).scale
    alpha = np.float32(n.options.alpha)
    data = centred(n, 0, x)
    slope = np.float64(inner * alpha / outer)
    below = Multiplier.of(abs(slope))(data)
    below = -below if slope < 0 else below
    return stored(n, (data >= 0).choose(Multiplier.of(np.float64(inner / outer))(data), below))


@INTEGERS("PRELU")
def prelu(n: TfliteLayer, x: Value, slope: Value) -> Value:
    inner, alpha, outer = of_input(n, 0).scale, of_input(n, 1).scale, of_output(n).scale
    data = centred(n, 0, x)
    above = Multiplier.of(np.float64(inner / outer))(data)
    below = Multiplier.of(np.float64(inner * alpha / outer))(data * centred(n, 1, slope))
    return stored(n, (data >= 0).choose(above, below))
