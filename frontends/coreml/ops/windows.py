"""Convolutions and poolings."""

from __future__ import annotations

from ....dialects import nn
from ....ir.core import Value
from ...common.shapes import shape_text
from ...common.windows import Padding, padded
from ..layer import CoreMLLayer
from ..rows import ROWS

_PADDINGS = {"valid": "VALID", "same": "SAME_UPPER", "same_lower": "SAME_LOWER"}


def _per_dimension(n: CoreMLLayer, name: str, count: int, default: int) -> tuple[int, ...]:
    found = n.ints(name, (default,) * count)
    if len(found) != count:
        raise n.error(f"'{name}' has {len(found)} numbers, expected {count}")
    return found


def _padding(n: CoreMLLayer, count: int) -> Padding:
    mode = n.text("pad_type", "valid", "custom", *_PADDINGS)
    if mode != "custom":
        return _PADDINGS[mode]
    pairs = _per_dimension(n, "pad", 2 * count, 0)
    return (*pairs[::2], *pairs[1::2])


def _spatial(n: CoreMLLayer, x: Value) -> int:
    if x.type.rank < 3:
        raise n.error(f"input 'x' is {shape_text(x)}, expected at least three dimensions")
    return x.type.rank - 2


@ROWS("conv")
def conv(n: CoreMLLayer, x: Value, weight: Value, bias: Value | None = None) -> Value:
    count = _spatial(n, x)
    strides = _per_dimension(n, "strides", count, 1)
    dilations = _per_dimension(n, "dilations", count, 1)
    operand = padded(n, x, weight.type.shape[2:], strides, dilations, _padding(n, count))
    return n(
        nn.Conv(
            operand.x,
            weight,
            bias,
            strides=strides,
            dilations=dilations,
            pads=operand.pads,
            groups=n.int("groups", 1),
        )
    )


@ROWS("conv_transpose")
def conv_transpose(n: CoreMLLayer, x: Value, weight: Value, bias: Value | None = None) -> Value:
    count = _spatial(n, x)
    strides = _per_dimension(n, "strides", count, 1)
    dilations = _per_dimension(n, "dilations", count, 1)
    padding, kernel = _padding(n, count), weight.type.shape[2:]
    wanted = n.ints("output_shape")[-count:] if n.has("output_shape") else None
    pads, extra = [0] * 2 * count, [0] * count
    if not isinstance(padding, str):
        pads = list(padding)
    for i, extent in enumerate(x.type.shape[2:]):
        # What same padding means does not depend on the extent.
        extent = 1 if extent is None and wanted is None else extent
        full = (
            None if extent is None else (extent - 1) * strides[i] + (kernel[i] - 1) * dilations[i]
        )
        if full is None:
            raise n.error("'output_shape' needs an input of known extents")
        full += 1
        if padding in ("SAME_UPPER", "SAME_LOWER"):
            total = max(0, full - (wanted[i] if wanted else extent * strides[i]))
            small, large = total // 2, total - total // 2
            first = padding == "SAME_UPPER"
            pads[i], pads[count + i] = (small, large) if first else (large, small)
        if wanted:
            extra[i] = wanted[i] - (full - pads[i] - pads[count + i])
        elif padding in ("SAME_UPPER", "SAME_LOWER"):
            extra[i] = max(0, extent * strides[i] - full)
        if extra[i] < 0:
            pads[count + i] -= extra[i]
            extra[i] = 0
    return n(
        nn.ConvTranspose(
            x,
            weight,
            bias,
            strides=strides,
            dilations=dilations,
            pads=tuple(pads),
            output_padding=tuple(extra),
            groups=n.int("groups", 1),
        )
    )


@ROWS("avg_pool", "max_pool", "l2_pool")
def pool(n: CoreMLLayer, x: Value) -> Value:
    count = _spatial(n, x)
    kernel = _per_dimension(n, "kernel_sizes", count, 1)
    strides = _per_dimension(n, "strides", count, 1)
    fill = float("-inf") if n.kind == "max_pool" else 0
    operand = padded(n, x, kernel, strides, (1,) * count, _padding(n, count), fill)
    window = {
        "kernel": kernel,
        "strides": strides,
        "pads": operand.pads,
        "ceil_mode": n.flag("ceil_mode"),
    }
    if n.kind == "max_pool":
        return n(nn.MaxPool(operand.x, **window))
    if n.kind == "l2_pool":
        return n(nn.LpPool(operand.x, p=2, **window))
    inner = not n.flag("exclude_padding_from_average")
    if not inner and operand.by is not None:
        raise n.error("same padding that averages exclude needs an input of known extents")
    return n(nn.AvgPool(operand.x, count_include_pad=inner, **window))
