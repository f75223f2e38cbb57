"""A program of open extents whose operators have parts, places or shares that these tell."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional


def opened(x: torch.Tensor) -> Any:
    """Chunks, running extremes, medians, diagonals, shares and bits of a matrix of any size."""
    written = x.clone()
    written.diagonal().mul_(2)
    last = written.chunk(2, 1)[1]
    last.add_(1)
    return (
        *(*x.chunk(2, 1), *x.tensor_split(3), *x.tensor_split([1, -1], 1)),
        *(*x.cummax(0), *x.cummin(1), x.logcumsumexp(1)),
        *(x.median(), *x.median(1), *x.median(0, keepdim=True)),
        *(x.diagonal(1), x.diagonal(-2), torch.diag_embed(x, -1), written),
        x.clone().fill_diagonal_(3),
        torch.block_diag(x, x[:2]),
        *(
            functional.layer_norm(x, x.shape[-1:]),
            functional.rms_norm(x, x.shape[-1:]),
            functional.layer_norm(x, x.shape),
        ),
        *functional.adaptive_max_pool2d(x[None], (3, 2), return_indices=True),
        functional.pixel_shuffle(x.expand(4, -1, -1), 2),
        *(x.view(torch.int16), x.view(torch.float64), x.view(torch.uint8)),
        *(x[:, :1].squeeze(), torch.einsum("ij->i", x.to(torch.int32))),
        *(torch.fft.fftshift(x), torch.fft.ifftshift(x, 0), torch.fft.rfft(x, norm="ortho").abs()),
        torch.fft.irfft2(torch.complex(x, x * 2), norm="forward"),
        functional.channel_shuffle(x[None], 1),
        functional.fold(
            functional.unfold(x[None], (3, 2), 1, 1, (2, 1)), x.shape, (3, 2), 1, 1, (2, 1)
        ),
        functional.interpolate(x[None], scale_factor=1.5, mode="linear"),
        functional.max_unpool1d(*functional.max_pool1d(x, 3, return_indices=True), 3),
    )


def chosen(x: torch.Tensor, number: torch.Tensor) -> Any:
    """Numbers of a program that are chosen by others, of which some are known only at run time."""
    n = number.item()
    torch._check(n >= 0)
    torch._check(n <= 50)
    factor = torch.sym_ite(n > 3, n + 1, x.shape[0] * 2)
    either = torch.sym_ite(torch.sym_not(n > 3), 2.5, 0.5)
    return (
        *(x * factor, x * either, x * torch.sym_max(n, x.shape[0]), x - torch.sym_min(n, 3)),
        *(torch.arange(2, n * 2 + 3, 2), torch.full((n, 2), n // 3), x.repeat(1, 2) + -n % 5),
        *(torch.arange(n + 1, -n - 2, -1), torch.arange(x.shape[0] + 2, 0, -3)),
        *(torch.arange(0, n * 0.5 + 1, 0.5), torch.arange(0.25, n + 2), torch.arange(n, -1, -2.5)),
    )
