"""Col2Im: adds up blocks of elements at the positions that they came from.

The blocks are added to an image with its padding, whose elements are rows over batch and channels,
so that each addition is one of vectors; then the padding is cut off.

Source: ONNX Col2Im-18.
"""

from __future__ import annotations

from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from ..windows import spatial_ints


@converter("Col2Im")
def col2im(n: Node, x: Value, image_shape: Value, block_shape: Value) -> Value:
    """x [N, C * block, L] -> rows [block * L, N * C] added to [image, N * C] -> [N, C, image..]"""
    declared = n.declared_rank(0)
    count = None if declared is None else declared - 2
    image_shape, block_shape = (of_length(n, v, count) for v in (image_shape, block_shape))
    (rank,) = image_shape.type.shape
    if not rank or x.type.rank != 3:
        raise n.error("the number of dimensions must be known, and the input be of rank 3")
    strides = spatial_ints(n, "strides", rank, 1)
    dilations = spatial_ints(n, "dilations", rank, 1)
    pads = spatial_ints(n, "pads", 2 * rank, 0)
    image, block = (Term(n, as_i64(n, v)) for v in (image_shape, block_shape))
    padded = image + constant(n, np.add(pads[:rank], pads[rank:]).astype(np.int64))
    index, numbers = None, constant(n, 1, i64)
    for d in range(rank):
        size = block.column(d)
        windows = (padded.column(d) - (size - 1) * dilations[d] - 1) / strides[d] + 1
        place = (counting(n, size) * dilations[d]).spread(0, 1) + counting(n, windows) * strides[d]
        place = place.reshape(*_at(place, d, rank))
        index = place if index is None else index * padded.column(d) + place
        numbers = numbers * size
    assert index is not None
    elements = padded.product(0)
    values = Term(n, x)
    lead = [extent(n, (x, 0)), extent(n, (x, 1)) / numbers]
    shape = joined([e.reshape(1) for e in (lead[0] * lead[1], numbers, extent(n, (x, 2)))], 0)
    apart = values.shaped(shape).transpose(1, 2, 0)
    updates = apart.flattened(2)
    empty = joined([elements.reshape(1), (lead[0] * lead[1]).reshape(1)], 0)
    zeros = constant(n, 0, values.element).filled(empty)
    total = values.made(
        nn.ScatterNd(zeros.value, index.flattened(2 * rank).value, updates.value, reduction="add")
    )
    whole = joined([*(e.reshape(1) for e in lead), padded], 0)
    out = total.transpose(1, 0).shaped(whole)
    if not any(pads):
        return out.value
    starts = constant(n, np.array(pads[:rank], np.int64))
    axes, steps = (constant(n, np.array(v, np.int64)) for v in (range(2, rank + 2), [1] * rank))
    extents = n.extents(image.value) or ()
    ends, shape = (starts + image).value, (*out.shape[:2], *extents)
    return sliced_by(n, out.value, starts.value, ends, axes.value, steps.value, shape)


def _at(x: Term, d: int, rank: int) -> list:
    """The shape of x [B, L] with B as dimension d, L as dimension rank + d, and 1 elsewhere."""
    own = [1] * (2 * rank)
    extents: list = list(own)
    extents[d], extents[rank + d] = (x.value, 0), (x.value, 1)
    return extents
