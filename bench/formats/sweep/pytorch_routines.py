"""Computations of models other than layers: graphs, writes to slices, loops, signals, chains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch._higher_order_ops import while_loop

from .cases import Config, Subject
from .pytorch_modules import Part, part_subject

Routine = Callable[[str, torch.nn.ParameterDict, Sequence[torch.Tensor]], Any]
"""A function of a variant's name, weights and tensors that returns the results."""


class Computed(nn.Module):
    """A routine as a module with weights."""

    def __init__(self, routine: Routine, config: Config) -> None:
        super().__init__()
        self.routine, self.how = routine, config["variant"]
        shapes = {"w": [8, 8], "b": [8], "row": [1, 8], "table": [6, 8], "p": [4]}
        self.weights = nn.ParameterDict({k: torch.randn(s) * 0.5 for k, s in shapes.items()})

    def forward(self, *given: torch.Tensor) -> Any:
        return self.routine(self.how, self.weights, given)


def slices(how: str, w: Any, given: Sequence[torch.Tensor]) -> Any:
    """Writes to slices and views, one after another."""
    (x,) = given
    y = x.clone() if how != "second" else torch.zeros_like(x)
    y[:, 1:-1] += x[:, 2:] * 0.5
    y[..., ::2] = w["b"][::2]
    y[:, -1, 3:5] *= 3
    y[0] = x[-1].flip(0)
    rows = y.unbind(1)
    if how == "first":
        rows[0].add_(1)
        y.transpose(0, 1)[1:2].mul_(2)
    if how == "third":
        y[y > 1] = 1.0
        y[:, [0, 2]] = y[:, [2, 0]]
        y.masked_fill_(x < -1, 0.25)
    view = y.view(x.shape[0], -1)
    view[:, 3] = view[:, 1:3].sum(1)
    return y, view.narrow(1, 2, 4), rows[0]


def coupled(how: str, w: Any, given: Sequence[torch.Tensor]) -> Any:
    """Coupling layers of a normalizing flow, and the log-determinant."""
    (x,) = given
    out, volume = torch.empty_like(x), 0
    if how == "first":
        kept, other = x[..., ::2], x[..., 1::2]
        scale = torch.tanh(kept @ w["w"][:4, :4])
        out[..., ::2], out[..., 1::2] = kept, other * scale.exp() + kept
        volume = scale.sum((1, 2))
    elif how == "second":
        mask = (torch.arange(8) % 2).to(x.dtype)
        scale = F.linear(x * mask, w["w"]).tanh() * (1 - mask)
        out = x * mask + (1 - mask) * (x * scale.exp())
        volume = scale.flatten(1).sum(-1)
    else:
        order = torch.tensor([3, 1, 0, 2, 7, 5, 4, 6])
        out = x[..., order]
        out[..., :4].div_(2).sub_(w["p"])
        volume = out[..., order.argsort()].logsumexp((1, 2))
    return out, volume


def messages(how: str, w: Any, given: Sequence[torch.Tensor]) -> Any:
    """Message passing on a graph: each node aggregates its neighbours."""
    x, edges = given
    source, target = edges
    sent, count = (x @ w["w"])[source], x.shape[0]
    if how == "first":
        degree = torch.zeros(count, dtype=x.dtype).index_add_(
            0, target, torch.ones_like(sent[:, 0])
        )
        found = torch.zeros_like(x).index_add(0, target, sent) / degree.clamp(min=1)[:, None]
    elif how == "second":
        score = F.leaky_relu((sent * x[target]).sum(-1), 0.2)
        largest = score.new_full((count,), -1e4).scatter_reduce(0, target, score, "amax")
        share = (score - largest[target]).exp()
        total = share.new_zeros(count).scatter_add(0, target, share)
        share = share / (total[target] + 1e-3)
        found = torch.zeros_like(x).index_put_((target,), sent * share[:, None], accumulate=True)
    else:
        at = target[:, None].expand_as(sent)
        found = x.scatter_reduce(0, at, sent, "amax", include_self=False)
    return F.normalize(found + w["b"], dim=-1), found[torch.where(edges[0] < 2, 0, edges[1])]


