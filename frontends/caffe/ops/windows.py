"""Convolutions, poolings and other layers with windows."""

from __future__ import annotations

from ...common.pooling import in_planes, unpooled_in_planes
from ...common.vocabulary import *
from ..layer import CaffeLayer, rows


def _spatial(n: CaffeLayer, x: Value) -> int:
    if x.type.rank < 3:
        raise n.error(f"the bottom is {shape_text(x)}, expected at least three dimensions")
    return x.type.rank - 2


@rows(
    "Convolution",
    "Deconvolution",
    "DepthwiseConvolution",
    "ConvolutionDepthwise",
    "CuDNNConvolution",
)
def convolved(n: CaffeLayer, x: Value) -> Value:
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
    how: dict[str, Any] = {
        "strides": n.pair(p, "stride", rank, 1),
        "dilations": n.pair(p, "dilation", rank, 1),
        "padding": n.pair(p, "pad", rank) * 2,
    }
    work = transposed_convolution if transposed else convolution
    return work(n, x, weight, bias, groups=groups, **how)


@rows("Pooling")
def pooling(n: CaffeLayer, x: Value) -> Any:
    p, rank = n.p("pooling"), _spatial(n, x)
    if p.pool == "STOCHASTIC":
        raise n.error("stochastic pooling has no one result")
    is_max = p.pool == "MAX"
    if p.global_pooling:
        return pooled_whole(n, x, is_max)
    windows = Windows(
        n.pair(p, "kernel_size", rank),
        n.pair(p, "stride", rank, 1),
        n.pair(p, "pad", rank) * 2,
        ceil=p.round_mode == "CEIL" and p.ceil_mode,
    )
    lengths = _lengths_behind(n, x, windows) if windows.ceil else []
    if len(n.node.outputs) == 2 and is_max:
        out, places = max_pooled_with_indices(n, x, windows)
        mask = n.cast(in_planes(n, places, x), x.type.element_type)
        return _with_empty(n, out, lengths, _LEAST), _with_empty(n, mask, lengths, -1)
    out = pooled(n, x, windows, is_max, counts_padding=True)
    if is_max:
        return _with_empty(n, out, lengths, _LEAST)
    out = _with_empty(n, out, lengths, 0)
    if 0 not in lengths:
        return out
    counts = [
        np.array([1] * (extent - (length is not None)) + [length] * (length is not None))
        for extent, length in zip(out.type.shape[2:], lengths, strict=True)
    ]
    sizes = math.prod(np.meshgrid(*counts, indexing="ij"))
    return n(nn.Add(out, n.constant(np.where(sizes == 0, np.nan, 0).astype(np.float32))))


_LEAST = float(np.finfo(np.float32).min)
"""Caffe's result for the maximum of an empty window."""


def _lengths_behind(n: CaffeLayer, x: Value, windows: Windows) -> list[int | None]:
    """For each dimension the length, 0 or less, of a last window that begins after the end; None
    without one. Caffe drops such windows only if there is padding.
    """
    found: list[int | None] = []
    sides = zip(x.type.shape[2:], windows.kernel, windows.strides, strict=True)
    for axis, (extent, kernel, stride) in enumerate(sides):
        if any(windows.padding) or stride <= kernel:
            found.append(None)
        elif extent is None:
            raise n.error(f"strides of {stride} for windows of {kernel} need known extents")
        else:
            length = extent - windows.starts(axis, extent)[-1]
            found.append(length if length <= 0 else None)
    return found


def _with_empty(n: CaffeLayer, x: Value, lengths: list[int | None], fill: float) -> Value:
    """x with one more element, `fill`, in each dimension with a window after the end."""
    more = [int(length is not None) for length in lengths]
    return padded_by(n, x, (*(0,) * (2 + x.type.rank), *more), fill) if any(more) else x


