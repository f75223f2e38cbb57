"""Functions of single elements, of two tensors, and changes of element types."""

from __future__ import annotations

from ...common.formulas import isfinite, isnan, round_half_away
from ...common.vocabulary import *
from ..layer import OpenvinoLayer, rows

rows.add(
    direct(
        "Abs Acos Acosh Asin Asinh Atan Atanh Ceiling=Ceil Cos Cosh Erf Exp Floor Log Negative=Neg "
        "ReLU=Relu Sigmoid Sign Sin Sinh SoftPlus=Softplus SoftSign=Softsign Sqrt Tan Tanh Mish "
        "LogicalNot=Not BitwiseNot=Not Maximum=Max Minimum=Min "
        "Equal Greater GreaterEqual Less LessEqual LogicalAnd=And LogicalOr=Or LogicalXor=Xor "
        "BitwiseAnd=And BitwiseOr=Or BitwiseXor=Xor HSwish=HardSwish"
    )
)
rows.formulas(
    {
        "NotEqual": lambda n, x, y: n(nn.Not(n(nn.Equal(x, y)))),
        "SquaredDifference": lambda n, x, y: _squared_difference(n, x, y),
        "Add": lambda n, x, y: _limited(n, x, y, nn.Add),
        "Subtract": lambda n, x, y: _limited(n, x, y, nn.Sub),
        "Multiply": lambda n, x, y: _limited(n, x, y, nn.Mul),
        "Power": lambda n, x, y: _limited(n, x, y, nn.Pow),
        "Mod": lambda n, x, y: n(nn.Mod(x, y, fmod=True)),
        "FloorMod": lambda n, x, y: n(nn.Mod(x, y)),
        "Select": lambda n, holds, x, y: n(nn.Where(holds, x, y)),
        "Elu": lambda n, x: activation(n, "elu", x, n.float("alpha")),
        "HSigmoid": lambda n, x: activation(n, "hardsigmoid", x, 1 / 6, 0.5),
        "IsNaN": lambda n, x: isnan(Term(n, x)).value,
        "IsFinite": lambda n, x: isfinite(Term(n, x)).value,
        "SoftMax Softmax": lambda n, x: n(nn.Softmax(x, axis=_own_axis(n, x, 1))),
        "LogSoftmax": lambda n, x: n(nn.LogSoftmax(x, axis=_own_axis(n, x, -1))),
        "Convert": lambda n, x: converted(n, x, n.element("destination_type")),
        "ConvertLike": lambda n, x, like: converted(n, x, like.type.element_type),
    }
)


def is_byte(element: Type) -> bool:
    """Whether results of this type stay in its range instead of wrapping, as OpenVINO's do."""
    return isinstance(element, IntegerType) and element.width == 8


def within(n: OpenvinoLayer, made: Value, element: Type) -> Value:
    """A result in a wider type as one of 8 bits, in its range."""
    low, high = (n.constant(int(v), made.type.element_type) for v in limits_of(element))
    return n.cast(n(nn.Clip(made, low, high)), element)


def _limited(n: OpenvinoLayer, x: Value, y: Value, op: Callable) -> Value:
    """op(x, y); integers of 8 bits stay in their range."""
    element = x.type.element_type
    if not is_byte(element):
        return n(op(x, y))
    wide = f64 if op is nn.Pow else i32
    made = n(op(n.cast(x, wide), n.cast(y, wide)))
    if op is nn.Pow:
        # What i32 cannot hold becomes its least number, and then that of 8 bits.
        made = (Term(n, made) < 2.0**31).choose(Term(n, made), -math.inf).value
    return within(n, made, element)


def _squared_difference(n: OpenvinoLayer, x: Value, y: Value) -> Value:
    if is_byte(x.type.element_type):
        n.warn("OpenVINO 2026.4's CPU plugin gives no squares for integers of 8 bits")

    def squared(x: Value, y: Value) -> Any:
        difference = n(nn.Sub(x, y))
        return nn.Mul(difference, difference)

    return _limited(n, x, y, squared)


def _own_axis(n: OpenvinoLayer, x: Value, default: int) -> int:
    return normalize_axis(n, n.int("axis", default), x.type.rank)


def converted(n: OpenvinoLayer, x: Value, element: Type) -> Value:
    """x with another element type; floats lose their fractions, and all but 0 is true."""
    return n.cast(x, element)


@rows("Divide")
def divide(n: OpenvinoLayer, x: Value, y: Value) -> Value:
    """A quotient; of integers it is rounded down, or towards 0 without `m_pythondiv`."""
    is_rounded_down = n.flag("m_pythondiv", True)
    if isinstance(x.type.element_type, IntegerType) and is_rounded_down:
        n.warn("quotients of integers are rounded down; OpenVINO's CPU plugin rounds them to 0")
        return floor_div(Term(n, x), Term(n, y)).value
    return n(nn.Div(x, y))


