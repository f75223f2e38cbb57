"""Operators of com.microsoft on images.

Source: onnxruntime's ContribOperators.md.
"""

from __future__ import annotations

from ...common.crops import cropped
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from ..windows import padding_of, spatial_ints
from .convolution import kernel_of
from .microsoft import DOMAIN


@converter("CropAndResize", domain=DOMAIN)
def crop_and_resize(n: Node, x: Value, boxes: Value, batch: Value, size: Value) -> Value:
    """Crops of images [N, C, H, W] to boxes, resized."""
    mode = n.string("mode", "bilinear", ("bilinear", "nearest"))
    image, fill = channels_last(n, x), n.float("extrapolation_value")
    return channels_first(n, cropped(n, image, boxes, batch, size, mode, fill))


@converter("ConvTransposeWithDynamicPads", domain=DOMAIN)
def transposed_convolution_with_pads(
    n: Node, x: Value, weight: Value, pads: Value | None = None, bias: Value | None = None
) -> Value:
    """A transposed convolution whose result is cropped by pads [2 * dims], all begins first."""
    count = len(kernel_of(n, x, weight))
    given: dict[str, Any] = {
        name: spatial_ints(n, name, count, 1) for name in ("strides", "dilations")
    }
    extra, groups = spatial_ints(n, "output_padding", count, 0), n.int("group", 1)
    whole = transposed_convolution(
        n,
        x,
        weight,
        bias,
        padding=padding_of(n, count),
        output_padding=extra,
        groups=groups,
        **given,
    )
    if pads is None:
        return whole
    none = n.constant(np.zeros(2, np.int64))
    begins, ends = (part_of_vector(n, as_i64(n, pads), i * count, (i + 1) * count) for i in (0, 1))
    less = n(nn.Neg(n(nn.Concat([none, begins, none, ends], axis=0))))
    return pad_by_vector(n, whole, less, n.scalar(0, whole))
