"""Images in other sizes, and transforms to frequencies."""

from __future__ import annotations

from ...common import tensorflow as tf
from ...common.fourier import each, fitted, fourier
from ...common.vocabulary import *
from ..layer import Complex, TfliteLayer, moved, real
from ..rows import ROWS


def _resize(mode: str) -> Any:
    return lambda n, x, size: tf.resize_image(
        n, x, size, mode, n.options.align_corners, n.options.half_pixel
    )


ROWS.add(
    {
        "RESIZE_BILINEAR": real(_resize("linear")),
        "RESIZE_NEAREST_NEIGHBOR": moved(_resize("nearest")),
    }
)


@ROWS("RFFT2D")
def rfft_2d(n: TfliteLayer, x: Value, lengths: Value) -> list[Complex]:
    """Fourier transforms of the last two dimensions; the last keeps half of its spectrum."""
    height, width = n.known_ints(lengths, "the lengths")
    data, rank = Term(n, x), x.type.rank
    if rank < 2 or min(height, width) < 1:
        raise n.error(f"lengths {height} and {width} for a tensor of rank {rank}")
    lead = [(x, i) for i in range(rank - 2)]
    rows = fitted((data.flattened(rank - 1), None), constant(n, width))
    bins = width // 2 + 1
    found = fourier(rows, constant(n, width), constant(n, bins), False)
    planes = each(found, lambda part: part.reshape(*lead, (x, rank - 2), bins))
    if height == 1 and x.type.shape[rank - 2] == 1:
        return [_complex(n, planes)]
    swap = (*range(rank - 2), rank - 1, rank - 2)
    turned = each(planes, lambda part: part.transpose(*swap).flattened(rank - 1))
    columns = fitted(turned, constant(n, height))
    found = fourier(columns, constant(n, height), constant(n, height), False)
    back = each(found, lambda part: part.reshape(*lead, bins, height).transpose(*swap))
    return [_complex(n, back)]


def _complex(n: TfliteLayer, parts: tuple[Term, Term | None]) -> Complex:
    real, imaginary = parts
    assert imaginary is not None
    return Complex(real.value, imaginary.value)
