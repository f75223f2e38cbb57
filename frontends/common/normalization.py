"""Normalizations by given statistics, or by those of the batch, of an example or of parts of one.

An omitted scale is ones, an omitted bias zeros; a given one is cast to the element type of x.
"""

from __future__ import annotations

from inspect import Parameter

from .direct import with_signature
from .pooling import Windows, average_pooled
from .reductions import variance
from .rows import Convert
from .shapes import product
from .words import *

Given = tuple[Any, float]
"""(the format's name of an attribute, its default value)."""


def batch_norm(
    n: Layer,
    x: Value,
    scale: Value | None,
    bias: Value | None,
    mean: Value,
    var: Value,
    epsilon: float,
) -> Value:
    """(x - mean) / sqrt(var + epsilon) * scale + bias; parameters have an element per channel."""
    given = _of_channels(n, x, scale, bias, mean)
    given += [n.cast(v, x.type.element_type) for v in (mean, var)]
    return n(nn.BatchNorm(x, *given, epsilon=epsilon))


def batch_norm_now(
    n: Layer, x: Value, scale: Value | None, bias: Value | None, element: Type, epsilon: float
) -> tuple[Value, Value, Value]:
    """`batch_norm` by the batch's own mean and variance, and these two, of type `element`."""
    axes = (0, *range(2, x.type.rank))
    spread, mean = variance(n, n.cast(x, element), axes)
    return batch_norm(n, x, scale, bias, mean, spread, epsilon), mean, spread


def instance_normed(
    n: Layer, x: Value, scale: Value | None, bias: Value | None, epsilon: float
) -> Value:
    """Each channel of each example normalized to mean 0 and variance 1, then scaled and shifted."""
    return n(nn.InstanceNorm(x, *_of_channels(n, x, scale, bias), epsilon=epsilon))


def group_normed(
    n: Layer, x: Value, scale: Value | None, bias: Value | None, groups: int, epsilon: float
) -> Value:
    """Groups of channels normalized to mean 0 and variance 1; channels are scaled and shifted."""
    given = _of_channels(n, x, scale, bias)
    return n(nn.GroupNorm(x, *given, groups=groups, epsilon=epsilon))


