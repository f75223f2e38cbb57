"""Products of matrices, reductions, normalizations and attention."""

from __future__ import annotations

from ...common.attention import causal
from ...common.vocabulary import *
from ..layer import OpenvinoLayer, rows
from .elementwise import is_byte, within


@rows("MatMul")
def matmul(n: OpenvinoLayer, x: Value, y: Value) -> Value:
    if n.flag("transpose_a") and x.type.rank > 1:
        x = swapped(n, x, -2, -1)
    if n.flag("transpose_b") and y.type.rank > 1:
        y = swapped(n, y, -2, -1)
    element = x.type.element_type
    if not is_byte(element):
        return n(nn.Matmul(x, y))
    return within(n, n(nn.Matmul(n.cast(x, i32), n.cast(y, i32))), element)


_REDUCTIONS = named(
    "ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
    "ReduceLogicalAnd=ReduceMin "
    "ReduceLogicalOr=ReduceMax"
)


@rows(*_REDUCTIONS)
def reduce(n: OpenvinoLayer, x: Value, axes: Value) -> Value:
    keep, given = n.flag("keep_dims"), n.axes(x, axes)
    if not given:
        return n(nn.Abs(x)) if n.kind in ("ReduceL1", "ReduceL2") else x
    op, wide = _REDUCTIONS[n.kind], _OF_BYTES.get(n.kind)
    if wide is None or not is_byte(x.type.element_type):
        return reduced(n, x, op, given, keep)
    if n.kind in ("ReduceMean", "ReduceL2"):
        n.warn("OpenVINO 2026.4's CPU plugin sums integers of 8 bits within their range")
    return within(n, reduced(n, n.cast(x, wide), op, given, keep), x.type.element_type)


_OF_BYTES: dict[str, Type] = {
    **dict.fromkeys(("ReduceL1", "ReduceSum", "ReduceMean"), i32),
    **dict.fromkeys(("ReduceL2", "ReduceProd"), f64),
}
"""The types in which integers of 8 bits are reduced."""


@rows("MVN")
def mean_variance(n: OpenvinoLayer, x: Value, axes: Value) -> Value:
    along, epsilon = n.axes(x, axes), n.float("eps")
    inside = n.text("eps_mode", "inside_sqrt") == "inside_sqrt"
    if not n.flag("normalize_variance", True):
        return deviations(n, x, along, None)
    if inside:
        return layer_normed(n, x, None, None, along, epsilon)
    return deviations(n, x, along, epsilon)


@rows("NormalizeL2")
def of_length_one(n: OpenvinoLayer, x: Value, axes: Value) -> Value:
    t, epsilon, mode = Term(n, x), n.float("eps"), n.text("eps_mode")
    if mode not in ("add", "max"):
        raise n.error(f"eps_mode '{mode}' is not supported")
    total = (t * t).sum(*n.axes(x, axes), keep=True)
    total = total + epsilon if mode == "add" else total.max(epsilon)
    return (t / total.function(nn.Sqrt)).value


@rows("LRN")
def lrn(n: OpenvinoLayer, x: Value, axes: Value) -> Value:
    """x by squares of neighbours; of an even number, the last one is left out, but counted."""
    given, alpha, beta, rank = n.axes(x, axes), n.float("alpha"), n.float("beta"), x.type.rank
    size, bias = n.int("size"), n.float("bias")
    if bias != 1:
        n.warn(f"its bias is {bias:g}; OpenVINO's CPU plugin takes 1 in its place")
    odd = size - 1 + size % 2
    if given == (1,):
        return local_response(n, x, odd, alpha * odd / size, beta, bias)
    if sorted(given) != list(range(2, rank)):
        raise n.error("neighbours along channels, or along all other dimensions, are supported")
    share = (odd / size) ** (rank - 2)
    return local_response_in_space(n, x, odd, alpha * share, beta, bias)


@rows("BatchNormInference")
def batch_norm_(n: OpenvinoLayer, *given: Value) -> Value:
    x, gamma, beta, mean, var = given
    if n.opset < 5:
        gamma, beta, x, mean, var = given
    return batch_norm(n, x, gamma, beta, mean, var, n.float("epsilon"))


@rows("GroupNormalization")
def group_norm(n: OpenvinoLayer, x: Value, scale: Value, bias: Value) -> Value:
    return group_normed(n, x, scale, bias, n.int("num_groups"), n.float("epsilon"))


@rows("CumSum")
def cumsum(n: OpenvinoLayer, x: Value, axis: Value) -> Value:
    exclusive, reverse = n.flag("exclusive"), n.flag("reverse")
    return n(nn.Cumsum(x, axis=n.axis(x, axis), exclusive=exclusive, reverse=reverse))


@rows("TopK")
def top_k(n: OpenvinoLayer, x: Value, k: Value) -> list[Value]:
    """The largest or smallest elements along an axis, and their indices.

    Of equal elements, the first ones come first, as a `stable` order asks for.
    """
    is_by_place, _ = n.text("sort", "value") == "index", n.flag("stable")
    axis = normalize_axis(n, n.int("axis"), x.type.rank)
    count = as_scalar(n, as_i64(n, k))
    values, places = largest(n, x, count, axis, greatest=n.text("mode") == "max")
    if is_by_place:
        places, order = ordered(n, places, axis)
        values = gathered_elements(n, values, order, axis)
    return [values, places]


@rows("ScaledDotProductAttention")
def attention(
    n: OpenvinoLayer,
    q: Value,
    k: Value,
    v: Value,
    mask: Value | None = None,
    scale: Value | None = None,
) -> Value:
    query, key = Term(n, q), Term(n, k)
    added = []
    if n.flag("causal"):
        added.append(causal(n, query, key, from_end=False))
    elif mask is not None:
        given = Term(n, mask)
        if given.element is i1:
            given = given.choose(constant(n, 0.0, query.element), -math.inf)
        added.append(given)
    factor: Any = 1 / math.sqrt(n.extent(q, -1))
    if scale is not None:
        factor = Term(n, as_scalar(n, scale))
    return attend(query, key, Term(n, v), factor, added).value
