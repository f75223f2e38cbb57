"""Image windows as columns (im2col), and columns summed where their windows lie (col2im)."""

from __future__ import annotations

from .convolution import transposed_convolution
from .movement import padded_by
from .words import *


def unfolded(
    n: Layer,
    x: Value,
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
) -> Value:
    """The windows of images as columns: [B, C, H, W] -> [B, C * KH * KW, windows].

    `pads` are begin H, begin W, end H, end W.
    """
    x = padded_by(n, x, [0, 0, *pads[:2], 0, 0, *pads[2:]])
    for i in range(2):
        steps, span = np.arange(kernel[i])[:, None] * dilations[i], (kernel[i] - 1) * dilations[i]
        known = x.type.shape[2 + 2 * i]
        if known is None:
            count = (extent(n, (x, 2 + 2 * i)) - (span + 1)) / strides[i] + 1
            places = counting(n, count) * strides[i] + constant(n, steps)
        else:
            places = constant(n, np.arange(0, known - span, strides[i]) + steps)
        x = n(nn.Gather(x, places.value, axis=2 + 2 * i))
    x = n(nn.Transpose(x, permutation=(0, 1, 2, 4, 3, 5)))
    return merge(n, x, ((0, 1), (1, 4), (4, 6)))


def folded(
    n: Layer,
    x: Value,
    extents: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
) -> Value:
    """Columns summed at the positions of their windows: [B, C * KH * KW, windows] -> [B, C,
    *extents].

    It is a transposed convolution whose weight has a 1 for each position of the kernel.
    """
    count, channels = math.prod(kernel), x.type.shape[1]
    spans = [
        e + pads[i] + pads[2 + i] - (kernel[i] - 1) * dilations[i] - 1
        for i, e in enumerate(extents)
    ]
    windows = [span // step + 1 for span, step in zip(spans, strides, strict=True)]
    if channels is None or channels % count or min(windows) < 1:
        raise n.error(f"{channels} channels and {windows} windows of kernel {list(kernel)}")
    batch, element = x.type.shape[0], x.type.element_type
    lead = None if batch is None else batch * channels // count
    images = n(nn.Reshape(x, out=TensorType((lead, count, *windows), element)))
    weight = n.constant(np.eye(count).reshape(count, 1, *kernel), element)
    more = [span % step for span, step in zip(spans, strides, strict=True)]
    out = transposed_convolution(
        n,
        images,
        weight,
        strides=strides,
        dilations=dilations,
        padding=pads,
        output_padding=more,
    )
    return reshape(n, out, [(x, 0), channels // count, *extents])


def folded_to(
    n: Layer,
    x: Value,
    extents: Value,
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
) -> Value:
    """As `folded`, for extents that are known at run time, a 1-D i64."""
    count = math.prod(kernel)
    if (x.type.shape[1] or 0) % count:
        raise n.error(f"{x.type.shape[1]} channels of a kernel {list(kernel)}")
    around = [pads[i] + pads[2 + i] - (k - 1) * dilations[i] - 1 for i, k in enumerate(kernel)]
    windows = (Term(n, extents) + constant(n, around)) / constant(n, [*strides]) + 1
    batch, made = extent(n, (x, 0)), extent(n, (x, 1)) / count
    lead = [(batch * made).reshape(1), constant(n, [count])]
    images = Term(n, x).shaped(joined([*lead, windows], 0))
    out = transposed_convolution(
        n,
        images.value,
        n.constant(np.eye(count).reshape(count, 1, *kernel), x.type.element_type),
        strides=strides,
        dilations=dilations,
        padding=pads,
        extents=extents,
        keeps_begin=True,
    )
    whole = [batch.reshape(1), made.reshape(1), Term(n, extents)]
    return Term(n, out).shaped(joined(whole, 0)).value
