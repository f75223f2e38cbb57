"""Images in other sizes, and transforms to frequencies."""

from __future__ import annotations

from ....dialects import nn
from ....ir.core import Value
from ...common.fourier import each, fitted, fourier
from ...common.resize import resized
from ...common.shapes import as_i64, shape_text
from ...common.terms import Term, constant
from ..layer import Complex, TfliteLayer, moved, real
from ..rows import ROWS


def _transform(n: TfliteLayer) -> str:
    if n.options.align_corners:
        return "align_corners"
    return "half_pixel" if n.options.half_pixel else "asymmetric"


@ROWS("RESIZE_BILINEAR")
@real
def resize_bilinear(n: TfliteLayer, x: Value, size: Value) -> Value:
    how = {"mode": "linear", "coordinate_transform": _transform(n)}
    return _resized(n, x, size, how)


@ROWS("RESIZE_NEAREST_NEIGHBOR")
@moved
def resize_nearest(n: TfliteLayer, x: Value, size: Value) -> Value:
    """Half pixel centers are floor((i + 0.5) / scale): half_pixel's position rounded up."""
    transform = _transform(n)
    nearest = "floor" if transform == "asymmetric" else "round_prefer_ceil"
    how = {"mode": "nearest", "coordinate_transform": transform, "nearest_mode": nearest}
    return _resized(n, x, size, how)


def _resized(n: TfliteLayer, x: Value, size: Value, how: dict[str, str]) -> Value:
    if x.type.rank != 4:
        raise n.error(f"the input has shape {shape_text(x)}, expected rank 4")
    data = n(nn.Transpose(x, permutation=(0, 3, 1, 2)))
    out = resized(n, data, as_i64(n, size), (2, 3), how)
    return n(nn.Transpose(out, permutation=(0, 2, 3, 1)))


@ROWS("RFFT2D")
def rfft_2d(n: TfliteLayer, x: Value, lengths: Value) -> list[Complex]:
    """Transforms of the last two dimensions, of which the last one keeps the first half."""
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
