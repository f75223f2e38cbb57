"""Elementwise layers, and those that combine blobs of one shape."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import CaffeLayer, rows

_PLAIN = {
    "Sigmoid": "sigmoid",
    "TanH": "tanh",
    "BNLL": "softplus",
    "ReLU6": "relu6",
    "HSwish": "hardswish",
    "Mish": "mish",
}


@rows(*_PLAIN)
def plain(n: CaffeLayer, x: Value) -> Value:
    return activation(n, _PLAIN[n.kind], x)


@rows("ReLU")
def relu(n: CaffeLayer, x: Value) -> Value:
    slope = n.p("relu").negative_slope
    return activation(n, "leakyrelu", x, slope) if slope else activation(n, "relu", x)


rows.formulas(
    {
        "ELU": lambda n, x: activation(n, "elu", x, n.p("elu").alpha),
        "Swish": lambda n, x: activation(n, "silu", x, n.p("swish").beta),
        "Clip": lambda n, x: activation(n, "clip", x, n.p("clip").min, n.p("clip").max),
        "Threshold": lambda n, x: activation(n, "threshold", x, n.p("threshold").threshold),
        "AbsVal": lambda n, x: n(nn.Abs(x)),
        "Split": lambda n, x: [x] * len(n.node.outputs),
    }
)


@rows("Dropout")
def dropout(n: CaffeLayer, x: Value) -> Value:
    """x; times the share that training keeps, if training does not scale what it keeps."""
    p = n.p("dropout")
    return x if p.scale_train else affine(n, x, 1 - p.dropout_ratio, 0)


@rows("PReLU")
def prelu(n: CaffeLayer, x: Value) -> Value:
    if n.p("prelu").channel_shared:
        return n(nn.Prelu(x, n.blob(0, 1)))
    return n(nn.Prelu(x, n.blob(0, -1, *(1,) * (x.type.rank - 2))))


@rows("Power")
def power(n: CaffeLayer, x: Value) -> Value:
    p = n.p("power")
    inner = affine(n, x, p.scale, p.shift)
    return inner if p.power == 1 else n(nn.Pow(inner, n.scalar(p.power, x)))


@rows("Exp")
def exponential(n: CaffeLayer, x: Value) -> Value:
    p, base = n.p("exp"), 1.0
    if p.base > 0:
        base = math.log(p.base)
    return n(nn.Exp(affine(n, x, p.scale * base, p.shift * base)))


@rows("Log")
def logarithm(n: CaffeLayer, x: Value) -> Value:
    p = n.p("log")
    found = n(nn.Log(affine(n, x, p.scale, p.shift)))
    return affine(n, found, 1 / math.log(p.base), 0) if p.base > 0 and p.base != 1 else found


@rows("Eltwise")
def eltwise(n: CaffeLayer, *inputs: Value) -> Value:
    p = n.p("eltwise")
    operands = list(inputs)
    if len(p.coeff):
        if p.operation != "SUM" or len(p.coeff) != len(inputs):
            raise n.error(f"{len(p.coeff)} coefficients of {p.operation} for {len(inputs)} bottoms")
        operands = [affine(n, x, c, 0) for x, c in zip(inputs, p.coeff.tolist(), strict=True)]
    op = {"PROD": nn.Mul, "SUM": nn.Add, "MAX": nn.Max}[p.operation]
    return combined(n, op, operands)


@rows("Scale", "Bias")
def scale(n: CaffeLayer, x: Value, by: Value | None = None) -> Value:
    p = n.p(n.kind.lower())
    axis = normalize_axis(n, p.axis, x.type.rank) if x.type.rank else 0
    count = 0
    if by is None:
        covered = x.type.rank - axis if p.num_axes == -1 else p.num_axes
        shape = x.type.shape[axis : axis + covered]
        by = n.blob(0, *(d or -1 for d in shape))
        count = 1

    def along(value: Value) -> Value:
        behind = x.type.rank - axis - value.type.rank
        return reshape(n, value, [*dims(value), *(1,) * behind])

    if n.kind == "Bias":
        return n(nn.Add(x, along(by)))
    out = n(nn.Mul(x, along(by)))
    if p.bias_term:
        shape = [d or -1 for d in by.type.shape]
        out = n(nn.Add(out, along(n.blob(count, *shape))))
    return out


@rows("Axpy")
def scaled_sum(n: CaffeLayer, scale: Value, x: Value, y: Value) -> Value:
    """x times a number per channel, plus y, as in SENet."""
    return n(nn.Add(n(nn.Mul(scale, x)), y))
