"""Activation functions by the names that layers use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from ...dialects import nn
from ...ir.core import Value
from ...ir.types import Type, f16, f64, i1
from ..common.activations import activation as named
from ..common.activations import affine, clipped
from ..common.reductions import largest
from ..common.terms import Term, counting, extent
from .container import kind_of, own_name
from .layer import KerasLayer

Function = Callable[[KerasLayer, Value], Value]


def _of_floats(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function that takes integers too, which Keras turns to f32 first."""

    @wraps(function)
    def on_floats(n: KerasLayer, x: Value, *given: Any, **named: Any) -> Value:
        return function(n, n.floating(x), *given, **named)

    return on_floats


@_of_floats
def _softmax(n: KerasLayer, x: Value, axis: int = -1) -> Value:
    return n(nn.Softmax(x, axis=axis % x.type.rank))


@_of_floats
def log_softmax(n: KerasLayer, x: Value, axis: int = -1) -> Value:
    """The logarithm of the softmax."""
    return n(nn.LogSoftmax(x, axis=axis % x.type.rank))


@_of_floats
def _hard_sigmoid(n: KerasLayer, x: Value) -> Value:
    """The hard sigmoid, with slope 1/6, or 0.2 in Keras 2."""
    old = n.builder.graph.producer.startswith(("1.", "2."))
    slope = 0.2 if old else 1 / 6
    if x.type.element_type is f64:  # that of the op has 32 bits
        return clipped(n, affine(n, x, slope, 0.5), 0, 1)
    return named(n, "hardsigmoid", x, slope, 0.5)


@_of_floats
def squareplus(n: KerasLayer, x: Value, b: float = 4) -> Value:
    """(x + sqrt(x^2 + b)) / 2, a smooth relu."""
    t = Term(n, x)
    return ((t + (t * t + b).function(nn.Sqrt)) * 0.5).value


@_of_floats
def _sparse_plus(n: KerasLayer, x: Value) -> Value:
    t = Term(n, x)
    return (t <= -1.0).choose(0.0, (t < 1.0).choose((t + 1.0) * (t + 1.0) * 0.25, t)).value


@_of_floats
def hard_shrink(n: KerasLayer, x: Value, threshold: float = 0.5) -> Value:
    """x where abs(x) > threshold, else 0."""
    t = Term(n, x)
    return (t.function(nn.Abs) > threshold).choose(t, 0.0).value


@_of_floats
def soft_shrink(n: KerasLayer, x: Value, threshold: float = 0.5) -> Value:
    """x moved towards 0 by the threshold."""
    t = Term(n, x)
    below = (t < -threshold).choose(t + threshold, 0.0)
    return (t > threshold).choose(t - threshold, below).value


