"""Programs of single operators, for `make`: functions with their inputs by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch.utils._pytree import tree_leaves

r = torch.randn
NAN, INF = float("nan"), float("inf")


def errors(x, y, u):
    """The error function's family, far from and near to where it changes."""
    s = torch.special
    found = s.erfcx(x), s.ndtr(x), s.log_ndtr(x), s.erfinv(u), s.ndtri((u + 1) / 2)
    return *found, s.sinc(x), s.entr(x), s.xlogy(x, y), s.xlog1py(y, u)


def gamma(x, positive):
    """The gamma function's and Bessel's families."""
    s = torch.special
    bessel = s.i0e(x), s.i0(x / 2), s.i1e(x), s.i1(x / 2)
    return *bessel, s.gammaln(x), s.digamma(x), s.polygamma(2, positive), positive.mvlgamma(1)


def losses(x, y, classes, weight):
    found = []
    for how in ("none", "mean", "sum"):
        found += [F.mse_loss(x, y, reduction=how), F.smooth_l1_loss(x, y, reduction=how, beta=0.7)]
        found += [F.huber_loss(x, y, reduction=how, delta=0.6), F.l1_loss(x, y, reduction=how)]
        found += [F.kl_div(x, y.softmax(1), reduction=how)]
        found += [F.cross_entropy(x, classes, weight, reduction=how)]
        found += [F.cross_entropy(x, y.softmax(1), weight, reduction=how, label_smoothing=0.1)]
        found += [F.binary_cross_entropy(x.sigmoid(), y.sigmoid(), reduction=how)]
    logits = F.binary_cross_entropy_with_logits(x, y.sigmoid(), pos_weight=weight)
    return *found, logits, F.pairwise_distance(x, y), F.pdist(x), torch.dist(x, y, 3)


def margins(x, y, classes, weight, many, counts):
    """Losses of what is nearer than a margin, and rows as often as a tensor says."""
    found, sign = [], torch.sign(y)
    for how in ("none", "mean", "sum"):
        found += [F.hinge_embedding_loss(x, sign, 0.3, reduction=how)]
        found += [F.margin_ranking_loss(x, y, sign, 0.1, reduction=how)]
        found += [F.cosine_embedding_loss(x, y, sign[:, 0], 0.1, reduction=how)]
        found += [F.triplet_margin_loss(x, y, x * 0.3, swap=how == "sum", reduction=how)]
        found += [F.poisson_nll_loss(x, y.exp(), how != "sum", full=True, reduction=how)]
        found += [F.multi_margin_loss(x, classes.relu(), 2, 0.7, weight, reduction=how)]
        found += [F.multilabel_margin_loss(x, many, reduction=how)]
        found += [F.cross_entropy(x, classes, weight, reduction=how, label_smoothing=0.1)]
    return *found, counts.repeat_interleave(counts), x.repeat_interleave(counts, 0)


def statistics(x, missing, i, q):
    """Running extremes, order statistics, counts."""
    running = torch.cummax(missing, 1), torch.cummin(i, 0), torch.logcumsumexp(x, 0)
    order = x.kthvalue(2), x.quantile(q, 1), missing.nanquantile(0.3, 0), missing.nanmedian(1)
    counts = i.mode()[0], torch.histc(x, 5, -1, 1), x.aminmax(dim=1), i.count_nonzero(dim=0)
    return *running, *order, *counts, missing.nanmean(1), torch.trapezoid(x, dim=1)


def different(i, rows):
    """Different values, and how often they are there."""
    every: dict[str, Any] = {"return_inverse": True, "return_counts": True}
    whole = torch.unique(i, **every), torch.unique_consecutive(i.flatten(), **every)
    return *whole, torch.unique(rows, dim=0, **every), torch.bincount(i.flatten(), minlength=3)


def kinds(x, y, i):
    """Signs, closeness, truth values in place, divisors."""
    signs = x.signbit(), x.sign(), torch.heaviside(x, y), x.isclose(y), x.isclose(y, 0.5, 0.5, True)
    flags = x > 0
    flags &= y > 0
    flags |= x > 1
    shifted = i.clone()
    shifted <<= 2
    pairs = torch.gcd(i, i.flip(0)), torch.lcm(i, i.flip(0)), torch.logaddexp2(x, y)
    return *signs, flags, shifted, *pairs, torch.ldexp(x, i[: x.shape[0]]), torch.arcsinh(x)