def sampled_rays(how: str, w: Any, given: Sequence[torch.Tensor]) -> Any:
    """Sinusoidal encodings of positions, and transmittance along a ray (as NeRF)."""
    (x,) = given
    rates = 2.0 ** torch.arange(3)
    waves = (x[..., None, :2] * rates[:, None].to(x.dtype)).flatten(-2)
    y = torch.cat([x[..., :2], waves.sin(), waves.cos()], -1)
    density = F.softplus(y[..., :8] @ w["w"])[..., 0]
    alpha = 1 - torch.exp(-density * 0.1)
    clear = torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-3], -1)
    weights = alpha * (
        clear.cumprod(-1)[:, :-1] if how != "second" else clear.log().cumsum(-1).exp()[:, :-1]
    )
    if how == "third":
        edges = torch.cumsum(weights, -1)
        at = torch.searchsorted(
            edges.float().contiguous(), torch.full_like(edges[:, :2], 0.05).float()
        )
        return at, edges.gather(1, at.clamp(max=edges.shape[1] - 1))
    return (weights[..., None] * x).sum(1), weights


def coded(how: str, w: Any, given: Sequence[torch.Tensor]) -> Any:
    """Vector quantization: the nearest entry of a codebook."""
    (x,) = given
    flat = x.reshape(-1, 8)
    if how == "first":
        away = (
            flat.pow(2).sum(1, keepdim=True) - 2 * flat @ w["table"].t() + w["table"].pow(2).sum(1)
        )
    else:
        away = torch.cdist(flat, w["table"], p=2.0 if how == "second" else 1.0)
    at = away.argmin(1)
    found = F.embedding(at, w["table"]).view(x.shape)
    use = F.one_hot(at, 6).to(x.dtype).mean(0)
    return (
        x + (found - x).detach(),
        at.view(x.shape[:-1]),
        (use * (use + 1e-3).log()).sum().neg().exp(),
    )


def best_path(how: str, w: Any, given: Sequence[torch.Tensor]) -> Any:
    """The most likely sequence of labels (Viterbi), traced backwards."""
    (x,) = given
    score, back = x[:, 0], []
    for i in range(1, 3):
        best, at = (score[:, :, None] + w["w"]).max(1)
        score = best + x[:, i]
        back.append(at)
    last = score.argmax(-1) if how != "second" else score.max(-1).indices
    path = [last]
    for at in reversed(back):
        path.insert(0, at.gather(1, path[0][:, None]).squeeze(1))
    alpha = x[:, 0]
    for i in range(1, 3):
        alpha = torch.logsumexp(alpha.unsqueeze(2) + w["w"], dim=1) + x[:, i]
    return torch.stack(path, 1), score.amax(-1), alpha.logsumexp(-1)


def signals(how: str, w: Any, given: Sequence[torch.Tensor]) -> Any:
    """Frames of a signal, their spectra, and the reconstructed signal."""
    (x,) = given
    x = x.flatten(1).float()
    window = torch.hann_window(8)
    if how == "first":
        whole = torch.stft(x, 8, 4, window=window, return_complex=True, center=True)
        power = whole.abs().pow(2).clamp_min(1e-10).log10() * 10
        return power, torch.istft(whole, 8, 4, window=window)
    if how == "second":
        frames = x.unfold(-1, 8, 4) * window
        spectrum = torch.fft.rfft(frames, n=8, norm="ortho")
        return torch.view_as_real(spectrum), torch.fft.irfft(spectrum, n=8, norm="ortho")
    padded = F.pad(x[:, None], (4, 4), mode="reflect")
    kernel = w["w"].float().reshape(8, 1, 8)
    return F.conv1d(padded, kernel, stride=4).square().mean(-1).sqrt()


def looped(how: str, w: Any, given: Sequence[torch.Tensor]) -> Any:
    """Control flow in the graph: loops and branches."""
    (x,) = given
    matrix = w["w"] * 0.4
    if how == "first":
        _, found = while_loop(
            lambda i, y: i < 4, lambda i, y: (i + 1, torch.tanh(y @ matrix)), (torch.tensor(0), x)
        )
        return found
    if how == "second":
        return torch.cond(x.sum() > 0, lambda x: x @ matrix + 1, lambda x: (x * 2).sin(), (x,))
    _, found = while_loop(
        lambda i, y: y.abs().sum() > 1.0,
        lambda i, y: (i + 1, y * 0.5 if how == "third" else y),
        (torch.tensor(0), x),
    )
    return found


