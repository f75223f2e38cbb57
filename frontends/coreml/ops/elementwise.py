"""Elementwise operations."""

from __future__ import annotations

from ...common.formulas import exp2, floor_of_quotient
from ...common.quantization import along_axis
from ...common.vocabulary import *
from ..layer import CoreMLLayer, of_one_type, rows

rows.add(
    direct(
        "abs acos asin atan atanh ceil cos cosh erf exp floor round sign sin sinh sqrt tan "
        "asinh acosh"
    )
)


def _binary(op: Any) -> Callable[..., Value]:
    return lambda n, x, y: n(op(*of_one_type(n, x, y)))


def _logical(op: Any) -> Callable[..., Value]:
    return lambda n, x, y: n(op(n.cast(x, i1), n.cast(y, i1)))


_BINARY = """
    add equal greater greater_equal less less_equal maximum=Max minimum=Min mul real_div=Div pow sub
"""
_LOGICAL = "logical_and=And logical_or=Or logical_xor=Xor"
rows.add({name: _binary(op) for name, op in named(_BINARY).items()})
rows.add({name: _logical(op) for name, op in named(_LOGICAL).items()})

_ACTIVATIONS = (
    "clip elu leaky_relu linear_activation relu relu6 scaled_tanh sigmoid sigmoid_hard silu "
    "softplus softsign tanh"
)
FAMILIAR = {"linear_activation": "affine", "linear": "affine", "sigmoid_hard": "hardsigmoid"}
"""The shared names of activations, where they are not CoreML's without underscores."""


def named_activation(n: CoreMLLayer, name: str, x: Value, *given: float | None) -> Value:
    """An activation by CoreML's name."""
    return activation(n, FAMILIAR.get(name, name.replace("_", "")), x, *given)


@rows(*_ACTIVATIONS.split())
def function(n: CoreMLLayer, x: Value) -> Value:
    given = [n.float(name) if n.has(name) else None for name in ("alpha", "beta")]
    return named_activation(n, n.kind, n.floating(x), *given)


rows.formulas(
    {
        "identity read_state": lambda n, x: x,
        "not_equal": lambda n, x, y: n(nn.Not(n(nn.Equal(*of_one_type(n, x, y))))),
        "logical_not": lambda n, x: n(nn.Not(n.cast(x, i1))),
        "floor_div": lambda n, x, y: _quotient(Term(n, x), Term(n, y)).value,
        "mod": lambda n, x, y: n(nn.Mod(x, y)),
        "exp2": lambda n, x: exp2(Term(n, x)).value,
        "square": lambda n, x: n(nn.Mul(x, x)),
        "threshold": lambda n, x: n(nn.Max(x, n.scalar(n.float("alpha"), x))),
        "prelu": lambda n, x, alpha: n(nn.Prelu(x, _per_channel(n, alpha, x))),
        "select": lambda n, cond, a, b: n(nn.Where(n.cast(cond, i1), a, b)),
        "cast": lambda n, x: n.cast(x, n.element("dtype")),
    }
)


def _quotient(x: Term, y: Term) -> Term:
    """floor(x / y), computed from the remainder."""
    return (floor_of_quotient if isinstance(x.element, FloatType) else floor_div)(x, y)


@rows("thresholded_relu")
def thresholded_relu(n: CoreMLLayer, x: Value) -> Value:
    """x where it is at least the threshold, else 0."""
    t = Term(n, x)
    return (t < n.float("alpha", 0.0)).choose(0.0, t).value


@rows("inverse", "log", "rsqrt")
def shifted(n: CoreMLLayer, x: Value) -> Value:
    """A function of x + epsilon; the reciprocal's default epsilon is large."""
    op, epsilon = {
        "inverse": (nn.Reciprocal, 1e-4),
        "log": (nn.Log, 0.0),
        "rsqrt": (nn.Rsqrt, 1e-12),
    }[n.kind]
    return (Term(n, x) + n.float("epsilon", epsilon)).function(op).value


@rows("clamped_relu")
def clamped_relu(n: CoreMLLayer, x: Value) -> Value:
    limit = n.scalar(n.float("beta"), x)
    return n(nn.Min(activation(n, "leakyrelu", x, n.float("alpha")), limit))


@rows("gelu")
def gelu(n: CoreMLLayer, x: Value) -> Value:
    mode = n.text("mode", "EXACT", "EXACT", "TANH_APPROXIMATION", "SIGMOID_APPROXIMATION")
    if mode == "SIGMOID_APPROXIMATION":
        return activation(n, "silu", x, 1.702)
    return n(nn.Gelu(x, approximate="none" if mode == "EXACT" else "tanh"))


def _per_channel(n: CoreMLLayer, values: Value, x: Value) -> Value:
    """One number per channel, shaped to broadcast against x [batch, channels, ..], in its type."""
    values = n.cast(values, x.type.element_type)
    return reshape(n, values, [(values, 0), *(1,) * (x.type.rank - 2)])


@rows("softplus_parametric")
def parametric_softplus(n: CoreMLLayer, x: Value, alpha: Value, beta: Value) -> Value:
    inner = n(nn.Softplus(n(nn.Mul(x, _per_channel(n, beta, x)))))
    return n(nn.Mul(inner, _per_channel(n, alpha, x)))


def _parameter(n: CoreMLLayer, x: Value, value: Value) -> Term:
    """A scalar, or one number per index of the axis, shaped to broadcast."""
    axis = normalize_axis(n, n.int("axis"), x.type.rank) if value.type.rank else 0
    return Term(n, along_axis(n, x, value, axis))


@rows("quantize")
def quantize(n: CoreMLLayer, input: Value, scale: Value, zero_point: Value | None = None) -> Value:
    element = n.element("output_dtype")
    y = (Term(n, input) / _parameter(n, input, scale)).function(nn.Round)
    if zero_point is not None:
        y = y + _parameter(n, input, zero_point).cast(y.element)
    least, most = limits_of(element)
    return y.max(least).min(most).cast(element).value


@rows("dequantize")
def dequantize(
    n: CoreMLLayer, input: Value, scale: Value, zero_point: Value | None = None
) -> Value:
    y = Term(n, input).cast(scale.type.element_type)
    if zero_point is not None:
        y = y - _parameter(n, input, zero_point).cast(y.element)
    return (y * _parameter(n, input, scale)).value