def reductions(x, source, places):
    """What is scattered with every reduction, with and without what was there."""
    found = []
    for how in ("sum", "prod", "mean", "amax", "amin"):
        for own in (True, False):
            found.append(x.scatter_reduce(0, places, source, how, include_self=own))
            if how != "sum":
                found.append(x.index_reduce(0, places[:, 0], source, how, include_self=own))
    return *found, x.put(places[:, 0], source[:, 0], True)


def matrices(a, b, s):
    """Factors and solutions: s is symmetric and positive."""
    g = torch.linalg
    lower = g.cholesky(s)
    solved = g.solve(a, b), g.solve(a, b.mT, left=False), g.inv(a), torch.cholesky_solve(b, lower)
    triangle = g.solve_triangular(a, b, upper=True), torch.cholesky_inverse(lower)
    factors = *g.lu(b), *g.lu_factor(a), *g.qr(b), g.qr(b, mode="complete")[1]
    norms = [g.matrix_norm(a, order) for order in ("fro", 1, -INF)]
    return lower, *solved, *triangle, *factors, *g.slogdet(a), g.det(a), *norms


def values(b, s):
    """Singular values, eigenvalues, and what is made of them."""
    g = torch.linalg
    u, sizes, vh = g.svd(b, full_matrices=False)
    numbers, vectors = g.eigh(s)
    parts = (
        sizes,
        (u * sizes[:, None]) @ vh,
        numbers,
        vectors @ torch.diag_embed(numbers) @ vectors.mT,
    )
    return *parts, g.pinv(b), g.matrix_rank(b), g.matrix_norm(b, "nuc"), g.matrix_exp(s), g.cond(b)


def eigenvalues(a, c):
    """Of matrices that are not symmetric, as what has an order and a scale; c is complex."""
    g, found = torch.linalg, [torch.linalg.eigvals(a).abs().sort().values]
    for x in (a, c):
        values, vectors = g.eig(x)
        found += [(vectors * values[..., None, :]) @ g.inv(vectors), values.abs().sort().values]
        found += [vectors.abs().square().sum(-2)]
    return found


def factored(a, b, wide):
    """Solutions by factors that are there, and factors of full size."""
    g = torch.linalg
    both, pivots = g.lu_factor(a)
    solved = [g.lu_solve(both, pivots, b), g.lu_solve(both, pivots, b, adjoint=True)]
    solved += [g.lu_solve(both, pivots, b.mT, left=False), torch.lu_solve(b, both, pivots)]
    whole = []
    for given in (b, wide):
        u, sizes, vh = g.svd(given)
        k = sizes.shape[-1]
        whole += [(u[..., :k] * sizes[..., None, :]) @ vh[..., :k, :], u.mT @ u, vh @ vh.mT]
    return *solved, *torch.lu_unpack(both, pivots), *whole


def incomplete(a, x, odd):
    """The incomplete gamma function, and the parts of numbers."""
    shares = torch.igamma(a, x), torch.igammac(a, x)
    return *shares, *torch.frexp(odd), *torch.frexp(odd.half()), *torch.frexp(odd.double())


def products(a, b, w, places, ends):
    """Along dimensions that are named, and bags of embeddings."""
    kinds = torch.tensordot(a, b, 2), torch.inner(a, a), torch.kron(a[0], b[0]), torch.outer(a[0, 0], b[0, 0].double()), torch.bilinear(a[0], a[1], w, None)  # fmt: skip
    bags = [F.embedding_bag(places, b[0], ends, mode=m, padding_idx=2) for m in ("sum", "mean", "max")]  # fmt: skip
    return *kinds, *bags, torch.renorm(a, 2, 0, 1.5), torch.linalg.vecdot(a, a)


def signals(x):
    """There and back again, and spectra of real numbers."""
    window = torch.hann_window(12) + 0.1
    frames = torch.stft(x, 16, 4, win_length=12, window=window, return_complex=True)
    back = torch.istft(frames * (1.5 + 0.2j), 16, 4, win_length=12, window=window, length=62)
    spectrum = torch.complex(x[:, :7], x[:, 7:14])
    return back, torch.fft.hfft(spectrum, norm="ortho"), torch.fft.ihfft(x).abs()


