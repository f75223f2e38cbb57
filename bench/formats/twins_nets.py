"""The networks of `twins`, as functions of a builder, and their weights.

A builder has `conv`, `norm`, `relu`, `relu6`, `pool`, `mean`, `dense`, `add`, `attention`,
`layer_norm` and `gelu`; each takes a value and returns one.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np


def weight(name: str, shape: tuple[int, ...], fan: int = 0) -> np.ndarray:
    """Random numbers seeded by the name: of variance 1/fan, or without `fan`
    between 0.5 and 1.5.
    """
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    if not fan:
        return rng.uniform(0.5, 1.5, shape).astype(np.float32)
    return (rng.standard_normal(shape) / np.sqrt(fan)).astype(np.float32)


def conv_weight(name: str, taken: int, made: int, side: int, groups: int) -> np.ndarray:
    """The weights of a convolution: [made, taken / groups, side, side]."""
    each = taken // groups
    return weight(name, (made, each, side, side), each * side * side)


def norm_weights(name: str, count: int) -> list[np.ndarray]:
    """Scale, shift, mean and variance of a batch normalization."""
    kinds = ("scale", "shift", "mean", "variance")
    fans = (0, 100, 100, 0)
    return [weight(f"{name}.{k}", (count,), f) for k, f in zip(kinds, fans, strict=True)]


def dense_weights(name: str, taken: int, made: int) -> tuple[np.ndarray, np.ndarray]:
    """The weights [taken, made] and the bias [made] of a linear layer."""
    return weight(f"{name}.kernel", (taken, made), taken), weight(f"{name}.bias", (made,), 100)


def resnet(b: Any, x: Any) -> Any:
    """ResNet-18."""
    x = b.relu(b.norm(b.conv(x, "stem", 3, 64, 7, 2), "stem", 64))
    x = b.pool(x)
    taken = 64
    for stage, width in enumerate((64, 128, 256, 512)):
        for block in range(2):
            name, stride = f"{stage}.{block}", 2 if stage and not block else 1
            y = b.relu(b.norm(b.conv(x, f"{name}.a", taken, width, 3, stride), f"{name}.a", width))
            y = b.norm(b.conv(y, f"{name}.b", width, width, 3, 1), f"{name}.b", width)
            if taken != width:
                x = b.norm(b.conv(x, f"{name}.c", taken, width, 1, stride), f"{name}.c", width)
            x, taken = b.relu(b.add(x, y)), width
    return b.dense(b.mean(x), "head", 512, 1000)


def mobilenet(b: Any, x: Any) -> Any:
    """MobileNetV2."""
    x = b.relu6(b.norm(b.conv(x, "stem", 3, 32, 3, 2), "stem", 32))
    taken = 32
    table = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1)]
    for stage, (factor, width, count, first) in enumerate([*table, (6, 160, 3, 2), (6, 320, 1, 1)]):
        for block in range(count):
            name, inner, stride = f"{stage}.{block}", taken * factor, 1 if block else first
            y = x
            if factor > 1:
                y = b.conv(y, f"{name}.a", taken, inner, 1, 1)
                y = b.relu6(b.norm(y, f"{name}.a", inner))
            y = b.conv(y, f"{name}.b", inner, inner, 3, stride, inner)
            y = b.relu6(b.norm(y, f"{name}.b", inner))
            y = b.norm(b.conv(y, f"{name}.c", inner, width, 1, 1), f"{name}.c", width)
            x, taken = b.add(x, y) if taken == width and stride == 1 else y, width
    x = b.relu6(b.norm(b.conv(x, "last", 320, 1280, 1, 1), "last", 1280))
    return b.dense(b.mean(x), "head", 1280, 1000)


def encoder(b: Any, x: Any) -> Any:
    """Four layers of BERT on 64 tokens with 256 features."""
    for layer in range(4):
        x = b.layer_norm(b.add(x, b.attention(x, f"{layer}.mix", 256, 4)), f"{layer}.a", 256)
        y = b.gelu(b.dense(x, f"{layer}.up", 256, 1024))
        x = b.layer_norm(b.add(x, b.dense(y, f"{layer}.down", 1024, 256)), f"{layer}.b", 256)
    return x


NETWORKS: dict[str, Callable[[Any, Any], Any]] = {
    "resnet": resnet,
    "mobilenet": mobilenet,
    "encoder": encoder,
}

_SHAPES = {"encoder": (1, 64, 256)}


def shape_of(name: str) -> tuple[int, ...]:
    """A network's input shape: [1, channels, height, width], or [1, tokens, width]."""
    return _SHAPES.get(name, (1, 3, 128, 128))


def inputs_of(name: str) -> np.ndarray:
    """A network's input, channels first."""
    return np.random.default_rng(0).standard_normal(shape_of(name)).astype(np.float32)
