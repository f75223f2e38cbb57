"""Operators that a sweep over PyTorch's own samples found wrong."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812

NAN = float("nan")


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


def more_swept(
    x: torch.Tensor, degrees: torch.Tensor, bytes_: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """Arguments at values that are seldom given, and operands of types and extents that are seldom."""
    special = torch.special
    polynomials = (
        special.chebyshev_polynomial_t(x, degrees),
        special.shifted_chebyshev_polynomial_w(x, degrees.float() + 0.5),
        special.hermite_polynomial_h(x, degrees),
        special.laguerre_polynomial_l(x, degrees),
        special.legendre_polynomial_p(x.double(), degrees),
    )
    classes, nothing = torch.tensor([1, 0, 1]), x[:0]
    odd = torch.where(x > 0, x, NAN)
    return (
        *polynomials,
        torch.logit(x.sigmoid(), 0.6),
        F.softplus(x, threshold=0.5),
        F.softplus(x.double() * 30),
        nothing[:, None].repeat(1, 4, 1).unflatten(1, (2, -1)),
        F.nll_loss(odd.T, classes, ignore_index=1, reduction="none"),
        F.cosine_embedding_loss(x, x + 1, bytes_, reduction="none"),
        F.pairwise_distance(bytes_[:, None].char(), degrees[:, None].char()),
        F.multi_margin_loss(x[0, 0], classes[1]),
        F.multilabel_margin_loss(x[0, 0], classes[1]),
        torch.linalg.solve_triangular(x[:1].expand(3, 3), x[:, :1], upper=False),
        torch.linalg.det(nothing[:, :0]),
        torch.linalg.slogdet(nothing[:, :0]).logabsdet,
    )