def seldom(x, tall, reflectors, tau):
    """Orthogonal polynomials, reflections, slopes and diagonals."""
    s, degrees = torch.special, torch.tensor([0, 1, 2, 5])
    kinds = [s.chebyshev_polynomial_t, s.chebyshev_polynomial_u, s.chebyshev_polynomial_v]
    kinds += [s.chebyshev_polynomial_w, s.hermite_polynomial_h, s.hermite_polynomial_he]
    kinds += [s.laguerre_polynomial_l, s.legendre_polynomial_p, s.shifted_chebyshev_polynomial_t]
    found = [kind(x.tanh() / 2 + 0.5, n) for kind in kinds for n in (degrees, 4)]
    found += torch.gradient(x, spacing=2.0, edge_order=2) + torch.gradient(tall[:2], dim=0)
    found += [tall.clone().fill_diagonal_(3, wrap=True), x.clone().fill_diagonal_(2)]
    found += [torch.nn.utils.rnn.pad_sequence([x[:2], x, x[1:2]], True, 2.0)]
    found += [torch.linalg.householder_product(reflectors, tau), s.modified_bessel_i0(x)]
    square = x.reshape(2, 2, 4) + torch.eye(4).reshape(2, 2, 4)
    found += [torch.linalg.tensorsolve(square, x[:2, :2]), torch.linalg.tensorinv(square)]
    return *found, F.feature_alpha_dropout(x[None], 0.5, False)


def complexes(x, y, w):
    """Functions and products of complex numbers, and a spectrum that is written in parts."""
    z, c = torch.complex(x, y), torch.complex(w, w.mT)
    found = [z.sqrt(), z.log(), z.sgn(), z.sin(), z.tan(), z.tanh(), z**2.5, 2**z, z / (1j - x)]
    found += [z.prod(1), z.sigmoid(), torch.where(x > 0, z, 1.0), z.new_ones(2), torch.cat([z, z.conj()])]  # fmt: skip
    found += [z @ c, torch.einsum("bi,ij->bj", z, c), F.linear(z, c, z[0]), z.mH, torch.vdot(z[0], z[1])]  # fmt: skip
    found += [torch.linalg.inv(c), torch.linalg.solve(c, z.mT), torch.tensordot(z, c, [[1], [0]])]
    kernel = torch.complex(w[:2, None], w[2:, None])
    found += [F.conv1d(z[:, None], kernel, z[0, :2]), torch.kron(z, x)]
    modes = torch.zeros(3, 3, dtype=torch.cfloat)
    modes[:, :2] = torch.einsum("bi,io->bo", torch.fft.rfft(x), c[:3, :2])
    modes[0] += 1
    numbers = z.std(), torch.linalg.vector_norm(z, dim=1), z.isfinite(), z != z.real
    return *map(torch.view_as_real, map(torch.resolve_conj, found)), torch.fft.irfft(modes, 4), *numbers  # fmt: skip


def autocast(x, w):
    """A part in bf16, inside of it one in f32."""
    with torch.autocast("cpu", torch.bfloat16):
        y = x @ w
        z = y.softmax(-1) + x
        with torch.autocast("cpu", enabled=False):
            u = z @ w.T
    return y.float(), z, u


def quantized_rows(x, scales):
    """Scales of rows, of groups and of what is trained."""
    import torch.ao.quantization.fx._decomposed

    q, i8 = torch.ops.quantized_decomposed, torch.int8
    scale, zero = q.choose_qparams_per_token_asymmetric(x, i8)
    rows = q.quantize_per_token(x, scale, zero, -128, 127, i8)
    groups = q.quantize_per_channel_group(x, scales, scales * 0 + 1, -8, 7, i8, 4)
    real = q.dequantize_per_token(rows, scale, zero, -128, 127, i8, torch.float32)
    other = q.dequantize_per_channel_group(groups, scales, None, -8, 7, i8, 4, torch.float32)
    return scale, zero, rows, groups, real, other, torch.fake_quantize_per_tensor_affine(x, 0.1, 3, 0, 15)  # fmt: skip


def chunked(x, w, b, target, shares, weight):
    """A cross entropy that is computed in chunks: the operators are PyTorch's own."""
    options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=4)
    found = [
        F.linear_cross_entropy(x, w, target, options=options, weight=weight, reduction=reduction)
        for reduction in ("mean", "sum", "none")
    ]
    more = {"linear_bias": b, "options": options}
    return [*found, *(F.linear_cross_entropy(x, w, y, **more) for y in (target, shares))]


def experts(x, weights, ends, batch):
    """Rows in groups, each with a matrix of its own; PyTorch's own operator takes bf16 only."""
    import transformers.integrations.moe  # noqa: F401 - it declares an operator

    fallback = torch.ops.transformers.grouped_mm_fallback(x, weights, ends)
    grouped = torch.ops.aten._grouped_mm
    x, weights, batch = x.bfloat16(), weights.bfloat16(), batch.bfloat16()
    return fallback, grouped(x, weights, ends).float(), grouped(batch, weights).float()