def transformed(how: str, w: Any, given: Sequence[torch.Tensor]) -> Any:
    """Functions mapped over rows (vmap), and gradients inside the model."""
    (x,) = given
    if how == "first":
        return torch.vmap(lambda row: (row @ w["w"]).softmax(-1).cumsum(0))(x)
    if how == "second":
        return torch.func.grad(lambda y: ((y @ w["w"]).tanh() ** 2).sum())(x)
    return torch.vmap(torch.vmap(lambda r, v: (r * v).sum(), (0, None)), (0, None))(x, w["b"])


def solved(how: str, w: Any, given: Sequence[torch.Tensor]) -> Any:
    """Linear algebra of small matrices."""
    (x,) = given
    cov = x.mT @ x / x.shape[1] + torch.eye(8, dtype=x.dtype) * 2
    if how == "first":
        gain = torch.linalg.solve(cov, w["w"].expand(x.shape[0], -1, -1))
        return gain, torch.linalg.slogdet(cov)[1], torch.diagonal(cov, dim1=-2, dim2=-1)
    if how == "second":
        lower = torch.linalg.cholesky(cov)
        return (
            lower,
            torch.cholesky_solve(x.mT, lower),
            lower.diagonal(dim1=-2, dim2=-1).log().sum(-1),
        )
    return torch.linalg.inv(cov), torch.linalg.matrix_power(cov, 2), torch.linalg.eigvalsh(cov)


def quantized(how: str, w: Any, given: Sequence[torch.Tensor]) -> Any:
    """Products with integer weights, and numbers rounded to integers."""
    (x,) = given
    matrix, scale = (w["w"] * 40).round().clamp(-128, 127).to(torch.int8), w["b"].abs() / 100 + 0.01
    if how == "first":
        return F.linear(x, matrix.to(x.dtype) * scale[:, None], w["b"])
    if how == "second":
        largest = x.abs().amax(-1, keepdim=True).clamp(min=1e-5) / 127
        q = (x / largest).round().clamp(-128, 127).to(torch.int8)
        whole = (q.reshape(-1, 8).int() @ matrix.int().t()).view(*x.shape)
        return whole.to(x.dtype) * largest * scale, q
    packed = (matrix.to(torch.uint8) & 0xF) | ((matrix.flip(0).to(torch.uint8) & 0xF) << 4)
    low = (packed & 0xF).to(torch.int8) - 8
    high = (packed >> 4).to(torch.int8) - 8
    return F.linear(x, torch.stack([low, high], -1).view(8, 16)[:, ::2].to(x.dtype) * scale)


def chosen(how: str, w: Any, given: Sequence[torch.Tensor]) -> Any:
    """Sampling's filters of the most likely classes (top-k, top-p), without random draws."""
    (x,) = given
    logits = x[:, -1] / 0.7
    if how == "first":
        least = logits.topk(3)[0][..., -1, None]
        return logits.masked_fill(logits < least, -torch.inf).softmax(-1)
    ordered, at = logits.sort(dim=-1, descending=True, stable=True)
    share = ordered.softmax(-1).cumsum(-1)
    drop = share > 0.8
    if how == "second":
        drop[..., 1:] = drop[..., :-1].clone()
        drop[..., 0] = False
    else:
        drop = torch.cat([torch.zeros_like(drop[:, :1]), drop[:, :-1]], 1)
    drop = drop.scatter(1, at, drop)
    return torch.where(drop, torch.full_like(logits, -1e4), logits).log_softmax(-1), (~drop).sum(-1)


def _rows(make: Callable[..., torch.Tensor], larger: int) -> list[torch.Tensor]:
    return [make(2 + larger, 5 + larger, 8)]


def _graph(make: Callable[..., torch.Tensor], larger: int) -> list[torch.Tensor]:
    source, target = [0, 1, 2, 3, 1, 0, 3], [1, 2, 0, 1, 1, 3, 2]
    return [make(4 + larger, 8), torch.tensor([source[: 6 + larger], target[: 6 + larger]])]


ROUTINES: Mapping[str, tuple[Routine, Part]] = {
    "slices": (slices, _rows), "coupled": (coupled, _rows), "messages": (messages, _graph),
    "rays": (sampled_rays, _rows), "coded": (coded, _rows), "best path": (best_path, _rows),
    "signals": (signals, _rows), "looped": (looped, _rows), "transformed": (transformed, _rows),
    "solved": (solved, _rows), "quantized": (quantized, _rows), "chosen": (chosen, _rows),
}  # fmt: skip


def subjects() -> Iterator[Subject]:
    """A subject for each routine."""
    for name, (routine, part) in ROUTINES.items():
        yield part_subject(f"routine: {name}", partial(Computed, routine), part)
