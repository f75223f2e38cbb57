"""Normalizations, by statistics of training or of the input itself."""

from __future__ import annotations

from ...common.arrays import moveaxis
from ...common.vocabulary import *
from ..layer import KerasLayer, layer


def scale_and_bias(n: KerasLayer, more: int = 0) -> tuple[Value | None, Value | None, list[Value]]:
    """The weights gamma and beta, if the layer has them, and `more` further ones."""
    has = bool(n.option("scale", True)), bool(n.option("center", True))
    found = n.weights(sum(has) + more)
    gamma = found.pop(0) if has[0] else None
    beta = found.pop(0) if has[1] else None
    return gamma, beta, found


def _axes(n: KerasLayer, x: Value, default: int = -1) -> tuple[int, ...]:
    given = n.option("axis", default)
    listed = list(given) if isinstance(given, list | tuple) else [given]
    if not all(isinstance(axis, int) for axis in listed):
        raise n.error(f"'axis' is {given!r}, expected integers")
    return tuple(sorted(normalize_axes(n, listed, x.type.rank)))


def to_axis(n: KerasLayer, x: Value, begin: int, end: int) -> Value:
    """x with a dimension moved to another position."""
    return transposed(n, x, moveaxis(x.type.rank, [begin], [end]))


@layer("BatchNormalization", "SyncBatchNormalization")
def batch_normalization(n: KerasLayer) -> Value:
    gamma, beta, (mean, var) = scale_and_bias(n, 2)
    x = n.tensor()
    (axis,) = _axes(n, x)
    if axis == 0:
        raise n.error("'axis' is that of the batch, expected another")
    y = batch_norm(n, to_axis(n, x, axis, 1), gamma, beta, mean, var, n.number("epsilon", 1e-3))
    return to_axis(n, y, 1, axis)


@layer("LayerNormalization")
def layer_normalization(n: KerasLayer) -> Value:
    whole, epsilon = n.tensor(), n.number("epsilon", 1e-3)
    x = _as_floats(n, whole)
    axes = _axes(n, x)
    if n.option("rms_scaling", False):
        y = by_spread(n, x, n.weights(1)[0], axes, epsilon)
    else:
        gamma, beta, _ = scale_and_bias(n)
        y = layer_normed(n, x, gamma, beta, axes, epsilon)
    return y if x is whole or n.is_old else n.cast(_cut_off(n, y, whole), n.result)


def _as_floats(n: KerasLayer, x: Value) -> Value:
    """x, integers as floats; in f32 in Keras 3, whatever the policy."""
    if isinstance(x.type.element_type, FloatType):
        return x
    return n.cast(n.cast(x, n.result), n.element) if n.is_old else n.cast(x, f32)


def _cut_off(n: KerasLayer, y: Value, whole: Value) -> Value:
    """What Keras 3 makes of normalized integers: integers, which are cut off."""
    return n.cast(y, whole.type.element_type)


def by_spread(
    n: KerasLayer, x: Value, gamma: Value | None, axes: tuple[int, ...], epsilon: float
) -> Value:
    """x divided by its standard deviation along axes, and scaled."""
    spread, _ = variance(n, x, axes, keep=True)
    y = Term(n, x) * (Term(n, spread) + epsilon).function(nn.Rsqrt)
    if gamma is None:
        return y.value
    if gamma.type.rank == len(axes):
        own = [x.type.shape[i] or 1 if i in axes else 1 for i in range(x.type.rank)]
        gamma = reshape(n, gamma, own)
    return (y * Term(n, gamma)).value


@layer("RMSNormalization")
def rms_normalization(n: KerasLayer) -> Value:
    (scale,) = n.weights(1)
    whole = n.tensor()
    x = _as_floats(n, whole)
    y = rms_normed(n, x, scale, _axes(n, x), n.option("epsilon", None) or 1e-7)
    return y if x is whole else _cut_off(n, y, whole)


@layer("GroupNormalization")
def group_normalization(n: KerasLayer) -> Value:
    gamma, beta, _ = scale_and_bias(n)
    x, epsilon = n.tensor(), n.number("epsilon", 1e-3)
    axis = normalize_axis(n, n.integer("axis", -1), x.type.rank)
    count, groups = x.type.shape[axis], n.integer("groups", 32)
    if count is None:
        raise n.error("the number of channels must be known; give the shape")
    groups = count if groups == -1 else groups
    y = group_normed(n, to_axis(n, x, axis, 1), gamma, beta, groups, epsilon)
    return to_axis(n, y, 1, axis)


@layer("UnitNormalization")
def unit_normalization(n: KerasLayer) -> Value:
    t = Term(n, n.tensor())
    square = (t * t).sum(*_axes(n, t.value), keep=True)
    return (t * square.max(1e-24).function(nn.Rsqrt)).value


@layer("Rescaling")
def rescaling(n: KerasLayer) -> Value:
    given = Term(n, n.tensor())
    t = given.cast(n.element)
    for name, formula in (("scale", Term.__mul__), ("offset", Term.__add__)):
        by = n.option(name, 1.0 if name == "scale" else 0.0)
        if isinstance(by, dict):  # an array
            by = by["config"]["value"]
        t = formula(t, Term(n, n.constant(by, t.element)) if isinstance(by, list) else float(by))
    return t.value


@layer("Normalization")
def normalization(n: KerasLayer) -> Value:
    """x normalized by a mean and variance from the configuration or the weights."""
    x = Term(n, n.tensor()).cast(n.element)
    given = [n.option("mean", None), n.option("variance", None)]
    if None in given:
        values = n.weights(2, 3)[:2]
    else:
        given = [g["config"]["value"] if isinstance(g, dict) else g for g in given]
        values = [n.constant(np.asarray(g), x.element) for g in given]
    axis = n.option("axis", -1)
    if axis is not None and values[0].type.rank:
        axes = _axes(n, x.value)
        shape = [x.shape[i] if i in axes else 1 for i in range(x.rank)]
        values = [v if v.type.rank == x.rank else reshape(n, v, shape) for v in values]  # type: ignore[arg-type]
    mean, var = (Term(n, n.cast(v, x.element)) for v in values)
    spread = var.function(nn.Sqrt).max(1e-7)
    return (x * spread + mean if n.option("invert", False) else (x - mean) / spread).value


@layer("LayerScale")
def layer_scale(n: KerasLayer) -> Value:
    (gamma,) = n.weights(1)
    return n(nn.Mul(n.tensor(), gamma))
