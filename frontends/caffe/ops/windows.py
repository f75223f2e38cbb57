"""Convolutions, poolings and what else looks at windows."""

from __future__ import annotations

from ....dialects import nn
from ....ir.core import Value
from ...common.shapes import shape_text
from ..layer import CaffeLayer
from ..rows import ROWS


def _spatial(n: CaffeLayer, x: Value) -> int:
    if x.type.rank < 3:
        raise n.error(f"the bottom is {shape_text(x)}, expected at least three dimensions")
    return x.type.rank - 2


@ROWS(
    "Convolution",
    "Deconvolution",
    "DepthwiseConvolution",
    "ConvolutionDepthwise",
    "CuDNNConvolution",
)
def convolution(n: CaffeLayer, x: Value) -> Value:
    p, rank = n.p("convolution"), _spatial(n, x)
    kernel = n.pair(p, "kernel_size", rank)
    transposed = n.kind == "Deconvolution"
    channels = x.type.shape[1]
    groups = p.group
    if "Depthwise" in n.kind and not p.has("group"):
        groups = channels or 1
    if groups < 1 or 0 in kernel:
        raise n.error(f"a kernel of {list(kernel)} in {groups} groups")
    shape = (channels, p.num_output // groups) if transposed else (p.num_output, -1)
    if channels is None:
        shape = (-1, p.num_output // groups) if transposed else shape
    elif not transposed:
        shape = (p.num_output, channels // groups)
    weight = n.blob(0, *shape, *kernel)
    bias = n.blob(1, p.num_output) if p.bias_term else None
    pads = n.pair(p, "pad", rank)
    return n(
        (nn.ConvTranspose if transposed else nn.Conv)(
            x,
            weight,
            bias,
            strides=n.pair(p, "stride", rank, 1),
            dilations=n.pair(p, "dilation", rank, 1),
            pads=pads * 2,
            groups=groups,
        )
    )


@ROWS("Pooling")
def pooling(n: CaffeLayer, x: Value) -> Value:
    p, rank = n.p("pooling"), _spatial(n, x)
    if p.pool == "STOCHASTIC":
        raise n.error("stochastic pooling has no one result")
    is_max = p.pool == "MAX"
    if p.global_pooling:
        axes = tuple(range(2, x.type.rank))
        return n((nn.ReduceMax if is_max else nn.ReduceMean)(x, axes=axes, keep_dims=True))
    window = {
        "kernel": n.pair(p, "kernel_size", rank),
        "strides": n.pair(p, "stride", rank, 1),
        "pads": n.pair(p, "pad", rank) * 2,
        "ceil_mode": p.round_mode == "CEIL" and p.ceil_mode,
    }
    if is_max:
        return n(nn.MaxPool(x, **window))
    return n(nn.AvgPool(x, count_include_pad=True, **window))


@ROWS("LRN")
def lrn(n: CaffeLayer, x: Value) -> Value:
    p, size = n.p("lrn"), n.p("lrn").local_size
    if p.norm_region == "ACROSS_CHANNELS":
        return n(nn.Lrn(x, size=size, alpha=p.alpha, beta=p.beta, bias=p.k))
    window = {"kernel": (size,) * _spatial(n, x), "pads": (size // 2,) * 2 * _spatial(n, x)}
    mean = n(nn.AvgPool(n(nn.Mul(x, x)), count_include_pad=True, **window))
    spread = n(nn.Add(n(nn.Mul(mean, n.scalar(p.alpha, x))), n.scalar(1, x)))
    return n(nn.Div(x, n(nn.Pow(spread, n.scalar(p.beta, x)))))


@ROWS("Upsample", "Interp")
def resize(n: CaffeLayer, x: Value) -> Value:
    shape, rank = x.type.shape, _spatial(n, x)
    if n.kind == "Upsample":
        scale = n.p("upsample").scale
        out = [None if d is None else d * scale for d in shape[2:]]
        sampling = {
            "mode": "nearest",
            "coordinate_transform": "asymmetric",
            "nearest_mode": "floor",
        }
        return n(nn.Resize(x, out=_like(x, out), scales=(1, 1, *(scale,) * rank), **sampling))
    p = n.p("interp")
    if None in shape[2:] or p.shrink_factor < 1:
        raise n.error(f"the bottom is {shape_text(x)}, expected known extents")
    out = []
    for extent, given in zip(shape[2:], (p.height, p.width), strict=True):
        inner = extent + p.pad_beg + p.pad_end
        inner = (inner - 1) // p.shrink_factor + 1
        out.append(given or inner + (inner - 1) * (p.zoom_factor - 1))
    if p.pad_beg or p.pad_end:
        x = n(nn.Pad(x, None, pads=(0, 0, *(p.pad_beg,) * 2, 0, 0, *(p.pad_end,) * 2)))
    return n(nn.Resize(x, out=_like(x, out), mode="linear", coordinate_transform="align_corners"))


def _like(x: Value, spatial: list):
    return type(x.type)((*x.type.shape[:2], *spatial), x.type.element_type)
