"""Matrix products, normalizations and reductions."""

from __future__ import annotations

from ...common.blocks import reorganized
from ...common.shapes import product
from ...common.vocabulary import *
from ..layer import CaffeLayer, rows


@rows("InnerProduct")
def inner_product(n: CaffeLayer, x: Value) -> Value:
    p = n.p("inner_product")
    axis = normalize_axis(n, p.axis, x.type.rank)
    lead = [(i, i + 1) for i in range(axis)]
    matrix = merge(n, x, [*lead, (axis, x.type.rank)])
    width = product(x.type.shape[axis:])
    if width is None:
        raise n.error("the extents from its axis on must be known; give the input's shape")
    shape = (width, p.num_output) if p.transpose else (p.num_output, width)
    weight = n.blob(0, *shape)
    if not p.transpose:
        weight = n(nn.Transpose(weight, permutation=(1, 0)))
    out = n(nn.Matmul(matrix, weight))
    return n(nn.Add(out, n.blob(1, p.num_output))) if p.bias_term else out


@rows("Embed")
def embed(n: CaffeLayer, x: Value) -> Value:
    p = n.p("embed")
    out = gathered(n, n.blob(0, -1, p.num_output), n.cast(x, i64))
    return n(nn.Add(out, n.blob(1, p.num_output))) if p.bias_term else out


@rows("BatchNorm", "BN")
def batch_norm_(n: CaffeLayer, x: Value) -> Value:
    """Batch norm with blobs mean, variance, and the divisor of both; NVIDIA's adds scale, bias.

    BN has the blobs scale, bias, mean, variance.
    """
    p = n.p("bn" if n.kind == "BN" else "batch_norm")
    blobs = [np.asarray(blob).reshape(-1) for blob in n.attributes.blobs]
    if len(blobs) < (4 if n.kind == "BN" else 3):
        n.blob(3 if n.kind == "BN" else 2)
    if n.kind == "BN":
        weight, bias, mean, variance = blobs[:4]
    else:
        mean, variance, factor = blobs[:3]
        factor = float(factor[0]) if factor.size else 0.0
        factor = 0.0 if factor == 0 else 1 / factor
        mean, variance = mean * np.float32(factor), variance * np.float32(factor)
        weight, bias = np.ones_like(mean), np.zeros_like(mean)
        if p.scale_bias and len(blobs) >= 5:
            weight, bias = blobs[3:5]
    scale, shift = (n.constant(np.ascontiguousarray(v)) for v in (weight, bias))
    if not p.use_global_stats and n.kind == "BatchNorm":  # told to train, in tests too
        return batch_norm_now(n, x, scale, shift, x.type.element_type, p.eps)[0]
    middle, spread = (n.constant(np.ascontiguousarray(v)) for v in (mean, variance))
    return batch_norm(n, x, scale, shift, middle, spread, p.eps)


@rows("MVN")
def mean_variance(n: CaffeLayer, x: Value) -> Value:
    p = n.p("mvn")
    axes = tuple(range(1 if p.across_channels else 2, x.type.rank))
    epsilon = p.eps
    return deviations(n, x, axes, epsilon if p.normalize_variance else None)


@rows("Normalize")
def normalize(n: CaffeLayer, x: Value) -> Value:
    p = n.p("norm")
    axes = tuple(range(1, x.type.rank)) if p.across_spatial else (1,)
    total = reduced(n, n(nn.Mul(x, x)), nn.ReduceSum, axes, keep=True)
    out = n(nn.Div(x, n(nn.Sqrt(n(nn.Add(total, n.scalar(p.eps, x)))))))
    scale = n.blob(0, *((1,) if p.channel_shared else (-1, *(1,) * (x.type.rank - 2))))
    return n(nn.Mul(out, scale))


@rows("Softmax")
def softmax(n: CaffeLayer, x: Value) -> Value:
    return n(nn.Softmax(x, axis=normalize_axis(n, n.p("softmax").axis, x.type.rank)))


@rows("ArgMax")
def argmax(n: CaffeLayer, x: Value) -> Value:
    """Indices as floats, of equal elements the last first. Without an axis: [N, 1, k, 1..] of whole
    items, or [N, 2, k, 1..] with values.
    """
    p, flat = n.p("argmax"), x
    if not p.has("axis"):
        flat = merge(n, x, ((0, 1), (1, x.type.rank)))
        axis = 1
    else:
        axis = normalize_axis(n, p.axis, x.type.rank)
    element = x.type.element_type
    values, behind = largest(n, reversed_axes(n, flat, [axis]), n.constant(p.top_k, i64), axis)
    places = (n.extent(flat, axis) - 1 - Term(n, behind)).cast(element).value
    if p.has("axis"):
        return values if p.out_max_val else places
    rows = [(flat, 0), 1, p.top_k, *[1] * (x.type.rank - 3)]
    parts = [reshape(n, v, rows) for v in ((places, values) if p.out_max_val else (places,))]
    return concatenated(n, parts, 1)


@rows("Reduction")
def reduction(n: CaffeLayer, x: Value) -> Value:
    p = n.p("reduction")
    axis = normalize_axis(n, p.axis, x.type.rank)
    op = {
        "SUM": nn.ReduceSum,
        "ASUM": nn.ReduceL1,
        "SUMSQ": nn.ReduceSumSquare,
        "MEAN": nn.ReduceMean,
    }[p.operation]
    return affine(n, reduced(n, x, op, tuple(range(axis, x.type.rank))), p.coeff, 0)


@rows("Parameter")
def parameter(n: CaffeLayer) -> Value:
    return n.blob(0, *n.p("parameter").part("shape").dim)


@rows("Reorg")
def reorg(n: CaffeLayer, x: Value) -> Value:
    if n.p("reorg").reverse:
        raise n.error("a reorg in reverse is not supported")
    return reorganized(n, x, n.p("reorg").stride)
