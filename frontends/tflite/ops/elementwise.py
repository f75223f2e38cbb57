"""Arithmetic, comparisons, elementwise functions, and functions of whole rows."""

from __future__ import annotations

from ...common import tensorflow as tf
from ...common.bits import bits_as
from ...common.formulas import hypot
from ...common.vocabulary import *
from ..layer import ACTIVATIONS, Complex, TfliteLayer, real
from ..rows import ROWS

Op = Callable[..., Any]


_UNARY = {
    "FLOOR": nn.Floor, "CEIL": nn.Ceil, "ROUND": nn.Round, "LOGISTIC": nn.Sigmoid, "EXP": nn.Exp,
    "STABLEHLO_LOGISTIC": nn.Sigmoid, "LOG": nn.Log, "SQRT": nn.Sqrt, "RSQRT": nn.Rsqrt,
    "SIN": nn.Sin, "COS": nn.Cos, "ABS": nn.Abs, "NEG": nn.Neg, "SIGN": nn.Sign, "ELU": nn.Elu,
    "HARD_SWISH": nn.HardSwish, "STABLEHLO_ABS": nn.Abs, "STABLEHLO_COSINE": nn.Cos,
    "STABLEHLO_EXPONENTIAL": nn.Exp, "STABLEHLO_FLOOR": nn.Floor, "STABLEHLO_LOG": nn.Log,
    "STABLEHLO_NEGATE": nn.Neg, "STABLEHLO_RSQRT": nn.Rsqrt, "STABLEHLO_TANH": nn.Tanh,
}  # fmt: skip
_BINARY = {
    "MAXIMUM": nn.Max, "MINIMUM": nn.Min, "POW": nn.Pow, "EQUAL": nn.Equal,
    "LESS": nn.Less, "LESS_EQUAL": nn.LessEqual, "GREATER": nn.Greater,
    "GREATER_EQUAL": nn.GreaterEqual, "LOGICAL_AND": nn.And, "LOGICAL_OR": nn.Or,
    "BITWISE_XOR": nn.Xor, "RIGHT_SHIFT": nn.ShiftRight,
    "STABLEHLO_ADD": nn.Add, "STABLEHLO_SUBTRACT": nn.Sub, "STABLEHLO_MULTIPLY": nn.Mul,
    "STABLEHLO_MAXIMUM": nn.Max, "STABLEHLO_MINIMUM": nn.Min, "STABLEHLO_POWER": nn.Pow,
    "STABLEHLO_AND": nn.And, "STABLEHLO_OR": nn.Or, "STABLEHLO_SHIFT_LEFT": nn.ShiftLeft,
}  # fmt: skip
_ACTIVATED = {"ADD": nn.Add, "SUB": nn.Sub, "MUL": nn.Mul}
"""Operators that may have a fused activation."""
_REAL: dict[str, Op] = {
    "RELU": lambda n, x: ACTIVATIONS[1](n, x),
    "RELU_N1_TO_1": lambda n, x: ACTIVATIONS[2](n, x),
    "RELU6": lambda n, x: ACTIVATIONS[3](n, x),
    "TANH": lambda n, x: ACTIVATIONS[4](n, x),
    "RELU_0_TO_1": lambda n, x: clipped(n, x, 0, 1),
    "NOT_EQUAL": lambda n, x, y: n(nn.Not(n(nn.Equal(x, y)))),
    "SQUARE": lambda n, x: n(nn.Mul(x, x)),
    "SQUARED_DIFFERENCE": lambda n, x, y: _squared(n(nn.Sub(x, y)), n),
    "LEAKY_RELU": lambda n, x: n(nn.LeakyRelu(x, alpha=n.options.alpha)),
    "PRELU": lambda n, x, slope: n(nn.Prelu(x, slope)),
    "GELU": lambda n, x: n(nn.Gelu(x, approximate="tanh" if n.options.approximate else "none")),
    "LOG_SOFTMAX": lambda n, x: n(nn.LogSoftmax(x, axis=x.type.rank - 1)),
}


def _squared(x: Value, n: TfliteLayer) -> Value:
    return n(nn.Mul(x, x))


ROWS.add({kind: real(lambda n, x, *, op=op: n(op(x))) for kind, op in _UNARY.items()})
ROWS.add({kind: real(lambda n, x, y, *, op=op: n(op(x, y))) for kind, op in _BINARY.items()})
ROWS.add(
    {
        kind: real(lambda n, x, y, *, op=op: n.activated(n(op(x, y))))
        for kind, op in _ACTIVATED.items()
    }
)
ROWS.add({kind: real(function) for kind, function in _REAL.items()})
ROWS.add(
    {
        "LOGICAL_NOT": lambda n, x: n(nn.Not(x)),
        # Their kernels take integers of 8 and 16 bits as they are stored, whatever their steps.
        "FLOOR_DIV": tf.floor_div,
        "FLOOR_MOD": lambda n, x, y: n(nn.Mod(x, y)),
        "ATAN2": tf.atan2,
        "BUCKETIZE": lambda n, x: tf.bucketize(n, x, n.options.boundaries),
        "REAL": lambda n, x: x.real,
        "IMAG": lambda n, x: x.imaginary,
    }
)


@ROWS("DIV")
@real
def div(n: TfliteLayer, lhs: Value, rhs: Value) -> Value:
    return n.activated(n(nn.Div(lhs, tf.divisor(n, rhs))))


@ROWS("ADD_N")
def add_n(n: TfliteLayer, first: Value, *others: Value) -> Value:
    for value in others:
        first = n(nn.Add(first, value))
    return first


@ROWS("SOFTMAX")
@real
def softmax(n: TfliteLayer, x: Value) -> Value:
    beta = n.options.beta
    scaled = x if beta == 1 else n(nn.Mul(x, n.scalar(beta, x)))
    return n(nn.Softmax(scaled, axis=x.type.rank - 1))


@ROWS("L2_NORMALIZATION")
@real
def l2_normalization(n: TfliteLayer, x: Value) -> Value:
    length = Term(n, reduced(n, x, nn.ReduceL2, (x.type.rank - 1,), keep=True))
    return n.activated((Term(n, x) / length.max(1e-6)).value)


@ROWS("ZEROS_LIKE")
def zeros_like(n: TfliteLayer, x: Value) -> Value:
    return n(nn.Sub(x, x)) if not isinstance(x.type.element_type, FloatType) else _zeros(n, x)


def _zeros(n: TfliteLayer, x: Value) -> Value:
    nothing = n.constant(False, i1)
    return n(nn.Where(nothing, x, n.scalar(0, x)))


@ROWS("CAST")
def cast(n: TfliteLayer, x: Any) -> Value:
    """A cast to the output's element type; of complex numbers, the real part."""
    if isinstance(x, Complex):
        x = x.real
    return n.cast(x, n.output_type())


@ROWS("BITCAST")
def bitcast(n: TfliteLayer, x: Value) -> Value:
    return bits_as(n, x, n.output_type())


@ROWS("COMPLEX_ABS")
def complex_abs(n: TfliteLayer, x: Any) -> Value:
    return hypot(Term(n, x.real), Term(n, x.imaginary)).value