@rows("Round")
def round_(n: OpenvinoLayer, x: Value) -> Value:
    match n.text("mode", "half_to_even"):
        case "half_to_even":
            return n(nn.Round(x))
        case "half_away_from_zero":
            return round_half_away(Term(n, x)).value
        case mode:
            raise n.error(f"rounding '{mode}' is not supported")


@rows("Gelu")
def gelu(n: OpenvinoLayer, x: Value) -> Value:
    return n(
        nn.Gelu(x, approximate="tanh" if n.text("approximation_mode", "erf") == "tanh" else "none")
    )


@rows("Swish")
def swish(n: OpenvinoLayer, x: Value, beta: Value | None = None) -> Value:
    """x * sigmoid(beta * x)"""
    scaled = x if beta is None else n(nn.Mul(x, as_scalar(n, beta)))
    return n(nn.Mul(x, n(nn.Sigmoid(scaled))))


@rows("Selu")
def selu(n: OpenvinoLayer, x: Value, alpha: Value, gain: Value) -> Value:
    t, a, g = Term(n, x), Term(n, as_scalar(n, alpha)), Term(n, as_scalar(n, gain))
    return (g * (t > 0.0).choose(t, (t.function(nn.Exp) - 1.0) * a)).value


@rows("HardSigmoid")
def hard_sigmoid(n: OpenvinoLayer, x: Value, alpha: Value, beta: Value) -> Value:
    t = Term(n, x) * Term(n, as_scalar(n, alpha)) + Term(n, as_scalar(n, beta))
    return t.max(0.0).min(1.0).value


@rows("Clamp")
def clamp(n: OpenvinoLayer, x: Value) -> Value:
    low, high = n.float("min"), n.float("max")
    element = x.type.element_type
    if isinstance(element, IntegerType):
        least, most = limits_of(element)
        low, high = max(math.ceil(low), int(least)), min(math.floor(high), int(most))
    return n(nn.Clip(x, n.constant(low, element), n.constant(high, element)))


@rows("PReLU")
def prelu(n: OpenvinoLayer, x: Value, slope: Value) -> Value:
    """x, or its product with a slope below 0; a vector of slopes has one for each channel."""
    if slope.type.rank == 1 and slope.type.shape[0] != 1 and x.type.rank > 1:
        if slope.type.shape[0] != x.type.shape[1]:
            raise n.error(f"slopes '{slope.type}' of '{x.type}'")
        slope = reshape(n, slope, [(slope, 0), *[1] * (x.type.rank - 2)])
    t = Term(n, x)
    return (t < 0.0).choose(t * Term(n, slope), t).value


@rows("IsInf")
def is_inf(n: OpenvinoLayer, x: Value) -> Value:
    t = Term(n, x)
    sides = [t.equals(math.inf)] * n.flag("detect_positive", True)
    sides += [t.equals(-math.inf)] * n.flag("detect_negative", True)
    if not sides:
        return n.cast(n(nn.Mul(x, n.scalar(0.0, x))), i1)
    return (sides[0] | sides[-1]).value


@rows("FakeQuantize")
def fake_quantize(
    n: OpenvinoLayer, x: Value, low: Value, high: Value, first: Value, last: Value
) -> Value:
    """x in [low, high] rounded to one of `levels` steps, which are mapped to [first, last]."""
    steps = float(n.int("levels") - 1)
    t, a, b, c, d = (Term(n, v) for v in (x, low, high, first, last))
    if steps < 1:
        raise n.error(f"{steps + 1:g} levels")
    step = ((t - a) / (b - a) * steps).function(nn.Round)
    inner = step / steps * (d - c) + c
    return (t <= a.min(b)).choose(c, (t > a.max(b)).choose(d, inner)).value


@rows("BitwiseLeftShift", "BitwiseRightShift")
def shift(n: OpenvinoLayer, x: Value, by: Value) -> Value:
    t, count = Term(n, x), Term(n, by)
    return (t << count if n.kind == "BitwiseLeftShift" else t >> count).value


@rows("FakeConvert")
def fake_convert(n: OpenvinoLayer, x: Value, scale: Value, shift: Value | None = None) -> Value:
    """x as it is after it was scaled, shifted and stored with 8 bits, from 16 bits as OpenVINO."""
    element = n.element("destination_type")
    t, factor = Term(n, x), Term(n, scale)
    moved = t * factor
    if shift is not None:
        moved = moved - Term(n, shift)
    half = moved.max(-65504.0).min(65504.0).cast(f16).value
    stored = Term(n, n.cast(n.cast(half, element), x.type.element_type))
    if shift is not None:
        stored = stored + Term(n, shift)
    return (stored / factor).value
