"""Fractional max pooling (Graham, 2014), whose windows begin at rounded multiples of a fraction.

Source: PaddlePaddle, paddle/phi/kernels/funcs/pooling.h and pooling.cc
"""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import PaddleLayer, rows


def _windows(extent: int, count: int, size: int, random: float) -> np.ndarray:
    """The places of each window's elements, [count, most]; short windows repeat their last one.

    Windows have `size` elements, or reach to the next one's begin if it is 0. All is computed in
    f32, as there.
    """
    alpha = np.float32(extent - size) / np.float32(count - (size > 0))
    u = np.float32(random)
    if not size:
        base = extent // count
        most = min(
            np.float32(base + 2) / alpha - 1,
            np.float32(extent + 1 - base) / alpha - np.float32(count - 1),
        )
        u = np.float32(u * most)
    numbers = np.arange(count + 1, dtype=np.float32)
    begins = ((numbers + u) * alpha).astype(np.int64) - int(u * alpha)
    ends = np.minimum(begins[:-1] + size if size else begins[1:], extent)
    begins = np.maximum(begins[:-1], 0)
    inside = np.arange(max((ends - begins).max(initial=1), 1))
    return np.minimum(begins[:, None] + inside, ends[:, None] - 1)


@rows("fractional_max_pool2d", "fractional_max_pool3d")
def fractional_pool(n: PaddleLayer, x: Value) -> list[Value]:
    """The largest elements, and their places in the flat image."""
    dims, random = x.type.rank - 2, n.float("random_u")
    if random == 0:
        raise n.error("windows that are drawn at random in each run have no one result")
    extents = [n.extent(x, 2 + i) for i in range(dims)]
    counts, sizes = n.ints("output_size"), n.ints("kernel_size", (0,) * dims)
    if len(counts) != dims or len(sizes) != dims or min(counts) < 1:
        raise n.error(f"{list(counts)} windows of {list(sizes)} elements in {dims} dimensions")
    given = zip(extents, counts, sizes, strict=True)
    places = [_windows(*one, random) for one in given]
    t = Term(n, x)
    for i, one in enumerate(places):  # each dimension becomes windows and places in them
        t = t.gather(constant(n, one), 2 + 2 * i)
    order = [0, 1, *range(2, t.rank, 2), *range(3, t.rank, 2)]
    found = t.transpose(*order).flattened(2 + dims)
    found = found.reshape((x, 0), (x, 1), *counts, math.prod(one.shape[1] for one in places))
    best = Term(n, extreme_at(n, found.value, nn.Argmax, found.rank - 1, False))
    flat: Any = 0
    for i, (one, extent) in enumerate(zip(places, extents, strict=True)):
        shape = [1] * 2 * dims
        shape[i], shape[dims + i] = one.shape
        flat = flat * extent + one.reshape(shape)
    best = best.flattened(2)
    table, first = flat.reshape(-1), np.arange(math.prod(counts)) * (flat.size // math.prod(counts))
    mask = constant(n, table).gather(best + constant(n, first), 0).cast(i32)
    mask = mask.reshape((x, 0), (x, 1), *counts)
    return [found.largest(found.rank - 1).value, mask.value]
