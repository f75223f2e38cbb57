"""Convolutions."""

from __future__ import annotations

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import TensorType, i64
from ...common.shapes import part_of_vector, shape_of
from ...common.windows import padded
from ..node import Node
from ..registry import converter
from ..windows import AUTO_PADS, padding_of, spatial_ints, spatial_rank


@converter("Conv")
def conv(n: Node, x: Value, weight: Value, bias: Value | None = None) -> Value:
    kernel = kernel_of(n, x, weight)
    strides = spatial_ints(n, "strides", len(kernel), 1)
    dilations = spatial_ints(n, "dilations", len(kernel), 1)
    operand = padded(n, x, kernel, strides, dilations, padding_of(n, len(kernel)))
    return n(
        nn.Conv(
            operand.x,
            weight,
            bias,
            strides=strides,
            dilations=dilations,
            pads=operand.pads,
            groups=n.int("group", 1),
        )
    )


@converter("ConvTranspose")
def conv_transpose(n: Node, x: Value, weight: Value, bias: Value | None = None) -> Value:
    kernel = kernel_of(n, x, weight)
    strides = spatial_ints(n, "strides", len(kernel), 1)
    dilations = spatial_ints(n, "dilations", len(kernel), 1)
    extra = spatial_ints(n, "output_padding", len(kernel), 0)
    wanted = _output_shape(n, len(kernel))
    open_ = any(d is None for d in x.type.shape[2:])
    if wanted is not None and open_ and None not in kernel:
        return _transposed_to(n, x, weight, bias, wanted, extra)
    pads, extra = _transposed_padding(n, x, kernel, strides, dilations, extra, wanted)
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


def _output_shape(n: Node, count: int) -> tuple[int, ...] | None:
    """The spatial extents that attribute 'output_shape' asks for."""
    wanted = n.ints("output_shape")
    if wanted is None:
        return None
    if len(wanted) not in (count, count + 2):
        raise n.error(f"output_shape has {len(wanted)} elements, expected {count}")
    return wanted[-count:]  # some exporters give batch and channels too


def _transposed_padding(n: Node, x: Value, kernel, strides, dilations, extra, wanted) -> tuple:
    """Pads and output padding; `output_shape` and `auto_pad` determine the former."""
    mode = n.string("auto_pad", "NOTSET", AUTO_PADS)
    if wanted is None and mode in ("NOTSET", "VALID"):
        padding = padding_of(n, len(kernel))
        return padded(n, x, kernel, strides, dilations, padding).pads, extra
    begins, ends, more = [], [], []
    for i, extent in enumerate(x.type.shape[2:]):
        if kernel[i] is None:
            raise n.error("output_shape and auto_pad need a kernel of known extents")
        # The padding that `auto_pad` means does not depend on the extent.
        extent = 1 if extent is None else extent
        out = wanted[i] if wanted is not None else extent * strides[i]
        full = strides[i] * (extent - 1) + extra[i] + (kernel[i] - 1) * dilations[i] + 1
        total = max(0, full - out)
        small, large = total // 2, total - total // 2
        begins.append(small if mode == "SAME_UPPER" else large)
        ends.append(large if mode == "SAME_UPPER" else small)
        more.append(extra[i] + max(0, out - full))
    return (*begins, *ends), tuple(more)


def _transposed_to(
    n: Node, x: Value, weight: Value, bias: Value | None, wanted: tuple[int, ...], extra
) -> Value:
    """Extents are given of the result, and not known of x: the whole result is cut, or padded."""
    count = len(wanted)
    whole = n(
        nn.ConvTranspose(
            x,
            weight,
            None,
            strides=spatial_ints(n, "strides", count, 1),
            dilations=spatial_ints(n, "dilations", count, 1),
            output_padding=extra,
            groups=n.int("group"),
        )
    )
    extents = part_of_vector(n, shape_of(n, whole), 2, 2 + count)
    more = n(nn.Sub(n.constant(np.array(wanted, np.int64)), extents))
    zero, two = n.constant(0, i64), n.constant(2, i64)
    cut = n(nn.Min(more, zero))
    small = n(nn.Div(cut, two))
    is_upper = n.string("auto_pad", "NOTSET", AUTO_PADS) == "SAME_UPPER"
    begin = small if is_upper else n(nn.Sub(cut, small))
    none = n.constant(np.zeros(2, np.int64))
    pads = n(nn.Concat([none, begin, none, n(nn.Sub(more, begin))], axis=0))
    shape = (*whole.type.shape[:2], *wanted)
    out = TensorType(shape, x.type.element_type)
    found = n(nn.PadDynamic(whole, pads, n.scalar(0, x), out=out))
    if bias is None:
        return found
    column = n(
        nn.Reshape(bias, out=TensorType((*bias.type.shape, *(1,) * count), x.type.element_type))
    )
    return n(nn.Add(found, column))