@_of_floats
def glu(n: KerasLayer, x: Value, axis: int = -1) -> Value:
    """The first half of x along an axis, times the sigmoid of the second half."""
    axis %= x.type.rank
    count = x.type.shape[axis]
    if count is None or count % 2:
        raise n.error(f"axis {axis} of {count} elements has no halves")
    t = Term(n, x)
    gate = t.part(axis, count // 2, count).function(nn.Sigmoid)
    return (t.part(axis, 0, count // 2) * gate).value


@_of_floats
def gelu(n: KerasLayer, x: Value, approximate: bool = True) -> Value:
    """x times the normal distribution's cumulative function."""
    return n(nn.Gelu(x, approximate="tanh" if approximate else "none"))


@_of_floats
def log_sigmoid(n: KerasLayer, x: Value) -> Value:
    """-log(1 + exp(-x))"""
    return n(nn.Neg(n(nn.Softplus(n(nn.Neg(x))))))


@_of_floats
def sparsemax(n: KerasLayer, x: Value, axis: int = -1) -> Value:
    """max(x - threshold, 0) along an axis, with Keras's threshold, made of the sum of running sums.

    A. Martins and R. Astudillo, From Softmax to Sparsemax, 2016, have only the last running sum.
    """
    t, axis = Term(n, x), axis % x.type.rank
    count = extent(n, (x, axis))
    ordered = Term(n, largest(n, x, count.value, axis)[0])
    total = ordered.made(nn.Cumsum(ordered.value, axis=axis))
    ranks = (counting(n, count) + 1).cast(t.element).spread(0, t.rank - 1 - axis)
    within = ordered - (total - 1.0) / ranks > 0
    size = within.cast(t.element).sum(axis, keep=True)
    taken = within.choose(total, 0.0).sum(axis, keep=True)
    return (t - (taken - 1.0) / size).max(0.0).value


def by_name(name: str, alpha: float | None = None, beta: float | None = None) -> Function:
    """A function shared with other formats, by name."""
    return _of_floats(lambda n, x: named(n, name, x, alpha, beta))


FUNCTIONS: Mapping[str, Function] = {
    "linear": lambda n, x: x,
    "relu": lambda n, x: named(n, "relu", x),
    "relu6": lambda n, x: named(n, "relu6", x),
    "sigmoid": by_name("sigmoid"),
    "tanh": by_name("tanh"),
    "softplus": by_name("softplus"),
    "softsign": by_name("softsign"),
    "elu": by_name("elu"),
    "celu": by_name("celu"),
    "selu": by_name("selu"),
    "silu": by_name("silu"),
    "swish": by_name("silu"),
    "mish": by_name("mish"),
    "hard_silu": by_name("hardswish"),
    "hard_swish": by_name("hardswish"),
    "hard_sigmoid": _hard_sigmoid,
    "leaky_relu": by_name("leakyrelu", 0.2),
    "exponential": _of_floats(lambda n, x: n(nn.Exp(x))),
    "gelu": lambda n, x: gelu(n, x, approximate=False),
    "softmax": _softmax,
    "log_softmax": log_softmax,
    "log_sigmoid": log_sigmoid,
    "glu": glu,
    "hard_tanh": lambda n, x: clipped(n, x, -1, 1),
    "hard_shrink": hard_shrink,
    "soft_shrink": soft_shrink,
    "tanh_shrink": _of_floats(lambda n, x: (Term(n, x) - Term(n, x).function(nn.Tanh)).value),
    "squareplus": squareplus,
    "sparse_plus": _sparse_plus,
    "sparsemax": sparsemax,
    "sparse_sigmoid": _of_floats(lambda n, x: clipped(n, affine(n, x, 0.5, 0.5), 0, 1)),
}


def activated(n: KerasLayer, x: Value, given: Any) -> Value:
    """x after an activation: a name, or the configuration of a function or a layer."""
    if given is None:
        return x
    if isinstance(given, dict):
        config = given.get("config")
        if isinstance(config, dict):
            return _by_layer(n, x, kind_of(given), config)
        given = config if isinstance(config, str) else given.get("class_name")
    function = FUNCTIONS.get(own_name(str(given)).lower())
    if function is None:
        raise n.error(f"activation '{given}' is not known, expected {', '.join(FUNCTIONS)}")
    return function(n, x)


def _by_layer(n: KerasLayer, x: Value, kind: str, config: Mapping[str, Any]) -> Value:
    """x after an activation that is a layer without weights."""
    layers: Mapping[str, Function] = {
        "Activation": lambda n, x: activated(n, x, config.get("activation")),
        "ReLU": lambda n, x: relu(n, x, config),
        "LeakyReLU": lambda n, x: leaky_relu(n, x, config),
        "ELU": by_name("elu", config.get("alpha", 1.0)),
        "Softmax": lambda n, x: _softmax(n, x, config.get("axis", -1)),
    }
    if kind not in layers:
        raise n.error(f"activation '{kind}' is not known, expected {', '.join(layers)}")
    return layers[kind](n, x)


def relu(n: KerasLayer, x: Value, config: Mapping[str, Any]) -> Value:
    """Relu with a threshold, a slope below it, and a largest value."""
    threshold = float(config.get("threshold") or 0)
    slope, most = float(config.get("negative_slope") or 0), config.get("max_value")
    if not threshold and not slope:
        return n(nn.Relu(x)) if most is None else clipped(n, x, 0, float(most))
    t = Term(n, x)
    found = (t < threshold).choose((t - threshold) * slope, t)
    return (found if most is None else found.min(float(most))).value


@_of_floats
def leaky_relu(n: KerasLayer, x: Value, config: Mapping[str, Any]) -> Value:
    """Leaky relu, whose slope has another name in Keras 2."""
    slope = config.get("negative_slope", config.get("alpha", 0.3))
    return n(nn.LeakyRelu(x, alpha=float(slope)))


def far_below(element: Type) -> float:
    """The number that replaces masked scores before a softmax."""
    return -3e4 if element is f16 else -1e9


@_of_floats
def softmax(n: KerasLayer, x: Value, axes: int | list[int], mask: Value | None) -> Value:
    """Softmax along one or several axes with a mask; masked elements are 0 since Keras 3."""
    shown = None if mask is None else n.cast(mask, i1)
    if shown is not None:
        x = n(nn.Where(shown, x, n.scalar(far_below(x.type.element_type), x)))
    if isinstance(axes, list) and len(axes) == 1:
        axes = axes[0]
    if isinstance(axes, int):
        found = _softmax(n, x, axes)
    else:
        places = tuple(sorted(axis % x.type.rank for axis in axes))
        t = Term(n, x)
        powers = (t - t.largest(*places, keep=True)).function(nn.Exp)
        found = (powers / powers.sum(*places, keep=True)).value
    return found if shown is None or n.is_old else Term(n, shown).choose(Term(n, found), 0.0).value
