"""Programs of what a walk through PyTorch's own samples of its operators found, for `make`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

r = torch.randn
NAN, INF = float("nan"), float("inf")


def places(x, y, mask, number):
    """Elements found, chosen and put somewhere; tensors of one number among them."""
    ends = torch.linspace(x[0, 0], y[0, 0], 7), torch.logspace(x[0, 1], number, 5, 2.0)
    chosen = x[0].masked_select(mask), number.masked_select(mask[0, 0] | True)
    static = torch.nonzero_static(mask, size=9), torch.nonzero_static(mask, size=40, fill_value=7)
    extremes = number.max(0), number.min(0), number.topk(1), number.argmax(0), number.argsort()
    index = torch.zeros((), dtype=torch.int64)
    how = number.scatter_reduce(0, index, number * 2, "sum", include_self=False)
    slopes = torch.gradient(x, spacing=(y[0].cumsum(0).abs() + torch.arange(6),), dim=(1,))
    return *ends, *chosen, *static, extremes, how, slopes


def layers(x, image, table, codes):
    """Norms with their statistics, places of the largest, pads that cut, rows that are shortened."""
    similar = F.cosine_similarity(x[None], x[:, None], dim=-1), F.cosine_similarity(x, x[:1], dim=0)
    norms = torch.native_layer_norm(x, [6], None, None, 1e-5)
    groups = torch.native_group_norm(image, None, None, 2, 4, 30, 2, 1e-5)
    largest = F.adaptive_max_pool2d(image, (3, 4), return_indices=True)
    cut = (
        F.pad(image, (-4, 5, 1, -2), mode="replicate"),
        F.pad(image, (-1, 2, 0, 0), mode="reflect"),
    )
    sizes: dict[str, Any] = {"mode": "bilinear", "antialias": True, "align_corners": True}
    smooth = F.interpolate(image, scale_factor=(0.6, 0.9), **sizes)
    halves = [F.rms_norm((x * 1e-3).to(to), [6]).float() for to in (torch.half, torch.bfloat16)]
    short = F.embedding(codes, table.clone(), max_norm=1.0)
    return *similar, norms, groups, largest, *cut, *halves, smooth, short, x.norm(0, 1)


def integers(i, bins, x):
    """Of integers, and of the bits of floats."""
    pooled = F.avg_pool2d(i[None].float(), 2), F.avg_pool2d(i[None], 2)
    counts = torch.bincount(bins, bins), i.square(), i.angle(), x.angle()
    lengths = torch.tensor([2, 0, 3, 1])
    parts = [
        torch.segment_reduce(x[:6].reshape(6, 1), how, lengths=lengths, unsafe=True)
        for how in ("sum", "mean", "max", "min", "prod")
    ]
    half = torch.nan_to_num((x * INF).bfloat16()).float(), torch.nan_to_num((-x / 0).half())
    whole = i[0], i[1], i[2, 0].sign()
    losses = F.cosine_embedding_loss(*whole), F.poisson_nll_loss(i[0], i[1].abs(), full=True)
    sums = (i > 0).sum_to_size(6, 1), i.int().sum_to_size(i.shape)
    powers = torch.linalg.vander(i[0].int()), torch.vander(i[1])
    lines = (
        torch.logspace(2, 1.2, 5, dtype=torch.int64),
        torch.linspace(-1.9, 7.9, 6, dtype=torch.int32),
        torch.linspace(x[2], x[2] + 5.7, 4, dtype=torch.int64),
    )
    made = *sums, *parts, *powers, *(line + i[0, 0] for line in lines)
    return *pooled, *half, *counts, *losses, *made, torch.nextafter(x, x.flip(0)), x.sgn()


def bessel(x, orders):
    """Bessel's and Airy's functions, the zeta function and derivatives of digamma."""
    s = torch.special
    ordinary = s.bessel_j0(x), s.bessel_j1(x), s.bessel_y0(x), s.bessel_y1(x)
    modified = s.modified_bessel_k0(x), s.scaled_modified_bessel_k1(x)
    return (
        *ordinary,
        *modified,
        s.airy_ai(x),
        s.spherical_bessel_j0(x),
        s.zeta(orders, x.abs() + 0.1),
        s.zeta(orders.floor() - 2, x.round().clamp(max=3)),
        torch.polygamma(3, x - 0.3),
    )


def spectral(square, x):
    """Of halves of matrices that are not symmetric, and of real numbers as half of a spectrum."""
    inverse = torch.linalg.pinv(square, hermitian=True)
    ranks = torch.linalg.matrix_rank(square, atol=torch.tensor([0.5, 3.0])), square.diagonal()
    nothing = torch.linalg.norm(square[0, :0], 2)
    return (
        inverse,
        *ranks,
        nothing,
        torch.linalg.diagonal(square),
        torch.fft.hfft(x),
        torch.fft.hfft2(x),
    )


def complex_functions(z, w):
    """Functions of complex numbers with formulas of their own."""
    turned = z.asin(), z.acos(), z.atan(), z.asinh(), z.acosh(), z.atanh(), z.sinc(), F.silu(z)
    truths = z.any(0), z.count_nonzero(), torch.logical_xor(z, w), z.isreal(), torch.isclose(z, z)
    made = torch.addcmul(z, w, w, value=1 - 2j), torch.addcdiv(z, w, z), torch.lerp(z, w, 0.3)
    product = torch.addmm(w[:3, :3], z, w.T, beta=1j, alpha=2 - 1j), z.cumprod(1), torch.dist(z, w)
    moments = torch.var_mean(z, 0), torch.std_mean(z, 1), torch.float_power(z, 2)
    return *turned, *truths, *made, *product, *moments, torch.cross(z[:, :3], w[:, :3], dim=1)


def complex_parts(z, w, mask):
    """What is done to both parts alike."""
    moved = torch.block_diag(z, w), z.diff(), z.rot90(), z.masked_select(mask), z.tensor_split(2, 1)
    padded = F.pad(z, (1, 2), value=1.5), z.index_fill(0, torch.tensor([1]), 2 - 1j)
    row = torch.stft(z.flatten(), 4, return_complex=True, window=torch.hann_window(4))
    made = torch.eye(2, dtype=torch.complex64), torch.linspace(0, 1, 3, dtype=torch.complex64)
    sums = torch.logaddexp(z * 3, w), torch.stft(w.flatten(), 6), _complex_windows(z, w)
    wide = (
        *sums,
        torch.trapezoid(z, dx=0.5),
        torch.gradient(z, dim=1),
        z.to(torch.complex128) * (1 + 2j),
    )
    return *moved, *padded, row, *made, *wide, torch.fft.fft(z.to(torch.complex128))


def _complex_windows(z, w):
    row, window = w.flatten(), z.flatten()[:5]
    return [torch.stft(x, 5, window=window, return_complex=True) for x in (row, row.real)]


def walked_cases() -> dict[str, tuple[Callable[..., Any], Sequence[torch.Tensor]]]:
    z, w = r(3, 4, dtype=torch.complex64), r(3, 4, dtype=torch.complex64)
    line = torch.cat([torch.linspace(-12, 40, 50), torch.tensor([0.0, 1e-3, 0.7, 24.9, 25.1])])
    whole = torch.randint(-9, 9, (3, 6, 6))
    mask = torch.tensor([[True, False, True, True, False, False], [False, True] * 3]).repeat(2, 1)
    return {
        "places": (places, [r(4, 6), r(4, 6), mask, torch.tensor(2.5)]),
        "layers": (layers, [r(4, 6), r(2, 4, 5, 6), r(5, 3) * 2, torch.tensor([[1, 4], [1, 0]])]),
        "integers": (
            integers,
            [
                whole,
                torch.tensor([1, 0, 2, 2]),
                torch.tensor([0.0, -0.0, 1.5, -2, 3e38, -1e-40, 7]),
            ],
        ),
        "bessel": (bessel, [line, line.flip(0).abs() + 1.1]),
        "spectral": (spectral, [r(2, 3, 3), r(3, 4)]),
        "complex_functions": (complex_functions, [z, w]),
        "complex_parts": (complex_parts, [z, w, z.real > 0]),
    }
