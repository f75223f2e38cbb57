"""Matrix products, attention, normalizations and reductions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import i1, i32
from ...common.einsum import einsum
from ...common.shapes import normalize_axes, normalize_axis, reshape, shape_text
from ...common.terms import Term
from ..layer import CoreMLLayer
from ..rows import ROWS

_REDUCTIONS = {
    "reduce_l1_norm": nn.ReduceL1,
    "reduce_l2_norm": nn.ReduceL2,
    "reduce_log_sum": nn.ReduceLogSum,
    "reduce_log_sum_exp": nn.ReduceLogSumExp,
    "reduce_max": nn.ReduceMax,
    "reduce_mean": nn.ReduceMean,
    "reduce_min": nn.ReduceMin,
    "reduce_prod": nn.ReduceProd,
    "reduce_sum": nn.ReduceSum,
    "reduce_sum_square": nn.ReduceSumSquare,
}


def _swapped(n: CoreMLLayer, x: Value) -> Value:
    """x with its last two dimensions in the other order."""
    order = (*range(x.type.rank - 2), x.type.rank - 1, x.type.rank - 2)
    return n(nn.Transpose(x, permutation=order))


@ROWS("linear")
def linear(n: CoreMLLayer, x: Value, weight: Value, bias: Value | None = None) -> Value:
    out = n(nn.Matmul(x, _swapped(n, weight)))
    return out if bias is None else n(nn.Add(out, bias))


@ROWS("matmul")
def matmul(n: CoreMLLayer, x: Value, y: Value) -> Value:
    x = _swapped(n, x) if n.flag("transpose_x") else x
    y = _swapped(n, y) if n.flag("transpose_y") else y
    return n(nn.Matmul(x, y))


@ROWS("einsum")
def einsum_(n: CoreMLLayer, *values: Value) -> Value:
    return einsum(n, n.text("equation"), list(values))


@ROWS("scaled_dot_product_attention")
def attention(
    n: CoreMLLayer, query: Value, key: Value, value: Value, attn_mask: Value | None = None
) -> Value:
    width = query.type.shape[-1]
    if width is None:
        raise n.error(f"query {shape_text(query)}, expected a known last extent")
    q = Term(n, query) * (1 / math.sqrt(width))
    scores = q @ Term(n, _swapped(n, key))
    if attn_mask is not None and attn_mask.type.element_type is i1:
        scores = Term(n, attn_mask).choose(scores, -math.inf)
    elif attn_mask is not None:
        scores = scores + Term(n, attn_mask)
    shares = Term(n, n(nn.Softmax(scores.value, axis=scores.rank - 1)))
    return (shares @ Term(n, value)).value


@ROWS("softmax")
def softmax(n: CoreMLLayer, x: Value) -> Value:
    return n(nn.Softmax(x, axis=normalize_axis(n, n.int("axis", -1), x.type.rank)))


# -- normalizations --------------------------------------------------------------------------------


def _vector(n: CoreMLLayer, given: Value | None, x: Value, fill: float) -> Value:
    """Parameters, or as many equal ones as there are channels."""
    if given is not None:
        return given
    if x.type.shape[1] is None:
        raise n.error(f"input 'x' is {shape_text(x)}, expected a known number of channels")
    return n.constant(np.full(x.type.shape[1], fill), x.type.element_type)


@ROWS("batch_norm")
def batch_norm(
    n: CoreMLLayer,
    x: Value,
    mean: Value,
    variance: Value,
    gamma: Value | None = None,
    beta: Value | None = None,
) -> Value:
    scale, bias = _vector(n, gamma, x, 1), _vector(n, beta, x, 0)
    return n(nn.BatchNorm(x, scale, bias, mean, variance, epsilon=n.float("epsilon", 1e-5)))


@ROWS("instance_norm")
def instance_norm(
    n: CoreMLLayer, x: Value, gamma: Value | None = None, beta: Value | None = None
) -> Value:
    scale, bias = _vector(n, gamma, x, 1), _vector(n, beta, x, 0)
    return n(nn.InstanceNorm(x, scale, bias, epsilon=n.float("epsilon", 1e-5)))


@ROWS("layer_norm")
def layer_norm(
    n: CoreMLLayer, x: Value, gamma: Value | None = None, beta: Value | None = None
) -> Value:
    rank, epsilon = x.type.rank, n.float("epsilon", 1e-5)
    axes = sorted(normalize_axes(n, n.ints("axes", range(rank)), rank))
    shape = [x.type.shape[axis] for axis in axes]
    if axes == list(range(rank - len(axes), rank)) and None not in shape:
        if gamma is None:
            gamma = n.constant(np.ones(shape), x.type.element_type)
        return n(nn.LayerNorm(x, gamma, beta, axis=axes[0], epsilon=epsilon))
    spread = [(x, i) if i in axes else 1 for i in range(rank)]
    centered = n(nn.Sub(x, n(nn.ReduceMean(x, axes=tuple(axes), keep_dims=True))))
    variance = n(nn.ReduceMean(n(nn.Mul(centered, centered)), axes=tuple(axes), keep_dims=True))
    y = n(nn.Mul(centered, n(nn.Rsqrt(n(nn.Add(variance, n.scalar(epsilon, x)))))))
    if gamma is not None:
        y = n(nn.Mul(y, reshape(n, gamma, spread)))
    return y if beta is None else n(nn.Add(y, reshape(n, beta, spread)))


@ROWS("l2_norm")
def l2_norm(n: CoreMLLayer, x: Value) -> Value:
    axes = tuple(range(max(x.type.rank - 3, 0), x.type.rank))
    total = n(nn.ReduceSumSquare(x, axes=axes, keep_dims=True))
    return n(nn.Mul(x, n(nn.Rsqrt(n(nn.Add(total, n.scalar(n.float("epsilon", 1e-6), x)))))))


@ROWS("local_response_norm")
def local_response_norm(n: CoreMLLayer, x: Value) -> Value:
    return n(
        nn.Lrn(
            x,
            size=n.int("size"),
            alpha=n.float("alpha", 1e-4),
            beta=n.float("beta", 0.75),
            bias=n.float("k", 1.0),
        )
    )


# -- reductions ------------------------------------------------------------------------------------


def _reduction(op: Callable[..., Any]) -> Callable[..., Value]:
    def convert(n: CoreMLLayer, x: Value) -> Value:
        axes = normalize_axes(n, n.ints("axes", range(x.type.rank)), x.type.rank)
        return n(op(x, axes=axes, keep_dims=n.flag("keep_dims")))

    return convert


ROWS.add({name: _reduction(op) for name, op in _REDUCTIONS.items()})


@ROWS("reduce_argmax", "reduce_argmin")
def arg_extreme(n: CoreMLLayer, x: Value) -> Value:
    find = nn.Argmax if n.kind == "reduce_argmax" else nn.Argmin
    axis = normalize_axis(n, n.int("axis", -1), x.type.rank)
    element = n.element("output_dtype") if n.has("output_dtype") else i32
    return n.cast(n(find(x, axis=axis, keep_dims=n.flag("keep_dims"))), element)


@ROWS("cumsum")
def cumsum(n: CoreMLLayer, x: Value) -> Value:
    axis = normalize_axis(n, n.int("axis", 0), x.type.rank)
    return n(nn.Cumsum(x, axis=axis, exclusive=n.flag("exclusive"), reverse=n.flag("reverse")))


@ROWS("classify")
def classify(n: CoreMLLayer, probabilities: Value) -> list[Value]:
    """The label of the most likely class, and the probabilities of all, in their order."""
    classes = n.attribute("classes")
    labels = np.array(classes, object) if isinstance(classes, list) else np.asarray(classes)
    flat = Term(n, probabilities).flat()
    best = n(nn.Argmax(flat.value, axis=0, keep_dims=False))
    return [n(nn.Gather(n.constant(labels), best)), flat.value]
