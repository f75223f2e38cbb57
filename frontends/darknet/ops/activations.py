"""Activations by the names that sections give them.

Source: AlexeyAB/darknet, src/activations.h
"""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import DarknetLayer

_SHARED = {
    "relu": ("relu",),
    "relu6": ("relu6",),
    "tanh": ("tanh",),
    "mish": ("mish",),
    "elu": ("elu",),
    "selu": ("selu", 1.6732, 1.0507),
    "logistic": ("sigmoid",),
    "swish": ("silu",),
    "leaky": ("leakyrelu", 0.1),
    "revleaky": ("leakyrelu", 0.1),
    "relie": ("leakyrelu", 0.01),
    "hardtan": ("clip", -1, 1),
}
"""The activations that other formats have too, with their parameters."""


def _stair(x: Term) -> Term:
    """Half the floor's steps; every second step is a slope."""
    low = x.function(nn.Floor)
    half = (x * 0.5).function(nn.Floor)
    return (low * 0.5).function(nn.Floor).equals(low * 0.5).choose(half, x - low + half)


def _hard_mish(x: Term) -> Term:
    return (x > 0.0).choose(x, (x > -2.0).choose(x * x * 0.5 + x, 0.0))


def _normalized(x: Term) -> Term:
    """Positive channels divided by their sum, others 0."""
    positive = x.max(0.0)
    return positive / (positive.sum(1, keep=True) + 1e-4)


def _powers(x: Term) -> Term:
    powers = x.function(nn.Exp)
    return powers / (powers.sum(1, keep=True) + 1e-4)


_OWN: dict[str, Callable[[Term], Term]] = {
    "linear": lambda x: x,
    "ramp": lambda x: x.max(0.0) + x * 0.1,
    "loggy": lambda x: x.function(nn.Sigmoid) * 2.0 - 1.0,
    "gelu": lambda x: x.made(nn.Gelu(x.value, approximate="tanh")),
    "plse": lambda x: (x.max(-4.0).min(4.0)) * 0.115 + x * 0.01 + 0.5,
    "lhtan": lambda x: x.max(0.0).min(1.0) * 0.999 + x * 0.001,
    "stair": _stair,
    "hard_mish": _hard_mish,
    "normalize_channels": _normalized,
    "normalize_channels_softmax": _powers,
    "normalize_channels_softmax_maxval": lambda x: _powers(x - x.largest(1, keep=True)),
}


def activated(n: DarknetLayer, x: Value, name: str) -> Value:
    """x after the activation `name`. Raises NncError for an unknown one."""
    if name in _SHARED:
        kind, *parameters = _SHARED[name]
        return activation(n, kind, x, *parameters)
    if name not in _OWN:
        raise n.error(f"activation '{name}' is not supported")
    return _OWN[name](Term(n, x)).value
