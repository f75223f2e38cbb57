"""Programs on NaN, infinities, zeros of both signs and mixed types, for `make`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

NAN, INF = float("nan"), float("inf")


def extreme_elements(x, y):
    """Where NaN stays, is passed over, or becomes of infinities."""
    kept = F.hardshrink(x), F.threshold(x, 0.1, 20.0), torch.fmax(x, y), torch.fmin(x, y)
    divided = x // y, torch.div(x, 0.0, rounding_mode="floor"), x.copysign(y), x.signbit()
    lines = [torch.lerp(x, y, weight) for weight in (0.3, 0.5, 1.0, INF)]
    lengths = torch.hypot(x, y), torch.hypot(x * 1e30, y * 1e30)
    cast = torch.addcdiv(x, x, y, value=0.5), torch.view_as_real(x.to(torch.complex64))
    return *kept, *divided, *lines, *lengths, *cast


def extreme_rows(x, short):
    """Order statistics, sums and windows of rows with NaN and infinities."""
    order = x.median(1), x.nanmedian(1)[0], x.flatten().median(), x.mode(1)[0], x.unique()
    shares = [torch.quantile(x, q, 1) for q in (0.0, 0.3, 1.0)]
    shares += [torch.nanquantile(x, q, 1, interpolation="midpoint") for q in (0.0, 0.5, 1.0)]
    spread = [torch.var(short, 1, correction=c) for c in (2, 3, 4)]
    means = torch.var_mean(x, 1), torch.trapezoid(x, dim=1), torch.searchsorted(short[0], x)
    bags = [
        F.embedding_bag(torch.arange(6), x, torch.tensor([0, 2]), mode=m) for m in ("sum", "mean")
    ]
    return *order, *shares, *spread, *means, *bags


def extreme_windows(line, image, grid):
    """Poolings and places in images of NaN."""
    lines = F.max_pool1d(line, 2), F.max_pool1d(line, 3, 2, 1, return_indices=True)
    planes = F.max_pool2d(image, 2), F.max_pool2d(image, 3, 2, 1, 1, True, return_indices=True)
    shares = F.adaptive_avg_pool2d(image, 3), F.adaptive_max_pool2d(image, 3, return_indices=True)
    solid = F.max_pool3d(image, 2), F.adaptive_max_pool1d(line, 4)
    where = [
        F.grid_sample(
            image.nan_to_num(0, 1, -1)[:, :, :4], grid, mode, padding, align_corners=False
        )
        for mode in ("bilinear", "nearest")
        for padding in ("zeros", "border", "reflection")
    ]
    return *lines, *planes, *shares, *solid, *where


def extreme_functions(x):
    """Special functions at infinities, poles and next to zero."""
    s = torch.special
    bessel = s.modified_bessel_k0(x), s.scaled_modified_bessel_k1(x), s.spherical_bessel_j0(x)
    return torch.lgamma(x), torch.digamma(x), *bessel


def extreme_attention(q, mask, scores):
    """Rows that see nothing are zero."""
    sdpa = F.scaled_dot_product_attention
    found = (
        sdpa(q, q, q, mask),
        sdpa(q, q, q, scores),
        sdpa(q, q[:, :, :3], q[:, :, :3], is_causal=True),
    )
    scale, zero = torch.tensor([0.1, 0.2]), torch.tensor([0, 3], dtype=torch.int32)
    ends = scores[:2].clone()
    ends[0, 0], ends[0, 1], ends[1, 0] = NAN, INF, 1e30
    channels = torch.fake_quantize_per_channel_affine(ends, scale, zero, 0, -128, 127)
    return *found, channels, torch.fake_quantize_per_tensor_affine(ends, 0.1, 2, 0, 255)


def extreme_types(small, bytes_, flag, wide):
    """Tensors and numbers without dimensions of other types."""
    huge, code = torch.tensor(2**33 + 3), torch.tensor(300)
    integers = small / code, small == code, small // huge, bytes_ - 300, bytes_ * -1, bytes_ + 2**33
    mixed = torch.ldexp(small, wide), torch.xlogy(small, code), torch.logical_and(small, code - 44)
    half = torch.tensor(2.5, dtype=torch.half)
    angles = torch.atan2(small, half), torch.hypot(small, half), torch.copysign(half, wide)
    powers = bytes_ ** bytes_.flip(0), flag**3, bytes_ ** torch.tensor(200)
    areas = torch.trapezoid(bytes_), torch.trapezoid(bytes_, small), small.nansum((), True)
    parts = (
        torch.isin(small, 3),
        torch.isin(44, small),
        wide.view(torch.int16),
        wide[:4].view(torch.int64),
    )
    parts += (
        F.pixel_shuffle(wide[:4].view(4, 1, 1), 2),
        F.pixel_unshuffle(wide[:4].view(1, 1, 1, 2, 2), 2),
    )
    truths = (
        *parts,
        bytes_[0].all(),
        bytes_.all(0),
        bytes_[0].any(),
        (bytes_ * 0).any(),
        bytes_.any(dim=()),
    )
    return *integers, *mixed, *angles, *powers, *areas, *truths


def extreme_quotients(small, wide, divisors):
    """Quotients and remainders of integers next to the least and the largest."""
    found = []
    for x, y in ((small, divisors.to(torch.int8)), (wide, divisors)):
        for d in (7, -3, y):  # least // -1 ends PyTorch
            found += [x // d, x % d, x.fmod(d), torch.div(x, d, rounding_mode="trunc")]
    return found


def extreme_complexes(great, small, odd):
    """Complex numbers whose squares are too large or too small, or that are none."""
    found = []
    for parts in (great, small, odd):
        x = torch.view_as_complex(parts)
        numbers = x / x.flip(0), x.reciprocal(), x.sqrt(), x.log()
        found += [x.abs(), *map(torch.view_as_real, numbers)]
    # Of infinities PyTorch gives another sign in each lane.
    signs = (torch.view_as_complex(parts).sgn() for parts in (great, small))
    return [*found, *map(torch.view_as_real, signs)]


def extreme_cases() -> dict[str, tuple[Callable[..., Any], Sequence[torch.Tensor]]]:
    values = torch.tensor([NAN, INF, -INF, 0.0, -0.0, 1.0, -2.5, 3.0, 0.5, -1.0])
    rows = [
        [1, NAN, 3, 2, 5, -1],
        [NAN] * 6,
        [INF, 1, 2, 3, -1, 0],
        [-INF, 1, 2, 3, -1, 0],
        [INF, -INF, 1, 2, 0, 3],
        [INF, NAN, -INF, 1, 2, 3],
        [0.0, -0.0] * 3,
        [5, 4, 3, 2, 1, 0.5],
    ]
    line, image = torch.randn(2, 3, 8), torch.randn(2, 3, 7, 8)
    for x in (line, image):
        flat = x.view(-1)
        flat[::13], flat[5::29], flat[7::31] = NAN, INF, -INF
    grid = torch.rand(2, 5, 6, 2) * 2.6 - 1.3
    grid[0, 0, 0, 0], grid[1, 2, 3], grid[0, 1, 1, 1], grid[0, 1, 2, 0] = NAN, NAN, INF, -INF
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    mask[1] = False
    scores = torch.randn(5, 5).masked_fill(~mask, -INF)
    small = torch.tensor([44, -3, 3, 100, 5], dtype=torch.int8)
    bytes_ = torch.tensor([3, 200, 7, 0, 251], dtype=torch.uint8)
    flag = torch.tensor([True, False, True])
    points = torch.tensor([NAN, INF, -INF, 0, -1, -2, -1e-30, 1e-30, 0.5, -2.5, 1e30, 30])
    bytes_and_words = [
        torch.tensor([e.min, e.min + 1, -100, -1, 0, 5, e.max], dtype=dtype)
        for dtype in (torch.int8, torch.int64)
        for e in (torch.iinfo(dtype),)
    ]
    great = [[1e20, 2e20], [-3e25, 1e25], [2e30, 0.0], [1e30, -1e30]]
    small = [[1e-25, 2e-25], [-3e-24, 1e-24], [0.0, 2e-25], [1e-25, -1e-24]]
    odd = [[INF, 1.0], [0.0, 0.0], [3.0, -4.0], [-1.0, INF], [NAN, 1.0], [INF, INF]]
    return {
        "extreme_elements": (extreme_elements, [values.repeat(10), values.repeat_interleave(10)]),
        "extreme_rows": (
            extreme_rows,
            [torch.tensor(rows), torch.tensor([[1.0, 2, 4], [3, 3, 3]])],
        ),
        "extreme_windows": (extreme_windows, [line, image, grid]),
        "extreme_functions": (extreme_functions, [points]),
        "extreme_attention": (extreme_attention, [torch.randn(2, 4, 5, 8), mask, scores]),
        "extreme_quotients": (
            extreme_quotients,
            [*bytes_and_words, torch.tensor([3, 100, -7, -1, 5, -2, -9])],
        ),
        "extreme_complexes": (
            extreme_complexes,
            [torch.tensor(parts) for parts in (great, small, odd)],
        ),
        "extreme_types": (extreme_types, [small, bytes_, flag, torch.tensor([1.0, -2, 3, 0, 5])]),
    }
