"""Matrix products, attention, normalizations and reductions."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import CoreMLLayer, rows

_REDUCTIONS = named(
    "l1_norm=ReduceL1 l2_norm=ReduceL2 log_sum=ReduceLogSum log_sum_exp=ReduceLogSumExp "
    "max=ReduceMax mean=ReduceMean min=ReduceMin prod=ReduceProd sum=ReduceSum "
    "sum_square=ReduceSumSquare"
)


@rows("linear")
def linear(n: CoreMLLayer, x: Value, weight: Value, bias: Value | None = None) -> Value:
    out = n(nn.Matmul(x, swapped(n, weight, -2, -1)))
    return out if bias is None else n(nn.Add(out, bias))


@rows("product of a network")
def product_of_network(n: CoreMLLayer, x: Value, weight: Value, bias: Value | None = None) -> Value:
    """An inner product. If x has four dimensions or more, its last three are flattened:
    [.., C, H, W] -> [.., outputs, 1, 1].
    """
    lead = x.type.rank - 3
    if lead < 1:
        return linear(n, x, weight, bias)
    flat = merge(n, x, [*((i, i + 1) for i in range(lead)), (lead, x.type.rank)])
    return unsqueezed(n, linear(n, flat, weight, bias), lead + 1, lead + 2)


@rows("matmul")
def matmul(n: CoreMLLayer, x: Value, y: Value) -> Value:
    x = swapped(n, x, -2, -1) if n.flag("transpose_x") else x
    y = swapped(n, y, -2, -1) if n.flag("transpose_y") else y
    return n(nn.Matmul(x, y))


@rows("einsum")
def einsum_(n: CoreMLLayer, *values: Value) -> Value:
    return einsum(n, n.text("equation"), list(values))


@rows("scaled_dot_product_attention")
def attention(
    n: CoreMLLayer, query: Value, key: Value, value: Value, attn_mask: Value | None = None
) -> Value:
    q, k, v = (Term(n, x) for x in (query, key, value))
    width = query.type.shape[-1] or key.type.shape[-1]
    if width:
        scale = 1 / math.sqrt(width)
    else:
        scale = extent(n, (query, q.rank - 1)).cast(q.element).function(nn.Rsqrt)
    added = [] if attn_mask is None else [Term(n, attn_mask)]
    if added and added[0].element is i1:
        added = [added[0].choose(constant(n, 0.0, q.element), -math.inf)]
    return attend(q, k, v, scale, added).value


@rows("softmax")
def softmax(n: CoreMLLayer, x: Value) -> Value:
    return n(nn.Softmax(x, axis=normalize_axis(n, n.int("axis", -1), x.type.rank)))


# -- normalizations --------------------------------------------------------------------------------


_EPSILON = ("epsilon", 1e-5)

rows.add(
    {
        "batch_norm": batch_norm_row("x mean variance gamma? beta?", eps=_EPSILON),
        "instance_norm": instance_norm_row("x gamma? beta?", eps=_EPSILON),
    }
)


@rows("layer_norm")
def layer_norm(
    n: CoreMLLayer, x: Value, gamma: Value | None = None, beta: Value | None = None
) -> Value:
    rank = x.type.rank
    axes = normalize_axes(n, n.ints("axes", range(rank)), rank)
    return layer_normed(n, x, gamma, beta, axes, n.float(*_EPSILON))


@rows("l2_norm")
def l2_norm(n: CoreMLLayer, x: Value) -> Value:
    axes = tuple(range(max(x.type.rank - 3, 0), x.type.rank))
    total = Term(n, reduced(n, x, nn.ReduceSumSquare, axes, keep=True))
    return (Term(n, x) * (total + n.float("epsilon", 1e-6)).function(nn.Rsqrt)).value


rows.add({"local_response_norm": as_it_is(nn.Lrn, bias="k")})


# -- reductions ------------------------------------------------------------------------------------


rows.add(
    {
        f"reduce_{name}": reduction_row(op, axes="axes", keep=("keep_dims", 0))
        for name, op in _REDUCTIONS.items()
    }
)


@rows("reduce_argmax", "reduce_argmin")
def arg_extreme(n: CoreMLLayer, x: Value) -> Value:
    find = nn.Argmax if n.kind == "reduce_argmax" else nn.Argmin
    axis = normalize_axis(n, n.int("axis", -1), x.type.rank)
    element = n.element("output_dtype") if n.has("output_dtype") else i32
    return n.cast(extreme_at(n, x, find, axis, keep=n.flag("keep_dims")), element)


@rows("cumsum")
def cumsum(n: CoreMLLayer, x: Value) -> Value:
    axis = normalize_axis(n, n.int("axis", 0), x.type.rank)
    return n(nn.Cumsum(x, axis=axis, exclusive=n.flag("exclusive"), reverse=n.flag("reverse")))


@rows("classify")
def classify(n: CoreMLLayer, probabilities: Value) -> list[Value]:
    """The label of the most likely class, and all probabilities in the order of the classes."""
    classes = n.attribute("classes")
    is_text = all(isinstance(one, str) for one in classes)
    labels = np.array(classes, object if is_text else np.int64)
    flat = Term(n, probabilities).flat()
    best = flat.argmax(0)
    return [constant(n, labels).gather(best).value, flat.value]
