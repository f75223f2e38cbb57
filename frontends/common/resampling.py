"""Images in other sizes, each row and column a weighted mean of those around its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...ir.core import Value
from ...ir.types import f32
from .convolution import channels_first, channels_last
from .layer import Layer
from .terms import Term, constant


def _lanczos(radius: float) -> Callable[[Any], Any]:
    return lambda x: np.sinc(x) * np.sinc(x / radius) * (x <= radius)


def _cubic(near: tuple[float, ...], far: tuple[float, ...]) -> Callable[[Any], Any]:
    """Polynomials up to 1, and from there to 2."""
    return lambda x: np.where(x < 1, np.polyval(near, x), np.polyval(far, x) * (x < 2))


KERNELS: Mapping[str, tuple[float, Callable[[Any], Any]]] = {
    "lanczos1": (1, _lanczos(1)),
    "lanczos3": (3, _lanczos(3)),
    "lanczos5": (5, _lanczos(5)),
    "gaussian": (1.5, lambda x: np.exp(-2 * x * x) * (x < 1.5)),
    "box": (0.5, lambda x: np.where(x == 0.5, 0.5, x < 0.5)),
    "triangle": (1, lambda x: np.maximum(1 - x, 0)),
    "keyscubic": (2, _cubic((1.5, -2.5, 0, 1), (-0.5, 2.5, -4, 2))),
    "mitchellcubic": (2, _cubic((7 / 6, -2, 0, 8 / 9), (-7 / 18, 2, -10 / 3, 16 / 9))),
}
"""Radius and weight by distance. Source: TensorFlow's sampling_kernels."""


def sampled(own: int, count: int, scale: float, shift: float, kind: str, wide: bool) -> np.ndarray:
    """Weights [count, own] of elements around the place of each of the result's; where the
    result is smaller, `wide` kernels reach over all that it stands for.
    """
    radius, kernel = KERNELS[kind]
    stretch = max(1 / scale, 1.0) if wide else 1.0
    at = (np.arange(count) + 0.5 - shift) / scale
    apart = np.abs(np.arange(own) + 0.5 - at[:, None]) / stretch
    weights = np.where(apart <= radius, kernel(apart), 0)
    total = weights.sum(1, keepdims=True)
    weights = weights / np.where(np.abs(total) < 1e-30, 1, total)
    return weights * ((at >= 0) & (at <= own))[:, None]


def covered(own: int, count: int) -> np.ndarray:
    """Weights [count, own] of what each element of the result covers."""
    edges = np.arange(count + 1) * (own / count)
    places = np.arange(own)
    ends = np.minimum(edges[1:, None], places + 1)
    return np.maximum(ends - np.maximum(edges[:-1, None], places), 0) * (count / own)


def weighted(n: Layer, x: Value, rows: np.ndarray, columns: np.ndarray) -> Value:
    """x [N, H, W, C] with other rows and columns, of weights [H', H] and [W', W], in f32."""
    image = Term(n, n.cast(channels_first(n, x), f32))
    found = constant(n, rows, f32) @ image @ constant(n, np.transpose(columns), f32)
    return channels_last(n, found.value)
