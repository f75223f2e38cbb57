"""Resizes, complex tensors, norms and checks, as programs of core operators have them."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F  # noqa: N812 - its usual name

_OPS = torch.ops.aten


def resizes(x: torch.Tensor) -> Any:
    """Scales of one dimension alone, scales that are no binary fractions, and nearest elements."""
    sizes = [x.shape[2] * 3 // 2, x.shape[3] * 2 // 7]
    found = [
        *(_OPS.upsample_bilinear2d(x, sizes, corners, 1.6, None) for corners in (False, True)),
        _OPS.upsample_bicubic2d(x, sizes, False, None, 0.28),
        _OPS._upsample_bilinear2d_aa(x, sizes, False, None, 0.28),
        _OPS.upsample_nearest2d(x, sizes, None, 0.28),
        _OPS._upsample_nearest_exact2d(x, sizes, 1.4, None),
    ]
    for mode in ("nearest", "nearest-exact", "bilinear"):
        found += [F.interpolate(x, scale_factor=by, mode=mode) for by in ((1.5, 0.29), (2.6, 1.15))]
    found += [F.interpolate(x, (5, 241), mode=mode) for mode in ("nearest", "nearest-exact")]
    return found


def resizes_known(x: torch.Tensor) -> Any:
    """`resizes` of known extents, with antialiasing and corners, and to extents that tell."""
    two = x[..., :2]
    return [
        *resizes(x),
        _OPS._upsample_bilinear2d_aa(x, [6, 29], True, None, 0.3),
        *(F.interpolate(two, (3, n)) for n in (82, 94)),
        *(F.interpolate(x[..., :n], (3, n * 6 + 1), mode="nearest-exact") for n in (3, 7, 14)),
    ]


def complex_sums(a: torch.Tensor, b: torch.Tensor) -> Any:
    """Complex numbers and real tensors of other shapes, and transforms back of open lengths."""
    one, other = torch.complex(a, b), torch.complex(b, a)
    found = [a.abs() + 0j, 2j - a, a[:, :1] + one[:1], one[:1] - a[:, :1]]
    found += [torch.lerp(one, other[:1], 0.3), torch.addcmul(one[:1], other, one[:, :1])]
    return [
        *map(torch.view_as_real, found),
        torch.fft.irfft(torch.fft.rfft(a), n=a.shape[-1]),
        torch.fft.irfft2(torch.fft.rfft2(a) * 2, s=a.shape, norm="ortho"),
    ]


def complex_extents(z: torch.Tensor) -> Any:
    """Sizes that are asked of complex tensors: of an input, and of what is computed from it."""
    turned = z.transpose(0, 1)
    flat = turned.reshape(-1)
    rows = torch.fft.fft(turned).reshape(z.shape[1] * 2, -1)
    found = [flat * z.shape[0], rows + rows.numel(), flat[: z.numel() // 2]]
    return [*map(torch.view_as_real, found), torch.arange(flat.shape[0])]


def instances(x: torch.Tensor) -> Any:
    """Instance normalization, which becomes batch normalization of a row of all channels."""
    scale = torch.arange(4.0) + 1
    return F.instance_norm(x), F.instance_norm(x, None, None, scale, scale - 3)


def tokens(x: torch.Tensor) -> Any:
    """Factorizations and an assertion, which `run_decompositions` orders by tokens."""
    torch._assert_async(x.sum() > 0, "the sum is not positive")
    whole = x @ x.mT + torch.eye(3)
    return torch.linalg.inv(x), torch.linalg.solve(whole, x), torch.linalg.cholesky(whole)


class Decomposed(torch.nn.Module):
    """A function whose program is written as core operators."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def decomposed_cases(made: Any) -> dict[str, Any]:
    """Models, inputs, open dimensions and other inputs, by name."""
    both = dict.fromkeys((0, 1), torch.export.Dim.AUTO)
    image = dict.fromkeys((2, 3), torch.export.Dim.AUTO)
    return {
        "resizes": (Decomposed(resizes), [made(1, 1, 4, 60)], ((image,),), [made(1, 1, 3, 100)]),
        "resizes_known": (Decomposed(resizes_known), [made(1, 1, 4, 60)], None, []),
        "complex_sums": (
            Decomposed(complex_sums),
            [made(3, 4), made(3, 4)],
            ((both, both),),
            [made(5, 8), made(5, 8)],
        ),
        "tokens": (Decomposed(tokens), [made(2, 3, 3).abs()], None, []),
        "complex_extents": (
            Decomposed(complex_extents),
            [torch.complex(made(4, 6), made(4, 6))],
            ((both,),),
            [torch.complex(made(6, 10), made(6, 10))],
        ),
        "instances": (
            Decomposed(instances),
            [made(2, 4, 5, 3)],
            (({0: torch.export.Dim.AUTO} | image,),),
            [made(3, 4, 6, 7)],
        ),
    }
