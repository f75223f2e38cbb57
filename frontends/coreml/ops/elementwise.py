"""What works on each element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import FloatType, TensorType, i1
from ...common.activations import activation, affine, clipped
from ...common.shapes import reshape
from ..layer import CoreMLLayer
from ..rows import ROWS

_UNARY = {
    "abs": nn.Abs,
    "acos": nn.Acos,
    "asin": nn.Asin,
    "atan": nn.Atan,
    "atanh": nn.Atanh,
    "ceil": nn.Ceil,
    "cos": nn.Cos,
    "cosh": nn.Cosh,
    "erf": nn.Erf,
    "exp": nn.Exp,
    "floor": nn.Floor,
    "logical_not": nn.Not,
    "round": nn.Round,
    "sign": nn.Sign,
    "sin": nn.Sin,
    "sinh": nn.Sinh,
    "sqrt": nn.Sqrt,
    "tan": nn.Tan,
}
_BINARY = {
    "add": nn.Add,
    "equal": nn.Equal,
    "greater": nn.Greater,
    "greater_equal": nn.GreaterEqual,
    "less": nn.Less,
    "less_equal": nn.LessEqual,
    "logical_and": nn.And,
    "logical_or": nn.Or,
    "logical_xor": nn.Xor,
    "maximum": nn.Max,
    "minimum": nn.Min,
    "mul": nn.Mul,
    "real_div": nn.Div,
    "pow": nn.Pow,
    "sub": nn.Sub,
}
_ACTIVATIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "clip": ("clip", ("alpha", "beta")),
    "elu": ("elu", ("alpha",)),
    "leaky_relu": ("leakyrelu", ("alpha",)),
    "linear_activation": ("affine", ("alpha", "beta")),
    "relu": ("relu", ()),
    "relu6": ("relu6", ()),
    "scaled_tanh": ("scaledtanh", ("alpha", "beta")),
    "sigmoid": ("sigmoid", ()),
    "sigmoid_hard": ("hardsigmoid", ("alpha", "beta")),
    "silu": ("silu", ()),
    "softplus": ("softplus", ()),
    "softsign": ("softsign", ()),
    "tanh": ("tanh", ()),
    "thresholded_relu": ("thresholdedrelu", ("alpha",)),
}


def _unary(op: Callable[[Value], Any]) -> Callable[..., Value]:
    return lambda n, x: n(op(x))


def _binary(op: Callable[[Value, Value], Any]) -> Callable[..., Value]:
    return lambda n, x, y: n(op(x, y))


def _activation(name: str, parameters: tuple[str, ...]) -> Callable[..., Value]:
    def convert(n: CoreMLLayer, x: Value) -> Value:
        given = [n.float(one) if n.has(one) else None for one in parameters]
        return activation(n, name, x, *given)

    return convert


ROWS.add({name: _unary(op) for name, op in _UNARY.items()})
ROWS.add({name: _binary(op) for name, op in _BINARY.items()})
ROWS.add({name: _activation(*row) for name, row in _ACTIVATIONS.items()})


@ROWS("identity", "read_state")
def identity(n: CoreMLLayer, x: Value) -> Value:
    return x


@ROWS("not_equal")
def not_equal(n: CoreMLLayer, x: Value, y: Value) -> Value:
    return n(nn.Not(n(nn.Equal(x, y))))


@ROWS("floor_div")
def floor_div(n: CoreMLLayer, x: Value, y: Value) -> Value:
    if isinstance(x.type.element_type, FloatType):
        return n(nn.Floor(n(nn.Div(x, y))))
    return n(nn.Div(n(nn.Sub(x, n(nn.Mod(x, y)))), y))


@ROWS("mod")
def mod(n: CoreMLLayer, x: Value, y: Value) -> Value:
    if not isinstance(x.type.element_type, FloatType):
        return n(nn.Mod(x, y))
    return n(nn.Sub(x, n(nn.Mul(floor_div(n, x, y), y))))


@ROWS("exp2")
def exp2(n: CoreMLLayer, x: Value) -> Value:
    return n(nn.Pow(n.scalar(2, x), x))


@ROWS("square")
def square(n: CoreMLLayer, x: Value) -> Value:
    return n(nn.Mul(x, x))


@ROWS("inverse", "log", "rsqrt")
def shifted(n: CoreMLLayer, x: Value) -> Value:
    """A function of x + epsilon; the default one of a reciprocal is large."""
    epsilon = n.float("epsilon", 1e-4 if n.kind == "inverse" else 1e-12)
    if n.kind == "log" and not n.has("epsilon"):
        epsilon = 0
    ops = {"inverse": nn.Reciprocal, "log": nn.Log, "rsqrt": nn.Rsqrt}
    return n(ops[n.kind](affine(n, x, 1, epsilon)))


@ROWS("threshold")
def threshold(n: CoreMLLayer, x: Value) -> Value:
    return n(nn.Max(x, n.scalar(n.float("alpha"), x)))


@ROWS("clamped_relu")
def clamped_relu(n: CoreMLLayer, x: Value) -> Value:
    limit = n.scalar(n.float("beta"), x)
    return n(nn.Min(activation(n, "leakyrelu", x, n.float("alpha")), limit))


@ROWS("gelu")
def gelu(n: CoreMLLayer, x: Value) -> Value:
    mode = n.text("mode", "EXACT", "EXACT", "TANH_APPROXIMATION", "SIGMOID_APPROXIMATION")
    if mode == "SIGMOID_APPROXIMATION":
        return activation(n, "silu", x, 1.702)
    return n(nn.Gelu(x, approximate="none" if mode == "EXACT" else "tanh"))


def per_channel(n: CoreMLLayer, values: Value, x: Value) -> Value:
    """One number for each channel, beside an x of [batch, channels, ..]."""
    return reshape(n, values, [(values, 0), *(1,) * (x.type.rank - 2)])


@ROWS("prelu")
def prelu(n: CoreMLLayer, x: Value, alpha: Value) -> Value:
    return n(nn.Prelu(x, per_channel(n, alpha, x)))


@ROWS("softplus_parametric")
def parametric_softplus(n: CoreMLLayer, x: Value, alpha: Value, beta: Value) -> Value:
    inner = n(nn.Softplus(n(nn.Mul(x, per_channel(n, beta, x)))))
    return n(nn.Mul(inner, per_channel(n, alpha, x)))


@ROWS("select")
def select(n: CoreMLLayer, cond: Value, a: Value, b: Value) -> Value:
    return n(nn.Where(n.cast(cond, i1), a, b))


@ROWS("cast")
def cast(n: CoreMLLayer, x: Value) -> Value:
    return n.cast(x, n.element("dtype"))


@ROWS("quantize")
def quantize(n: CoreMLLayer, input: Value, scale: Value, zero_point: Value | None = None) -> Value:
    element = n.element("output_dtype")
    y = n(nn.Round(n(nn.Div(input, _along_axis(n, scale, input)))))
    if zero_point is not None:
        y = n(nn.Add(y, n.cast(_along_axis(n, zero_point, input), y.type.element_type)))
    low = 0 if str(element).startswith("u") else -128
    return n.cast(clipped(n, y, low, low + 255), element)


@ROWS("dequantize")
def dequantize(
    n: CoreMLLayer, input: Value, scale: Value, zero_point: Value | None = None
) -> Value:
    element = scale.type.element_type
    y = n.cast(input, element)
    if zero_point is not None:
        y = n(nn.Sub(y, n.cast(_along_axis(n, zero_point, input), element)))
    return n(nn.Mul(y, _along_axis(n, scale, input)))


def _along_axis(n: CoreMLLayer, value: Value, x: Value) -> Value:
    """A number, or one for each position of the axis."""
    if value.type.rank == 0:
        return value
    behind = x.type.rank - 1 - n.int("axis") % x.type.rank
    return n(
        nn.Reshape(
            value, out=TensorType((*value.type.shape, *(1,) * behind), value.type.element_type)
        )
    )
