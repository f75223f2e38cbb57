"""Normalizations."""

from __future__ import annotations

from ...common.vocabulary import *
from ..node import Node
from ..registry import add_rows, converter
from ..tensors import element_type


@converter("BatchNormalization")
def batch_normalization(
    n: Node, x: Value, scale: Value, bias: Value, mean: Value, var: Value
) -> list:
    if not n.int("spatial", 1):
        raise n.error("attribute 'spatial' is 0, expected 1: one mean per channel")
    epsilon = n.float("epsilon")
    if n.opset < 14 or not n.int("training_mode"):
        return [batch_norm(n, x, scale, bias, mean, var, epsilon)]
    if x.type.rank < 2:
        raise n.error(f"input 'X' has rank {x.type.rank}, expected at least 2")
    y, now, spread = batch_norm_now(n, x, scale, bias, mean.type.element_type, epsilon)
    momentum = n.float("momentum")
    return [y, _running(n, mean, now, momentum), _running(n, var, spread, momentum)]


def _running(n: Node, old: Value, new: Value, momentum: float) -> Value:
    """old * momentum + new * (1 - momentum)"""
    kept = n(nn.Mul(old, n.scalar(momentum, old)))
    return n(nn.Add(kept, n(nn.Mul(new, n.scalar(1 - momentum, new)))))


@converter("LayerNormalization")
def layer_normalization(n: Node, x: Value, scale: Value, bias: Value | None = None) -> list:
    # Defaults are of opsets before 17, for which ONNX Runtime's optimizer writes the operator, too.
    axis = normalize_axis(n, n.int("axis", -1), x.type.rank)
    epsilon, stash = n.float("epsilon", 1e-5), n.int("stash_type", 1)
    axes = tuple(range(axis, x.type.rank))
    if scale.type.element_type is x.type.element_type:
        out = layer_normed(n, x, scale, bias, axes, epsilon)
    else:
        normal = n.cast(layer_normed(n, x, None, None, axes, epsilon), scale.type.element_type)
        out = (Term(n, normal) * Term(n, scale)).value
        out = out if bias is None else n(nn.Add(out, bias))
    if not (n.wants(1) or n.wants(2)):
        return [out]
    return [out, *mean_and_inverse_deviation(n, n.cast(x, element_type(stash)), axes, epsilon)]


def mean_and_inverse_deviation(
    n: Node, x: Value, axes: tuple[int, ...], epsilon: float
) -> tuple[Value, Value]:
    """The mean over `axes`, and 1 / sqrt(variance + epsilon), both of extent 1 there."""
    spread, mean = variance(n, x, axes, keep=True)
    return mean, n(nn.Rsqrt((Term(n, spread) + epsilon).value))


@converter("RMSNormalization")
def rms_normalization(n: Node, x: Value, scale: Value) -> Value:
    if scale.type.rank > x.type.rank:
        raise n.error(f"the scale is '{scale.type}', the input '{x.type}'")
    axis, epsilon = normalize_axis(n, n.int("axis"), x.type.rank), n.float("epsilon")
    return rms_normed_to(n, x, scale, tuple(range(axis, x.type.rank)), epsilon)


def rms_normed_to(n: Node, x: Value, scale: Value, axes: tuple[int, ...], epsilon: float) -> Value:
    """The RMS normalization over `axes`, in the element type of the scale."""
    if scale.type.element_type is x.type.element_type:
        return rms_normed(n, x, scale, axes, epsilon)
    normalized = rms_normed(n, x, None, axes, epsilon)
    return n(nn.Mul(n.cast(normalized, scale.type.element_type), scale))


add_rows(direct("InstanceNormalization=InstanceNorm LRN=Lrn"))


converter("GroupNormalization", since=21)(as_it_is(nn.GroupNorm, groups="num_groups"))


@converter("GroupNormalization")
def group_normalization_per_group(n: Node, x: Value, scale: Value, bias: Value) -> Value:
    groups = n.int("num_groups")
    scale, bias = (of_groups(n, v, groups, x.type.shape[1]) for v in (scale, bias))
    return group_normed(n, x, scale, bias, groups, n.float("epsilon"))


@converter("LpNormalization")
def lp_normalization(n: Node, x: Value) -> Value:
    axis, p = normalize_axis(n, n.int("axis"), x.type.rank), n.int("p")
    if p not in (1, 2):
        raise n.error(f"attribute 'p' is {p}, expected 1 or 2")
    norm = reduced(n, x, nn.ReduceL1 if p == 1 else nn.ReduceL2, (axis,), keep=True)
    zero = n.scalar(0, x)
    quotient = n(nn.Div(x, norm))
    return n(nn.Where(n(nn.Equal(norm, zero)), zero, quotient))
