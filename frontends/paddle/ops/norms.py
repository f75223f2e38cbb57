"""Norms of vectors and matrices, and normalization by them."""

from __future__ import annotations

from ...common.scans import logcumsumexp
from ...common.vocabulary import *
from ..layer import PaddleLayer, rows


def _norm(x: Term, power: float, axes: Sequence[int], keep: bool = False) -> Term:
    """The p-norm along axes."""
    n, size = x.n, x.function(nn.Abs)
    if power in (1, 2):
        op = nn.ReduceL1 if power == 1 else nn.ReduceL2
        return Term(n, reduced(n, x.value, op, tuple(axes), keep=keep))
    if np.isinf(power):
        op = nn.ReduceMax if power > 0 else nn.ReduceMin
        # NaN is no extreme.
        size = x.function(nn.IsNan).choose(0.0 if power > 0 else math.inf, size)
        return Term(n, reduced(n, size.value, op, tuple(axes), keep=keep))
    if power == 0:
        return (~x.equals(0.0)).cast(x.element).sum(*axes, keep=keep)
    root = float(np.float32(1 / power))  # Paddle's has 32 bits
    return (size**power).sum(*axes, keep=keep) ** root


@rows("p_norm")
def p_norm(n: PaddleLayer, x: Value) -> Value:
    axis = n.axis(x, n.int("axis", -1))
    axes = tuple(range(x.type.rank)) if n.flag("asvector") else (axis,)
    return _norm(Term(n, x), n.float("porder", 2.0), axes, n.flag("keepdim")).value


@rows("frobenius_norm")
def frobenius_norm(n: PaddleLayer, x: Value, given: Value | None = None) -> Value:
    axes = n.ints("dim") if given is None else n.numbers(given, "axis")
    if n.flag("reduce_all") or not axes:
        axes = tuple(range(x.type.rank))
    places = [n.axis(x, axis) for axis in axes]
    return _norm(Term(n, x), 2.0, places, n.flag("keep_dim")).value


@rows("dist")
def distance(n: PaddleLayer, x: Value, y: Value) -> Value:
    apart = Term(n, x) - Term(n, y)
    return _norm(apart, n.float("p", 2.0), range(apart.rank)).value


@rows("norm")
def normalized(n: PaddleLayer, x: Value) -> Value:
    """x over its length along an axis."""
    t, axis = Term(n, x), n.axis(x, n.int("axis", -1))
    length = ((t * t).sum(axis, keep=True) + n.float("epsilon", 1e-10)).function(nn.Sqrt)
    return (t / length).value


@rows("renorm")
def renormalized(n: PaddleLayer, x: Value) -> Value:
    """x with the slices along an axis whose norms exceed a limit scaled down to it."""
    t, own, most = Term(n, x), n.axis(x, n.int("axis", -1)), n.float("max_norm")
    axes = [axis for axis in range(t.rank) if axis != own]
    length = _norm(t, n.float("p", 2.0), axes, keep=True)
    return (t * (length > most).choose(most / (length + 1e-7), 1.0)).value


@rows("spectral_norm")
def over_largest_singular_value(n: PaddleLayer, weight: Value, u: Value, v: Value) -> Value:
    """A weight over its largest singular value, found by power iterations from u and v."""
    t, dim, epsilon = Term(n, weight), n.int("dim"), n.float("eps", 1e-12)
    order = [dim, *(axis for axis in range(t.rank) if axis != dim)]
    matrix = Term(n, merge(n, t.transpose(*order).value, ((0, 1), (1, t.rank))))
    left, right = Term(n, u).flat().spread(0, 1), Term(n, v).flat().spread(0, 1)

    def of_length_one(x: Term) -> Term:
        return x / (_norm(x, 2.0, (0, 1), keep=True) + epsilon)

    turned = matrix.transpose(1, 0)
    for _ in range(n.int("power_iters", 1)):
        right = of_length_one(turned @ left)
        left = of_length_one(matrix @ right)
    value = left.transpose(1, 0) @ (matrix @ right)
    return (t / value.reshape(*[1] * t.rank)).value


@rows("logcumsumexp")
def running_log_of_sums(n: PaddleLayer, x: Value) -> Value:
    if n.flag("exclusive") or n.flag("reverse"):
        raise n.error("sums in reverse, or without their own element, are not supported")
    axis = n.int("axis", -1)
    if n.flag("flatten"):
        x, axis = Term(n, x).flat().value, 0
    return logcumsumexp(n, x, n.axis(x, axis))


@rows("multiplex")
def multiplexed(n: PaddleLayer, inputs: list[Value], index: Value) -> Value:
    """Row i of the input whose number is in index[i]: inputs [N, ..], index [N, 1]."""
    choice, found = Term(n, index), Term(n, inputs[0])
    for i, given in enumerate(inputs[1:], 1):
        here = choice.equals(i).reshape((index, 0), *[1] * (found.rank - 1))
        found = here.choose(Term(n, given), found)
    return found.value
