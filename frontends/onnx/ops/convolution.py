"""Convolutions."""

from __future__ import annotations

from ....dialects import nn
from ....ir.core import Value
from ..node import Node
from ..registry import converter
from ..windows import AUTO_PADS, padding, spatial_ints, spatial_rank


@converter("Conv")
def conv(n: Node, x: Value, weight: Value, bias: Value | None = None) -> Value:
    kernel = kernel_of(n, x, weight)
    strides = spatial_ints(n, "strides", len(kernel), 1)
    dilations = spatial_ints(n, "dilations", len(kernel), 1)
    pads = padding(n, x, kernel, strides, dilations)
    return n(
        nn.Conv(
            x,
            weight,
            bias,
            strides=strides,
            dilations=dilations,
            pads=pads,
            groups=n.int("group"),
        )
    )


@converter("ConvTranspose")
def conv_transpose(n: Node, x: Value, weight: Value, bias: Value | None = None) -> Value:
    kernel = kernel_of(n, x, weight)
    strides = spatial_ints(n, "strides", len(kernel), 1)
    dilations = spatial_ints(n, "dilations", len(kernel), 1)
    extra = spatial_ints(n, "output_padding", len(kernel), 0)
    pads, extra = _transposed_padding(n, x, kernel, strides, dilations, extra)
    return n(
        nn.ConvTranspose(
            x,
            weight,
            bias,
            strides=strides,
            dilations=dilations,
            pads=pads,
            output_padding=extra,
            groups=n.int("group"),
        )
    )


def kernel_of(n: Node, x: Value, weight: Value) -> tuple:
    """The kernel's extents; the attribute must agree with the weight."""
    rank = spatial_rank(n, x)
    if weight.type.rank != x.type.rank:
        raise n.error(f"input 'W' has rank {weight.type.rank}, expected {x.type.rank} like 'X'")
    kernel = weight.type.shape[2:]
    given = n.ints("kernel_shape")
    if given is not None and (
        len(given) != rank
        or any(k is not None and k != g for k, g in zip(kernel, given, strict=False))
    ):
        raise n.error(
            f"attribute 'kernel_shape' is {list(given)}, but the weight's kernel is {list(kernel)}"
        )
    return given or kernel


def _transposed_padding(n: Node, x: Value, kernel, strides, dilations, extra) -> tuple:
    """Pads and output padding; `output_shape` and `auto_pad` determine the former."""
    wanted = n.ints("output_shape")
    mode = n.string("auto_pad", "NOTSET", AUTO_PADS)
    if wanted is None and mode in ("NOTSET", "VALID"):
        return padding(n, x, kernel, strides, dilations), extra
    spatial = x.type.shape[2:]
    if wanted is not None:
        if len(wanted) not in (len(spatial), len(spatial) + 2):
            raise n.error(f"output_shape has {len(wanted)} elements, expected {len(spatial)}")
        wanted = wanted[-len(spatial) :]  # some exporters give batch and channels too
    begins, ends, more = [], [], []
    for i, extent in enumerate(spatial):
        if extent is None or kernel[i] is None:
            raise n.error("output_shape and auto_pad need static spatial dimensions")
        out = wanted[i] if wanted is not None else extent * strides[i]
        full = strides[i] * (extent - 1) + extra[i] + (kernel[i] - 1) * dilations[i] + 1
        total = max(0, full - out)
        small, large = total // 2, total - total // 2
        begins.append(small if mode == "SAME_UPPER" else large)
        ends.append(large if mode == "SAME_UPPER" else small)
        more.append(extra[i] + max(0, out - full))
    return (*begins, *ends), tuple(more)
