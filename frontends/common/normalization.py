"""Normalizations: of channels by statistics that are given or those of the batch."""

from __future__ import annotations

import numpy as np

from ...dialects import nn
from ...ir.core import Value
from ...ir.types import Type
from .layer import Layer
from .reductions import variance


def batch_norm(
    n: Layer, x: Value, scale: Value, bias: Value, mean: Value, var: Value, epsilon: float
) -> Value:
    """(x - mean) / sqrt(var + epsilon) * scale + bias, each with an element per channel."""
    given = [n.cast(p, x.type.element_type) for p in (scale, bias, mean, var)]
    return n(nn.BatchNorm(x, *given, epsilon=epsilon))


def batch_norm_now(
    n: Layer, x: Value, scale: Value, bias: Value, element: Type, epsilon: float
) -> tuple[Value, Value, Value]:
    """The same by the batch's own mean and variance, which it also gives, of an element type."""
    axes = (0, *range(2, x.type.rank))
    spread, mean = variance(n, n.cast(x, element), axes)
    return batch_norm(n, x, scale, bias, mean, spread, epsilon), mean, spread


def filled_channels(n: Layer, value: Value | None, count: int, fill: float, like: Value) -> Value:
    """A parameter of channels, or so many equal ones where it is left out."""
    if value is not None:
        return value
    return n.constant(np.full(count, fill), like.type.element_type)
