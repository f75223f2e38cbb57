"""Activation functions by name, with the parameters that formats give them."""

from __future__ import annotations

from .movement import split_evenly
from .words import *

Activation = Callable[[Layer, Value, float, float], Value]


def _plain(op: Callable[[Value], Any]) -> Activation:
    return lambda n, x, a, b: n(op(x))


def _scaled(op: Callable[..., Any]) -> Activation:
    return lambda n, x, a, b: n(op(x, alpha=a))


def affine(n: Layer, x: Value, scale: float, bias: float) -> Value:
    """x * scale + bias"""
    if scale != 1:
        x = n(nn.Mul(x, n.scalar(scale, x)))
    return x if bias == 0 else n(nn.Add(x, n.scalar(bias, x)))


def _elu(n: Layer, x: Value, a: float, b: float = 1) -> Value:
    """b * x where x is positive, else b * a * (e**x - 1)."""
    if x.type.element_type is f64:  # parameters of the ops have 32 bits
        t = Term(n, x)
        return ((t > 0.0).choose(t, t.function(nn.Expm1) * a) * b).value
    return n(nn.Elu(x, alpha=a)) if b == 1 else n(nn.Selu(x, alpha=a, gamma=b))


def _scaled_tanh(n: Layer, x: Value, a: float, b: float) -> Value:
    return affine(n, n(nn.Tanh(affine(n, x, b, 0))), a, 0)


def clipped(n: Layer, x: Value, low: float, high: float) -> Value:
    """x limited to the numbers from `low` to `high`."""
    return n(nn.Clip(x, n.scalar(low, x), n.scalar(high, x)))


def _threshold(n: Layer, x: Value, a: float, b: float) -> Value:
    """1 where x > a, else 0."""
    return n.cast(n(nn.Greater(x, n.scalar(a, x))), x.type.element_type)


def _hard_shrink(n: Layer, x: Value, a: float, b: float) -> Value:
    """x where abs(x) > a, else 0."""
    t = Term(n, x)
    return (t.function(nn.Abs) <= a).choose(0.0, t).value


def _soft_shrink(n: Layer, x: Value, a: float, b: float) -> Value:
    """x moved towards 0 by a; 0 where abs(x) <= a."""
    return n(nn.Sub(x, clipped(n, x, -a, a)))


def gated(n: Layer, x: Value, axis: int) -> Value:
    """The first half of x along an axis times the sigmoid of the second half."""
    values, gates = split_evenly(n, x, axis, 2)
    return n(nn.Mul(values, n(nn.Sigmoid(gates))))


FUNCTIONS: dict[str, tuple[float, float, Activation]] = {
    "relu": (0, 0, _plain(nn.Relu)),
    "relu6": (0, 6, clipped),
    "clip": (0, 1, clipped),
    "sigmoid": (0, 0, _plain(nn.Sigmoid)),
    "tanh": (0, 0, _plain(nn.Tanh)),
    "softplus": (0, 0, _plain(nn.Softplus)),
    "softsign": (0, 0, _plain(nn.Softsign)),
    "hardswish": (0, 0, _plain(nn.HardSwish)),
    "mish": (0, 0, _plain(nn.Mish)),
    "gelu": (0, 0, _plain(nn.Gelu)),
    "silu": (1, 0, _scaled(nn.Swish)),
    "leakyrelu": (0.01, 0, _scaled(nn.LeakyRelu)),
    "elu": (1, 1, _elu),
    "celu": (1, 0, _scaled(nn.Celu)),
    "selu": (1.6732632423543772, 1.0507009873554805, _elu),
    "thresholdedrelu": (1, 0, _scaled(nn.ThresholdedRelu)),
    "hardsigmoid": (0.2, 0.5, lambda n, x, a, b: n(nn.HardSigmoid(x, alpha=a, beta=b))),
    "affine": (1, 0, affine),
    "scaledtanh": (1, 1, _scaled_tanh),
    "threshold": (0, 0, _threshold),
    "hardshrink": (0.5, 0, _hard_shrink),
    "softshrink": (0.5, 0, _soft_shrink),
    "tanhshrink": (0, 0, lambda n, x, a, b: n(nn.Sub(x, n(nn.Tanh(x))))),
    "logsigmoid": (0, 0, lambda n, x, a, b: n(nn.Neg(n(nn.Softplus(n(nn.Neg(x))))))),
}
"""The default alpha and beta of each function, and the function of (layer, x, alpha, beta)."""

TAKES_ALPHA = {"elu", "leakyrelu", "thresholdedrelu", "hardsigmoid", "affine", "scaledtanh"}
TAKES_BETA = {"hardsigmoid", "affine", "scaledtanh"}


def activation(
    n: Layer, name: str, x: Value, alpha: float | None = None, beta: float | None = None
) -> Value:
    """The activation function of this name, in upper or lower case, of x.

    `alpha` and `beta` default to those of the function. Raises NncError for an unknown name.
    """
    found = FUNCTIONS.get(name.lower())
    if found is None:
        raise n.error(f"activation '{name}' is not known, expected {', '.join(FUNCTIONS)}")
    a, b, function = found
    return function(n, x, a if alpha is None else alpha, b if beta is None else beta)