@rows("SPP")
def pyramid(n: CaffeLayer, x: Value) -> Value:
    """Spatial pyramid pooling: to 1, 4, 16, .. windows, concatenated as vectors."""
    p, extents = n.p("spp"), x.type.shape[2:]
    if x.type.rank != 4 or None in extents or not 0 < p.pyramid_height < 16:
        raise n.error(f"{p.pyramid_height} levels of {shape_text(x)}, expected known extents")
    if p.pool == "STOCHASTIC":
        raise n.error("stochastic pooling has no one result")
    parts = []
    for bins in (1 << i for i in range(p.pyramid_height)):
        kernel = tuple(-(-d // bins) for d in extents)
        pads = [(k * bins - d + 1) // 2 for k, d in zip(kernel, extents, strict=True)]
        windows = Windows(kernel, kernel, (*pads, *pads), ceil=True)
        parts.append(pooled(n, x, windows, p.pool == "MAX", counts_padding=True))
    return parts[0] if len(parts) == 1 else concat(n, [flatten(n, v, 1) for v in parts], 1)


@rows("Im2col")
def columns(n: CaffeLayer, x: Value) -> Value:
    """Windows as channels [N, C * KH * KW, OH, OW]."""
    p = n.p("convolution")
    kernel, pads = n.pair(p, "kernel_size", 2), n.pair(p, "pad", 2)
    strides, dilations = n.pair(p, "stride", 2, 1), n.pair(p, "dilation", 2, 1)
    found = unfolded(n, x, kernel, strides, dilations, pads * 2)
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True)]
    sides = zip(x.type.shape[2:], pads, reach, strides, strict=True)
    out = [(extent + 2 * pad - k) // step + 1 for extent, pad, k, step in sides]
    return reshape(n, found, [(found, 0), (found, 1), *out])


@rows("LRN")
def lrn(n: CaffeLayer, x: Value) -> Value:
    p, size = n.p("lrn"), n.p("lrn").local_size
    if p.norm_region == "ACROSS_CHANNELS":
        return local_response(n, x, size, p.alpha, p.beta, p.k)
    return local_response_in_space(n, x, size, p.alpha, p.beta)


@rows("Upsample")
def upsample(n: CaffeLayer, x: Value, mask: Value | None = None) -> Value:
    """Each element repeated; with a pooling's mask, put at its position among zeros."""
    p, axes = n.p("upsample"), tuple(range(2, 2 + _spatial(n, x)))
    scales = [p.scale] * len(axes)
    if mask is None:
        how = {"mode": "nearest", "coordinate_transform": "asymmetric", "nearest_mode": "floor"}
        return resized_by_scales(n, x, n.constant(np.array(scales, np.float32)), axes, how)
    if None in x.type.shape or x.type.rank != 4:
        raise n.error(f"the bottom is {shape_text(x)}, expected known extents")
    scales = p.scale_h or p.scale, p.scale_w or p.scale
    sizes = [p.upsample_h, p.upsample_w]
    found = [g or d * s for g, d, s in zip(sizes, x.type.shape[2:], scales, strict=True)]
    return unpooled_in_planes(n, x, mask, (*x.type.shape[:2], *found))


@rows("Interp")
def interp(n: CaffeLayer, x: Value) -> Value:
    shape, _ = x.type.shape, _spatial(n, x)
    p = n.p("interp")
    if None in shape[2:] or p.shrink_factor < 1:
        raise n.error(f"the bottom is {shape_text(x)}, expected known extents")
    out = []
    for extent, given in zip(shape[2:], (p.height, p.width), strict=True):
        inner = extent + p.pad_beg + p.pad_end
        inner = (inner - 1) // p.shrink_factor + 1
        out.append(given or inner + (inner - 1) * (p.zoom_factor - 1))
    x = padded_by(n, x, (0, 0, *(p.pad_beg,) * 2, 0, 0, *(p.pad_end,) * 2))
    how = {"mode": "linear", "coordinate_transform": "align_corners"}
    return resized(n, x, n.constant(np.array(out, np.int64)), (2, 3), how)
