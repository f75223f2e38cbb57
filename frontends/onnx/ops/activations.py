"""Activation functions, and softmax in its two definitions."""

from __future__ import annotations

from ...common.vocabulary import *
from ..node import Node
from ..registry import add_rows, converter

add_rows(
    direct(
        "Relu Sigmoid Tanh Softplus Softsign HardSwish Mish LeakyRelu Elu Celu ThresholdedRelu "
        "Swish Selu HardSigmoid"
    )
)


@converter("Gelu")
def gelu(n: Node, x: Value) -> Value:
    return n(nn.Gelu(x, approximate=n.string("approximate", "none", ("none", "tanh"))))


@converter("PRelu")
def prelu(n: Node, x: Value, slope: Value) -> Value:
    if n.opset < 7 and slope.type.rank == 1 and slope.type.shape != (1,):
        # One slope per channel; later, NumPy's broadcasting.
        slope = reshape(n, slope, [(slope, 0), *[1] * (x.type.rank - 2)])
    return n(nn.Prelu(x, slope))


@converter("Shrink")
def shrink(n: Node, x: Value) -> Value:
    """x moved towards 0 by `bias` if abs(x) > `lambd`, else 0."""
    limit, bias, v = n.float("lambd"), n.float("bias"), Term(n, x)
    if isinstance(v.element, IntegerType):
        v = v.cast(f64)
    moved = (v < -limit).choose(v + bias, (v > limit).choose(v - bias, 0))
    return moved.cast(x.type.element_type).value


@converter("Softmax", since=13)
def softmax(n: Node, x: Value) -> Value:
    axis = normalize_axis(n, n.int("axis"), x.type.rank)
    return n(nn.Softmax(x, axis=axis)) if x.type.element_type.width >= 32 else _by_steps(n, x, axis)


def _by_steps(n: Node, x: Value, axis: int) -> Value:
    """Softmax as in the operator's function body: each step is rounded to the operand's type."""
    powers = (Term(n, x) - Term(n, x).largest(axis, keep=True)).function(nn.Exp)
    return (powers / powers.sum(axis, keep=True)).value


@converter("LogSoftmax", since=13)
def log_softmax(n: Node, x: Value) -> Value:
    return n(nn.LogSoftmax(x, axis=normalize_axis(n, n.int("axis"), x.type.rank)))


@converter("Hardmax", since=13)
def hardmax(n: Node, x: Value) -> Value:
    return _hardmax(n, x, normalize_axis(n, n.int("axis"), x.type.rank))


def _hardmax(n: Node, x: Value, axis: int) -> Value:
    """1 at the first largest element along the axis, 0 elsewhere."""
    if 0 in x.type.shape:
        return x
    best = Term(n, x).argmax(axis, keep=True)
    places = counting(n, extent(n, (x, axis))).spread(0, x.type.rank - 1 - axis)
    return places.equals(best).cast(x.type.element_type).value


@converter("Softmax")
def flat_softmax(n: Node, x: Value) -> Value:
    return _flattened(n, x, lambda m, axis: n(nn.Softmax(m, axis=axis)))


@converter("LogSoftmax")
def flat_log_softmax(n: Node, x: Value) -> Value:
    return _flattened(n, x, lambda m, axis: n(nn.LogSoftmax(m, axis=axis)))


@converter("Hardmax")
def flat_hardmax(n: Node, x: Value) -> Value:
    return _flattened(n, x, lambda m, axis: _hardmax(n, m, axis))


def _flattened(n: Node, x: Value, apply: Callable[[Value, int], Any]) -> Value:
    """Apply a function to x as a matrix divided at the axis, as it was before opset 13."""
    rank = x.type.rank
    axis = n.int("axis")
    axis = axis if axis == rank else normalize_axis(n, axis, rank)
    if axis == rank - 1:
        return apply(x, axis)
    return reshape(n, apply(flatten(n, x, axis), 1), [(x, i) for i in range(rank)])