def of_groups(n: Layer, value: Value, groups: int, channels: int | None) -> Value:
    """A parameter with an element per group, expanded to an element per channel."""
    if channels is None or groups < 1 or channels % groups:
        raise n.error(f"{channels or '?'} channels do not split into {groups} groups")
    column = reshape(n, value, [groups, 1])
    return reshape(n, broadcast(n, column, [groups, channels // groups]), [channels])


def layer_normed(
    n: Layer,
    x: Value,
    scale: Value | None,
    bias: Value | None,
    axes: Sequence[int],
    epsilon: float,
) -> Value:
    """x normalized to mean 0 and variance 1 along axes; scale and bias have these axes."""
    axes = tuple(sorted(axes))
    if _are_last(x, axes):
        scale, bias = _scale_of(n, x, scale, axes), _along(n, x, bias, axes)
        return n(nn.LayerNorm(x, scale, bias, axis=axes[0], epsilon=epsilon))
    wide = _in_32_bits(n, x)
    spread, mean = (Term(n, v) for v in variance(n, wide.value, axes, keep=True))
    normal = (wide - mean) * (spread + epsilon).function(nn.Rsqrt)
    return _scaled(n, x, normal, scale, bias, axes)


def rms_normed(
    n: Layer, x: Value, scale: Value | None, axes: Sequence[int], epsilon: float
) -> Value:
    """x / sqrt(mean(x^2) + epsilon) along axes, times a scale that has these axes."""
    axes = tuple(sorted(axes))
    if _are_last(x, axes):
        return n(nn.RmsNorm(x, _scale_of(n, x, scale, axes), axis=axes[0], epsilon=epsilon))
    wide = _in_32_bits(n, x)
    normal = wide * ((wide * wide).mean(*axes, keep=True) + epsilon).function(nn.Rsqrt)
    return _scaled(n, x, normal, scale, None, axes)


def deviations(n: Layer, x: Value, axes: tuple[int, ...], epsilon: float | None) -> Value:
    """x minus its mean along axes; with an epsilon, divided by standard deviation + epsilon."""
    apart = Term(n, x) - Term(n, x).mean(*axes, keep=True)
    if epsilon is None:
        return apart.value
    square = (apart * apart).mean(*axes, keep=True)
    return (apart / (square.function(nn.Sqrt) + epsilon)).value


def local_response(
    n: Layer, x: Value, size: int, alpha: float, beta: float, bias: float = 1.0
) -> Value:
    """x / (bias + alpha * mean of squares in `size` neighbouring channels) ** beta."""
    return n(nn.Lrn(x, size=size, alpha=alpha, beta=beta, bias=bias))


def local_response_in_space(
    n: Layer, x: Value, size: int, alpha: float, beta: float, bias: float = 1.0
) -> Value:
    """`local_response` by squares in windows of `size` neighbours in each spatial dimension."""
    count = x.type.rank - 2
    pads = (size // 2,) * count + (size - size // 2 - 1,) * count
    squares = Term(n, x) * Term(n, x)
    windows = Windows((size,) * count, (1,) * count, pads)
    near = Term(n, average_pooled(n, squares.value, windows, counts_padding=True))
    return (Term(n, x) / (near * alpha + bias) ** beta).value


def _of_channels(
    n: Layer, x: Value, scale: Value | None, bias: Value | None, *others: Value
) -> list[Value]:
    """Scale and bias, each cast, or ones and zeros for as many channels as there are."""
    element = x.type.element_type
    counts = [v.type.shape[0] for v in (scale, bias, *others) if v is not None]
    count = next((d for d in counts if d is not None), None)

    def parameter(value: Value | None, fill: int) -> Value:
        if value is not None:
            return n.cast(value, element)
        if count is None and others:
            return (Term(n, n.cast(others[0], element)).zeros() + fill).value
        return n.constant(np.full(n.extent(x, 1) if count is None else count, fill), element)

    return [parameter(scale, 1), parameter(bias, 0)]


def _are_last(x: Value, axes: tuple[int, ...]) -> bool:
    return bool(axes) and axes == tuple(range(x.type.rank - len(axes), x.type.rank))


def _along(n: Layer, x: Value, value: Value | None, axes: tuple[int, ...]) -> Value | None:
    """A parameter of some axes, or its elements as a vector, reshaped to broadcast to x."""
    if value is None:
        return None
    value, rank = n.cast(value, x.type.element_type), x.type.rank
    own = [x.type.shape[i] for i in axes]
    if len(axes) > 1 and value.type.rank == 1 and None not in own:  # noqa: SIM102
        if value.type.shape != tuple(own[-1:]) and value.type.shape == (product(own),):
            value = reshape(n, value, own)
    if value.type.rank != len(axes) or _are_last(x, axes):
        return value
    return reshape(n, value, [(x, i) if i in axes else 1 for i in range(rank)])


def _scale_of(n: Layer, x: Value, scale: Value | None, axes: tuple[int, ...]) -> Value:
    """A scale of the last axes; ones if it is omitted."""
    found = _along(n, x, scale, axes)
    if found is not None:
        return found
    own = [x.type.shape[i] for i in axes]
    return n.scalar(1, x) if None in own else n.constant(np.ones(own), x.type.element_type)


def _in_32_bits(n: Layer, x: Value) -> Term:
    """x as f32 if its floats are narrower, else unchanged."""
    element = x.type.element_type
    narrow = isinstance(element, FloatType) and element.width < 32
    return Term(n, n.cast(x, f32 if narrow else element))


def _scaled(
    n: Layer,
    x: Value,
    normal: Term,
    scale: Value | None,
    bias: Value | None,
    axes: tuple[int, ...],
) -> Value:
    """`normal`, the normalized x, scaled and shifted, in the element type of x."""
    for value, formula in ((scale, Term.__mul__), (bias, Term.__add__)):
        found = _along(n, x, value, axes)
        if found is not None:
            normal = formula(normal, Term(n, found).cast(normal.element))
    return normal.cast(x.type.element_type).value


# -- rows ------------------------------------------------------------------------------------------

_ROLES = {"gamma": "scale", "beta": "bias", "offset": "bias", "variance": "var"}


def _row(convert: Callable[..., Value], operands: str) -> Convert:
    """`convert` with operands in a format's order and by its names; `scale?` may be left out."""
    names = [word.removesuffix("?") for word in operands.split()]
    roles = [_ROLES.get(name, name) for name in names]

    def row(n: Any, *values: Value | None) -> Value:
        return convert(n, **dict(zip(roles, values, strict=False)))

    kind = Parameter.POSITIONAL_OR_KEYWORD
    defaults = [None if word.endswith("?") else Parameter.empty for word in operands.split()]
    pairs = zip(names, defaults, strict=True)
    return with_signature(row, [Parameter(name, kind, default=d) for name, d in pairs])


def batch_norm_row(
    operands: str, *, eps: Given, inference: str | Callable[[Any], bool] | None = None
) -> Convert:
    """The converter of a batch normalization with operands in the format's order.

    `scale?` is an operand that may be omitted. `inference` is the attribute, or the function of the
    layer, that tells whether the given statistics are used; None means always.

        rows.add({"SpatialBN": batch_norm_row("x scale bias mean var", eps=("epsilon", 1e-5))})
    """

    def convert(n: Any, x: Value, mean: Value, var: Value, scale=None, bias=None) -> Value:
        epsilon = n.float(*eps)
        given = (
            n.int(inference) if isinstance(inference, str) else inference is None or inference(n)
        )
        if given:
            return batch_norm(n, x, scale, bias, mean, var, epsilon)
        return batch_norm_now(n, x, scale, bias, mean.type.element_type, epsilon)[0]

    return _row(convert, operands)


def instance_norm_row(operands: str, *, eps: Given) -> Convert:
    """The converter of an instance normalization, with operands in the format's order."""

    def convert(n: Any, x: Value, scale=None, bias=None) -> Value:
        return instance_normed(n, x, scale, bias, n.float(*eps))

    return _row(convert, operands)


def local_response_row(*, size: str, alpha: Given, beta: Given, bias: Given) -> Convert:
    """The converter of a local response normalization, by the names of its attributes."""

    def convert(n: Any, x: Value) -> Value:
        return local_response(n, x, n.int(size), *(n.float(*g) for g in (alpha, beta, bias)))

    return convert
