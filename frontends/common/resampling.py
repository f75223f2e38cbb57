"""Resized images, whose rows and columns are weighted means of nearby ones."""

from __future__ import annotations

from functools import reduce

from .convolution import channels_first, channels_last
from .words import *


def _chosen(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` where the condition holds, else `no`, for arrays or terms."""
    if isinstance(condition, Term):
        return condition.choose(yes, no)
    return np.where(condition, yes, no)


def _sinc(x: Any) -> Any:
    """sin(pi x) / (pi x) for x >= 0."""
    if not isinstance(x, Term):
        return np.sinc(x)
    turn = x.max(1e-20) * math.pi
    return turn.function(nn.Sin) / turn


def _exp(x: Any) -> Any:
    return x.function(nn.Exp) if isinstance(x, Term) else np.exp(x)


def _lanczos(radius: float) -> Callable[[Any], Any]:
    return lambda x: _chosen(x <= radius, _sinc(x) * _sinc(x / radius), 0.0)


def _cubic(near: tuple[float, ...], far: tuple[float, ...]) -> Callable[[Any], Any]:
    """A piecewise polynomial: `near` for distances below 1, `far` from 1 to 2, then 0."""

    def polynomial(x: Any, factors: tuple[float, ...]) -> Any:
        return reduce(lambda total, factor: total * x + factor, factors[1:], x * 0.0 + factors[0])

    return lambda x: _chosen(
        x < 1.0, polynomial(x, near), _chosen(x < 2.0, polynomial(x, far), 0.0)
    )


KERNELS: Mapping[str, tuple[float, Callable[[Any], Any]]] = {
    "lanczos1": (1, _lanczos(1)),
    "lanczos3": (3, _lanczos(3)),
    "lanczos5": (5, _lanczos(5)),
    "gaussian": (1.5, lambda x: _chosen(x < 1.5, _exp(x * x * -2.0), 0.0)),
    "box": (0.5, lambda x: _chosen(x < 0.5, x * 0.0 + 1.0, 0.5)),
    "triangle": (1, lambda x: _chosen(x < 1.0, 1.0 - x, 0.0)),
    "keyscubic": (2, _cubic((1.5, -2.5, 0, 1), (-0.5, 2.5, -4, 2))),
    "mitchellcubic": (2, _cubic((7 / 6, -2, 0, 8 / 9), (-7 / 18, 2, -10 / 3, 16 / 9))),
}
"""(radius, weight as a function of the distance) of each kernel. Source: TensorFlow's
sampling_kernels. The functions take arrays or terms, of distances up to the radius."""


def sampled(own: int, count: int, scale: float, shift: float, kind: str, wide: bool) -> np.ndarray:
    """Weights [count, own] of the `own` input elements in each of the `count` output elements.

    Where the result is smaller, a `wide` kernel is stretched, so that all input elements count.

    Numerics: positions and distances are computed in f32 as by TensorFlow, since their last bit
    decides whether an element at the radius counts.
    """
    radius, kernel = KERNELS[kind]
    half, step = np.float32(0.5), np.float32(1 / np.float32(scale))
    stretch = max(step, np.float32(1)) if wide else np.float32(1)
    at = (np.arange(count, dtype=np.float32) + half) * step - step * np.float32(shift)
    apart = np.abs(np.arange(own, dtype=np.float32) + half - at[:, None]) / stretch
    weights = np.where(apart <= radius, kernel(apart.astype(np.float64)), 0)
    total = weights.sum(1, keepdims=True)
    weights = weights / np.where(np.abs(total) < 1e-30, 1, total)
    return weights * ((at >= 0) & (at <= own))[:, None]


def covered(own: int, count: int) -> np.ndarray:
    """The weights [count, own] of area resampling: the share of each input in an output's area."""
    edges = np.arange(count + 1) * (own / count)
    places = np.arange(own)
    ends = np.minimum(edges[1:, None], places + 1)
    return np.maximum(ends - np.maximum(edges[:-1, None], places), 0) * (count / own)


def sampled_late(
    own: Term,
    count: Any,
    kind: str,
    wide: bool,
    scale: Term | None = None,
    shift: Term | float = 0.0,
) -> Term:
    """The weights of `sampled`, or of `covered` for the kind "area", for extents known only at run
    time; without a `scale`, it is the ratio of the extents.
    """
    n = own.n
    size = constant(n, count, i64) if isinstance(count, int) else count
    step = own.cast(f64) / size.cast(f64) if scale is None else 1.0 / scale
    rows, places = (counting(n, v).cast(step.element) for v in (size, own))
    if kind == "area":
        begins = (rows * step).spread(0, 1)
        return ((begins + step).min(places + 1.0) - begins.max(places)).max(0.0) / step
    radius, kernel = KERNELS[kind]
    at = ((rows + 0.5) * step - step * shift).spread(0, 1)
    apart = (places + 0.5 - at).function(nn.Abs)
    apart = (apart / step.max(1.0) if wide else apart).cast(f64)
    weights = (apart <= float(radius)).choose(kernel(apart), 0.0)
    total = weights.sum(1, keep=True)
    weights = weights / (total.function(nn.Abs) < 1e-30).choose(1.0, total)
    return ((at >= 0.0) & (at <= own.cast(step.element))).choose(weights, 0.0)


def weighted(n: Layer, x: Value, rows: np.ndarray | Term, columns: np.ndarray | Term) -> Value:
    """x [N, H, W, C] resized in f32 by the weights of rows [H', H] and columns [W', W]."""
    image = Term(n, n.cast(channels_first(n, x), f32))
    left, right = (
        weights.cast(f32) if isinstance(weights, Term) else constant(n, weights, f32)
        for weights in (rows, columns)
    )
    return channels_last(n, (left @ image @ right.transpose(1, 0)).value)
