"""RoiAlign, MaxRoiPool and DeformConv: regions of feature maps, mostly read between elements.

A position is a number of elements in each spatial dimension. It reads the two neighbours of
each, so 2**dimensions rows of channels, and weights them.

Source: ONNX RoiAlign-22, MaxRoiPool-22, DeformConv-22.
"""

from __future__ import annotations

import math
from itertools import product as combinations

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import f32, i64
from ...common import regions
from ...common.regions import Tap
from ...common.shapes import shape_text
from ...common.terms import Term, arange, constant, counting, extent
from ..node import Node
from ..registry import converter
from ..windows import spatial_ints
from .convolution import kernel_of


@converter("RoiAlign")
def roi_align(n: Node, x: Value, rois: Value, batch: Value) -> Value:
    return regions.roi_align(
        n,
        x,
        rois,
        batch,
        bins=(n.int("output_height", 1), n.int("output_width", 1)),
        scale=n.float("spatial_scale", 1.0),
        samples=n.int("sampling_ratio"),
        half=n.opset >= 16 and n.string("coordinate_transformation_mode") == "half_pixel",
        largest=n.string("mode", "avg", ("avg", "max")) == "max",
    )


@converter("MaxRoiPool")
def max_roi_pool(n: Node, x: Value, rois: Value) -> Value:
    shape = n.ints("pooled_shape") or ()
    if len(shape) != 2 or min(shape) < 1:
        raise n.error(f"attribute 'pooled_shape' is {list(shape)}, expected two numbers from 1 on")
    scale = n.float("spatial_scale", 1.0)
    return regions.max_roi_pool(n, x, rois, bins=shape, scale=scale)


@converter("DeformConv")
def deform_conv(
    n: Node,
    x: Value,
    weight: Value,
    offset: Value,
    bias: Value | None = None,
    mask: Value | None = None,
) -> Value:
    """A product of the weight with the elements that each place of the kernel reads.

    x [N, C, D..], offset [N, OG * K * d, O..] for d dimensions and the K places of a kernel ->
    columns [N, OG, K, O, C / OG] -> [N, M, O..]
    """
    kernel = kernel_of(n, x, weight)
    if offset.type.rank != x.type.rank:
        raise n.error(f"input 'offset' has shape {shape_text(offset)}, 'X' {shape_text(x)}")
    dims, extents, out = len(kernel), x.type.shape[2:], offset.type.shape[2:]
    if None in (*x.type.shape[1:], *weight.type.shape, *out):
        raise n.error(f"all extents but the batch must be known, but 'X' is {shape_text(x)}")
    groups, parts = n.int("group", 1), n.int("offset_group", 1)
    channels, places, count = x.type.shape[1], math.prod(kernel), math.prod(out)
    if channels % parts or offset.type.shape[1] != parts * places * dims:
        raise n.error(
            f"offsets are {shape_text(offset)}, expected {parts * places * dims} channels for "
            f"{parts} groups of {channels} channels"
        )
    batch = (x, 0)
    moved = Term(n, offset).reshape(batch, parts, places, dims, count)
    sides = []
    for d in range(dims):
        at = _regular(n, x, kernel, out, d) + moved.column(d, axis=3)
        sides.append(_zero_taps(at, extents[d]))
    inner = channels // parts
    image = Term(n, x).reshape(batch, parts, inner, math.prod(extents)).transpose(0, 1, 3, 2)
    rows = image.flattened(3)
    first = counting(n, extent(n, batch)).spread(0, 1) * parts + constant(n, arange(parts))
    base = (first * math.prod(extents)).spread(0, 2)
    total = None
    for taps in combinations(*sides):
        index, part = base, None
        for d, (place, own) in enumerate(taps):
            index = index + place * math.prod(extents[d + 1 :])
            part = own if part is None else part * own
        assert part is not None
        read = rows.gather(index) * part.cast(rows.element).spread(0, 1)
        total = read if total is None else total + read
    assert total is not None
    if mask is not None:
        total = total * Term(n, mask).reshape(batch, parts, places, count, 1)
    columns = total.transpose(0, 1, 4, 2, 3).reshape(
        batch, groups, channels // groups * places, count
    )
    made = weight.type.shape[0]
    matrices = Term(n, weight).reshape(groups, made // groups, channels // groups * places)
    y = (matrices @ columns).reshape(batch, made, *out)
    if bias is not None:
        y = y + Term(n, bias).spread(0, dims)
    return y.value


def _regular(n: Node, x: Value, kernel, out, d: int) -> Term:
    """Where places of the kernel read in dimension d without offsets: [K, O]."""
    strides = spatial_ints(n, "strides", len(kernel), 1)
    dilations = spatial_ints(n, "dilations", len(kernel), 1)
    pads = spatial_ints(n, "pads", 2 * len(kernel), 0)
    places = np.indices(kernel)[d].reshape(-1, 1) * dilations[d]
    windows = np.indices(out)[d].reshape(1, -1) * strides[d]
    return constant(n, places + windows - pads[d]).cast(f32)


def _zero_taps(at: Term, size: int) -> list[Tap]:
    """The two neighbours of positions; those outside of the image weigh nothing."""
    low = at.function(nn.Floor)
    rest = at - low
    first = low.cast(i64)
    taps = []
    for place, weight in ((first, 1.0 - rest), (first + 1, rest)):
        inside = (place >= 0) & (place < size)
        taps.append((place.max(0).min(size - 1), inside.choose(weight, 0.0)))
    return taps
