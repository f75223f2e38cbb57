"""Reductions, views, and indexed reads and writes: dimensions, extents and indices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from .cases import Config, Subject
from .pytorch_base import LAYOUTS, numbers, subject
from .pytorch_operands import ELEMENTS, sampled
from .pytorch_places import COMPARED

Tensors = Sequence[Sequence[torch.Tensor]]
SHAPES = {"shape": [[4, 3], [2, 3, 4], [5], [], [0, 3], [3, 0], [1, 1]]}
DIMS = {"dim": [None, 0, -1, 1, [], [0, 1], [-1, 0], "left out"]}
VALUES = {"values": ["plain", "odd", "ties"]}

REDUCTIONS = """sum mean prod amax amin any all logsumexp nansum nanmean var std norm argmax argmin
max min median nanmedian mode cumsum cumprod cummax cummin logcumsumexp sort argsort softmax
log_softmax aminmax count_nonzero var_mean std_mean quantile nanquantile trapezoid flip roll
cumulative_trapezoid diff unbind squeeze unsqueeze glu linalg.vector_norm renorm kthvalue topk
nn.functional.softmin nn.functional.normalize unique unique_consecutive fliplr rot90""".split()  # noqa: SIM905
MORE: dict[str, dict[str, Any]] = {
    "var": {"correction": 2},
    "std": {"correction": 5},
    "roll": {"shifts": 2},
    "topk": {"k": 2},
    "kthvalue": {"k": 2},
    "quantile": {"q": 0.3},
    "nanquantile": {"q": 0.6},
    "renorm": {"p": 2, "maxnorm": 1.0},
    "norm": {"p": 3},
    "linalg.vector_norm": {"ord": 1},
}
"""Further arguments of reductions: required ones, and rarely used ones."""
KEEPING = """sum mean prod amax amin any all logsumexp nansum nanmean var std norm argmax argmin max
min median nanmedian mode aminmax var_mean std_mean quantile nanquantile linalg.vector_norm
kthvalue""".split()  # noqa: SIM905
TYPED = "sum mean prod nansum nanmean cumsum cumprod softmax log_softmax norm".split()  # noqa: SIM905

VIEWS: dict[str, Callable[[torch.Tensor], Any]] = {
    "chunk 2": lambda x: x.chunk(2, -1),
    "chunk 3": lambda x: [y + 1 for y in x.chunk(3)],
    "split 2": lambda x: x.split(2, -1),
    "split sizes": lambda x: x.split([1, x.shape[-1] - 1], -1),
    "tensor_split": lambda x: x.tensor_split(2, -1),
    "tensor_split at": lambda x: x.tensor_split([1, 2], 0),
    "unsafe_chunk": lambda x: x.unsafe_chunk(2, 0),
    "diagonal": lambda x: x.diagonal(),
    "diagonal 1": lambda x: x.diagonal(1, -1, 0),
    "diagonal -1": lambda x: x.diagonal(-1, -2, -1) * 2,
    "diag": lambda x: torch.diag(x[0], 1),
    "diag_embed": lambda x: torch.diag_embed(x, -1, 0, 1),
    "unfold": lambda x: x.unfold(-1, 2, 1),
    "select": lambda x: x.select(0, -1),
    "narrow": lambda x: x.narrow(-1, 1, 2),
    "slice": lambda x: x[1:, ::2],
    "slice back": lambda x: x[-2:, :-1],
    "slice half": lambda x: x[:, : x.shape[1] // 2],
    "ellipsis": lambda x: x[..., None, 0],
    "flatten": lambda x: x.flatten(),
    "unflatten": lambda x: x.unflatten(0, (-1, 2)),
    "view": lambda x: x.contiguous().view(-1, 2),
    "reshape": lambda x: x.reshape(2, -1),
    "view transposed": lambda x: x.mT.reshape(-1),
    "view i16": lambda x: x.contiguous().view(torch.int16),
    "view u8": lambda x: x.contiguous().view(torch.uint8),
    "view i64": lambda x: x.contiguous().view(torch.int64),
    "view f32": lambda x: x.contiguous().view(torch.float32),
    "expand": lambda x: x[:1].expand(x.shape[0] + 1, *x.shape[1:]),
    "repeat": lambda x: x.repeat(2, *[1] * x.dim()),
    "tile": lambda x: x.tile(3),
    "repeat_interleave": lambda x: x.repeat_interleave(2, -1),
    "permute": lambda x: x.permute(-1, *range(x.dim() - 1)),
    "movedim": lambda x: x.movedim(0, -1) + 1,
    "swapaxes": lambda x: x.swapaxes(0, -1),
    "rot90": lambda x: x.rot90(1, (0, -1)),
    "rot90 3": lambda x: x.rot90(3, (-1, 0)),
    "flip": lambda x: x.flip(0, -1),
    "roll": lambda x: x.roll((1, -2), (0, -1)),
    "roll flat": lambda x: x.roll(3),
    "hsplit": lambda x: x.hsplit(2),
    "vsplit": lambda x: x.vsplit([1]),
    "squeeze": lambda x: x[:, :1].squeeze(),
    "squeeze dims": lambda x: x[:1, :1].squeeze((0, 1)),
    "atleast_3d": lambda x: torch.atleast_3d(x),
    "meshgrid": lambda x: torch.meshgrid(x[0], x[..., 0].reshape(-1), indexing="xy"),
    "tril": lambda x: x.tril(1),
    "triu": lambda x: x.triu(-1),
    "pad": lambda x: torch.nn.functional.pad(x, (1, -1, 2, 0), value=2),
    "pad reflect": lambda x: torch.nn.functional.pad(x[None], (1, 2), mode="reflect"),
    "pad replicate": lambda x: torch.nn.functional.pad(x[None], (1, 2), mode="replicate"),
    "pad circular": lambda x: torch.nn.functional.pad(x[None], (2, 1), mode="circular"),
    "pixel_shuffle": lambda x: torch.nn.functional.pixel_shuffle(
        x[:, None, None].repeat(1, 4, 1, *[1] * (x.dim() - 1))[:, :4], 2
    ),
    "as_strided": lambda x: x.contiguous().as_strided((2, 2), (2, 1), 1) * 2,
    "fill_diagonal": lambda x: x.mT.clone().fill_diagonal_(3),
    "t clone add": lambda x: x.t().clone().add_(1),
    "block_diag": lambda x: torch.block_diag(x, x[:1]),
    "cartesian_prod": lambda x: torch.cartesian_prod(x[0], x[:, 0]),
    "combinations": lambda x: torch.combinations(x[0], 2),
    "tril_indices": lambda x: x + torch.tril_indices(*x.shape[:2]).sum().to(x.dtype),
    "cat none": lambda x: torch.cat([x, x[:0]], 0),
    "cat last": lambda x: torch.cat([x, x[..., :1]], -1),
    "stack": lambda x: torch.stack([x, x + 1], -1),
    "new": lambda x: (
        x.new_ones(x.shape[0], 2),
        x.new_full((2, x.shape[-1]), 3),
        torch.zeros_like(x),
        torch.full_like(x, 2),
    ),
    "arange": lambda x: torch.arange(x.shape[0]) + torch.arange(0, x.shape[0], 2).sum(),
    "eye": lambda x: torch.eye(x.shape[0], 3, dtype=x.dtype),
    "vander": lambda x: torch.vander(x[0], 3),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "einsum trace": lambda x: torch.einsum("ij,ij->", x, x),
    "cov": lambda x: torch.cov(x),
    "corrcoef": lambda x: torch.corrcoef(x),
    "bincount": lambda x: torch.bincount(x.reshape(-1).abs().long()),
    "histc": lambda x: torch.histc(x, 5, -2, 2),
    "nonzero": lambda x: x.nonzero(),
    "mask": lambda x: x[x > 0],
    "masked_select": lambda x: x.masked_select(x < 1),
    "where alone": lambda x: torch.where(x > 0),
    "max of two": lambda x: torch.max(x, x.flip(0)),
    "adaptive_avg_pool": lambda x: torch.nn.functional.adaptive_avg_pool2d(x[None], (3, 2)),
    "adaptive_max_pool": lambda x: torch.nn.functional.adaptive_max_pool2d(x[None], (3, 2)),
    "adaptive_max_pool places": lambda x: torch.nn.functional.adaptive_max_pool2d(
        x[None], (2, 2), return_indices=True
    ),
    "max_pool places": lambda x: torch.nn.functional.max_pool2d(x[None], 2, 1, return_indices=True),
    "layer_norm": lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
    "layer_norm whole": lambda x: torch.nn.functional.layer_norm(x, x.shape),
    "rms_norm": lambda x: torch.nn.functional.rms_norm(x, x.shape[-1:]),
    "isin": lambda x: torch.isin(x, 2),
    "isin tensor": lambda x: torch.isin(x, x[0], invert=True),
    "isin number": lambda x: torch.isin(1, x),
    "eigvals": lambda x: torch.linalg.eigvals(x @ x.mT).real.sort()[0],
    "one_hot": lambda x: torch.nn.functional.one_hot(x.long().abs(), 20),
    "unique": lambda x: torch.unique(x, return_inverse=True, return_counts=True),
    "unique dim": lambda x: torch.unique(x, dim=0),
    "searchsorted": lambda x: torch.searchsorted(x.sort(-1)[0], x, right=True),
    "gradient": lambda x: torch.gradient(x, dim=0),
    "item": lambda x: x * x.shape[0] + x.numel() - x.dim(),
    "to": lambda x: (x.to(torch.float16), x.to(torch.int8), x.to(torch.bool), x.double()),
    "size": lambda x: x.new_zeros(x.size(-1) + 1),
    "split of open": lambda x: x.split(x.shape[0] - 1),
    "stft": lambda x: torch.stft(
        x.reshape(-1), 4, 2, return_complex=True, window=torch.ones(4, dtype=x.dtype)
    ).abs(),
    "complex": lambda x: torch.view_as_real(torch.complex(x, x) * 2j),
    "fft": lambda x: torch.fft.rfft(x).abs(),
    "fft 2": lambda x: torch.fft.fft2(x).real,
}

TRANSFORMS = ("stft", "fft", "fft 2")
"""Functions in which the spread of NaN and infinities depends on the library; see
`pytorch_samples.AS_THE_LIBRARY`.
"""

INDEXING: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "x[i]": lambda x, i: x[i],
    "x[:, i]": lambda x, i: x[:, i],
    "x[i, i]": lambda x, i: x[i, i],
    "x[i, None, i]": lambda x, i: x[i, None, i],
    "x[0, i]": lambda x, i: x[0, i],
    "x[i] = 2": lambda x, i: x.clone().index_put_((i,), torch.tensor(2, dtype=x.dtype)),
    "x[:, i] = x": lambda x, i: _put(x, (slice(None), i), x[:, :1]),
    "x[i] += 1": lambda x, i: x.index_put((i,), torch.ones((), dtype=x.dtype), accumulate=True),
    "put": lambda x, i: x.put(i, x[0, :1].expand(i.shape)),
    "put add": lambda x, i: x.put(i, x[0, :1].expand(i.shape), accumulate=True),
    "take": lambda x, i: x.take(i),
    "index_select": lambda x, i: x.index_select(-1, i),
    "index_add": lambda x, i: x.index_add(0, i, x[:1].expand(i.shape[0], -1), alpha=2),
    "index_copy": lambda x, i: x.index_copy(0, i, x[:1].expand(i.shape[0], -1)),
    "index_fill": lambda x, i: x.index_fill(1, i, 3),
    "index_reduce": lambda x, i: x.index_reduce(0, i, x[:1].expand(i.shape[0], -1), "amax"),
    "gather": lambda x, i: x.gather(0, i[:, None].expand(-1, 2)),
    "gather 1": lambda x, i: x.gather(1, i[None, :]),
    "scatter": lambda x, i: x.scatter(0, i[:1, None].expand(1, 2), 5),
    "scatter_add": lambda x, i: x.scatter_add(1, i[None, :], x[:1, :1].expand(1, i.shape[0])),
    "scatter prod": lambda x, i: x.scatter_reduce(
        1, i[None, :], x[:1, :1].expand(1, i.shape[0]), "prod"
    ),
    "scatter mean": lambda x, i: x.scatter_reduce(
        1, i[None, :], x[:1, :1].expand(1, i.shape[0]), "mean", include_self=False
    ),
    "scatter amax": lambda x, i: x.scatter_reduce(
        1, i[None, :], x[:1, :1].expand(1, i.shape[0]), "amax"
    ),
    "take_along_dim": lambda x, i: x.take_along_dim(i[:, None], 0),
    "embedding": lambda x, i: torch.nn.functional.embedding(i, x, padding_idx=0),
    "embedding_bag": lambda x, i: torch.nn.functional.embedding_bag(i, x, torch.tensor([0, 2])),
    "one_hot": lambda x, i: torch.nn.functional.one_hot(i, 5) + x[0, 0].long(),
    "slice_scatter": lambda x, i: x.slice_scatter(x[:, :1], 1, 1, 2),
    "select_scatter": lambda x, i: x.select_scatter(x[:, 0], 1, -1),
    "diagonal_scatter": lambda x, i: x.diagonal_scatter(x.diagonal() * 2),
    "as_strided_scatter": lambda x, i: x.contiguous().as_strided_scatter(
        x[:2, :2] + 1, (2, 2), (2, 1), 1
    ),
    "masked_scatter": lambda x, i: x.masked_scatter(x > 0, x.contiguous()),
    "bincount": lambda x, i: torch.bincount(i.abs(), minlength=7),
    "repeat_interleave": lambda x, i: x.repeat_interleave(2, 0)[i],
    "cross_entropy": lambda x, i: torch.nn.functional.cross_entropy(x[: i.shape[0]], i),
    "nll ignore": lambda x, i: torch.nn.functional.nll_loss(
        x[i], i, ignore_index=1, reduction="none"
    ),
}

WRITES: dict[str, Callable[..., Any]] = {
    "add_": lambda x: x.add_(1),
    "mul_ view": lambda x: x[:, 1:].mul_(2),
    "column": lambda x: x[:, 0].fill_(3),
    "t": lambda x: x.t().add_(1),
    "and give": lambda x: (x.add_(1), x[:, 1:], x.t() * 2),
    "copy_": lambda x: x.copy_(x.flip(0)),
    "masked": lambda x: x.masked_fill_(x > 0, 1),
    "zero_": lambda x: x[::2].zero_(),
    "relu_": lambda x: torch.relu_(x),
    "diagonal": lambda x: x.diagonal().add_(2),
    "halves": lambda x: [y.mul_(i + 2) for i, y in enumerate(x.chunk(2, 1))],
}
"""Functions that write to their argument, an input of the program."""


def _put(x: torch.Tensor, at: Any, value: Any) -> torch.Tensor:
    y = x.clone()
    y[at] = value
    return y


def _reduction(name: str, config: Config, rng: np.random.Generator) -> tuple[Any, Tensors]:
    function: Any = torch
    for part in name.split("."):
        function = getattr(function, part)
    compared = COMPARED.get(name)
    dim, more = config["dim"], dict(MORE.get(name, {}) if config["more"] else {})
    if name in ("roll", "topk", "kthvalue", "quantile", "nanquantile", "renorm"):
        more = MORE[name]
    names = {"flip": "dims", "roll": "dims", "rot90": "dims"}
    if dim != "left out":
        more = more | {names.get(name, "dim"): tuple(dim) if isinstance(dim, list) else dim}
    if config["keepdim"]:
        more = more | {"keepdim": True}
    if config["dtype"]:
        more = more | {"dtype": getattr(torch, config["dtype"])}
    runs = []
    for larger in (0, 3):
        shape = [d + larger if d > 1 else d for d in config["shape"]]
        runs.append([numbers(shape, config["elements"], config["values"], rng)])
    if compared is None:
        return (lambda x: function(x, **more)), runs
    return (lambda x: compared(function(x, **more), x, **more)), runs


def _view(name: str, config: Config, rng: np.random.Generator) -> tuple[Any, Tensors]:
    shapes = [[d + larger if d > 1 else d for d in config["shape"]] for larger in (0, 2)]
    make = partial(numbers, dtype=config["elements"], how=config["values"], rng=rng)
    return VIEWS[name], [[make(shape)] for shape in shapes]


def _indexed(name: str, config: Config, rng: np.random.Generator) -> tuple[Any, Tensors]:
    indices = torch.tensor(config["indices"], dtype=getattr(torch, config["index"]))
    make = partial(numbers, dtype=config["elements"], how=config["values"], rng=rng)
    return INDEXING[name], [[make(shape), indices] for shape in ([4, 5], [6, 5])]


def _written(name: str, config: Config, rng: np.random.Generator) -> tuple[Any, Tensors]:
    make = partial(numbers, dtype=config["elements"], how="plain", rng=rng)

    return (lambda x: (WRITES[name](x), x)), [[make(shape)] for shape in ([4, 6], [5, 8])]


def subjects() -> Iterator[Subject]:
    """A subject for each function."""
    for name in REDUCTIONS:
        choices = {"elements": [*ELEMENTS, "complex64"], **SHAPES, **DIMS, **VALUES, **LAYOUTS}
        choices |= {"keepdim": [False, True] if name in KEEPING else [False]}
        choices |= {"dtype": ["", "float64", "int32", "float16"] if name in TYPED else [""]}
        choices |= {"more": [False, True] if name in MORE else [False]}
        made = subject(f"along: {name}", partial(_reduction, name), **choices)
        yield sampled(made, 14, 14)
    shapes = {"shape": [[4, 6], [2, 4, 6], [6], [0, 4], [4, 1], [1, 6]]}
    for name in VIEWS:
        values = {"values": ["plain", "ties"]} if name in TRANSFORMS else VALUES
        choices = {"elements": [*ELEMENTS, "complex64"], **shapes, **values, **LAYOUTS}
        yield sampled(subject(f"view: {name}", partial(_view, name), **choices), 8, 5)
    indices = [[0, 1], [2, 2, 0], [-1, 1], [], [3], [-1, -1, 3, 0]]
    for name in INDEXING:
        choices = {"elements": [*ELEMENTS, "complex64"], "indices": indices, **VALUES, **LAYOUTS,
                   "index": ["int64", "int32", "uint8", "bool"]}  # fmt: skip
        yield sampled(subject(f"at: {name}", partial(_indexed, name), **choices), 9, 6)
    for name in WRITES:
        choices = {"elements": ["float32", "int64", "bfloat16"], "layout": LAYOUTS["layout"][:3]}
        yield subject(f"write: {name}", partial(_written, name), **choices)