_SHARES = (
    torch.tensor([0, 0, 0.1, 1, 2.5, 10, 100, 5000, 1, INF, 2, -1]),
    torch.tensor([0, 1, 0.05, 2, 9, 10, 90, 5100, 0, 3, INF, 1]),
)

_ENDS = torch.tensor([2, 7, 7, 10], dtype=torch.int32)
"""The third group is empty."""


def _whole(*shape: int) -> torch.Tensor:
    """Numbers whose products are the same in bf16."""
    return torch.randint(-3, 4, shape).float()


def _symmetric(*shape: int) -> torch.Tensor:
    a = r(*shape)
    return a @ a.mT + torch.eye(shape[-1])


_MANY = torch.tensor([[0, 2, -1, 1, 1], [-1, 1, 0, 0, 0], [3, 4, 0, -1, 2], [0, 1, 2, 3, 4]])


def operator_cases() -> dict[str, tuple[Callable[..., Any], Sequence[torch.Tensor]]]:
    line = torch.cat([torch.linspace(-20, 30, 26), torch.tensor([0.0, -0.5, 1e-3, 0.99])])
    x = r(4, 6)
    missing = x.clone()
    missing[0, 3], missing[2, 1:] = NAN, NAN
    ints = torch.randint(0, 5, (4, 6))
    odd = torch.tensor([0.0, -0.0, 1, -2, NAN, INF])
    even = torch.tensor([0.5, 1, 1.00001, -2.1, NAN, INF])
    rows = torch.tensor([[1, 2], [0, 3], [1, 2]])
    shares = torch.cat([torch.linspace(-0.99, 0.99, 28), torch.tensor([1e-6, 0.99999])])
    return {
        "errors": (errors, [line, line.flip(0).abs(), shares]),
        "gamma": (gamma, [line, torch.linspace(0.1, 20, 30)]),
        "losses": (losses, [r(4, 5), r(4, 5), torch.tensor([1, 0, -100, 3]), torch.rand(5)]),
        "margins": (
            margins,
            [
                r(4, 5),
                r(4, 5),
                torch.tensor([1, 0, -100, 3]),
                torch.rand(5),
                _MANY,
                torch.tensor([2, 0, 1, 3]),
            ],
        ),
        "statistics": (statistics, [x, missing, ints, torch.tensor([0.1, 0.5, 0.93])]),
        "different": (different, [ints, rows]),
        "kinds": (kinds, [odd, even, torch.tensor([12, -18, 7, 0, 5, 30])]),
        "reductions": (reductions, [r(3, 4), r(5, 4), torch.randint(0, 3, (5, 4))]),
        "matrices": (matrices, [r(2, 4, 4), r(2, 4, 3), _symmetric(2, 4, 4)]),
        "values": (values, [r(2, 4, 3), _symmetric(2, 3, 3)]),
        "eigenvalues": (eigenvalues, [r(2, 4, 4), r(3, 3, dtype=torch.complex128)]),
        "products": (
            products,
            [
                r(2, 3, 4),
                r(3, 4, 5),
                r(2, 4, 4),
                torch.tensor([1, 2, 0, 3, 2]),
                torch.tensor([0, 2, 2]),
            ],
        ),
        "signals": (signals, [r(2, 60)]),
        "factored": (factored, [r(2, 4, 4), r(2, 4, 3), r(2, 3, 4)]),
        "incomplete": (
            incomplete,
            [*_SHARES, torch.tensor([0.0, 1, -7.25, 1e-40, 3e38, INF, NAN])],
        ),
        "experts": (
            experts,
            [_whole(10, 8), _whole(4, 8, 16), _ENDS, _whole(4, 3, 8)],
        ),
        "complexes": (complexes, [r(3, 4), r(3, 4), r(4, 4)]),
        "seldom": (seldom, [r(4, 4), r(9, 3), r(2, 5, 3), torch.rand(2, 3)]),
        "autocast": (autocast, [r(4, 3), r(3, 3)]),
        "chunked": (
            chunked,
            [
                r(6, 5),
                r(7, 5),
                r(7),
                torch.tensor([1, 0, -100, 6, 3, 2]),
                torch.rand(6, 7),
                torch.rand(7),
            ],
        ),
        "quantized_rows": (quantized_rows, [r(3, 8), torch.rand(3, 2) * 0.1 + 0.1]),
    }


class Leaves(torch.nn.Module):
    """A function as a module that gives its tensors as they come, named tuples taken apart."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args):
        return tuple(tree_leaves(self.function(*args)))
