"""Operators that a sweep over PyTorch's own samples found wrong."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812


def swept(x: torch.Tensor, y: torch.Tensor, slope: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Running integrals, slopes that are infinite, and where factors of matrices fail."""
    areas = torch.cumulative_trapezoid(x), torch.cumulative_trapezoid(x, y, dim=0)
    equal = x[:1].expand(3, 3)
    sound = torch.eye(3)
    both = torch.stack([equal, sound, sound - 2 * sound[2:].T @ sound[2:], torch.zeros(3, 3)])
    infos = (
        torch.linalg.lu_factor_ex(both).info,
        torch.linalg.lu_factor_ex(both[..., :2]).info,
        torch.linalg.cholesky_ex(both).info,
        torch.linalg.inv_ex(both).info,
        torch.linalg.solve_ex(both, both).info,
        torch.linalg.lu_factor_ex(both[:0]).info,
    )
    return *areas, F.prelu(y, slope), *infos
