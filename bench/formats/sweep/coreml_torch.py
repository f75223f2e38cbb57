"""Functions of PyTorch through coremltools' converter, as programs and as networks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import coremltools as ct
import numpy as np
import torch
import torch.nn.functional as fn
from torch import nn

from .cases import Config, Made, Subject, UnmakableError
from .coreml_base import array, described

MORE = 2
"""How much larger a dynamic dimension is in the second run."""
FORMS = {"form": ["program", "network", "half"], "open": [False, True]}
"""The file formats: an `.mlpackage`, an `.mlmodel` (`network`), and an `.mlpackage` in float16
(`half`); each with fixed and with dynamic shapes.
"""
Function = Callable[..., Any]


class _Net(nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function
        if isinstance(function, nn.Module):
            self.layer = function

    def forward(self, *inputs: Any) -> Any:
        """The function's results."""
        found = self.function(*inputs)
        return found if isinstance(found, torch.Tensor) else tuple(found)


def _converted(
    config: Config, folder: Path, net: Any, inputs: Sequence[np.ndarray]
) -> tuple[Any, Path]:
    kinds = []
    for i, x in enumerate(inputs):
        shape = list(x.shape)
        if config["open"] and shape[0] > 1:
            shape[0] = ct.RangeDim(1, 10, default=shape[0])
        kinds.append(ct.TensorType(f"x{i}", shape, dtype=x.dtype.type))
    traced = torch.jit.trace(net, [torch.from_numpy(x) for x in inputs], check_trace=False)
    how: dict[str, Any] = {"convert_to": "neuralnetwork"}
    if config["form"] != "network":
        precision = ct.precision.FLOAT16 if config["form"] == "half" else ct.precision.FLOAT32
        target = getattr(ct.target, config["target"])
        how = {
            "convert_to": "mlprogram",
            "compute_precision": precision,
            "minimum_deployment_target": target,
        }
    model = ct.convert(traced, inputs=kinds, skip_model_load=True, **how)
    path = folder / ("model.mlmodel" if config["form"] == "network" else "model.mlpackage")
    model.save(str(path))
    return model, path


def _made(
    config: Config, folder: Path, function: Function, runs: Sequence[Sequence[np.ndarray]]
) -> Made:
    net = _Net(function).eval()
    try:
        model, path = _converted(config, folder, net, runs[0])
        found = []
        for inputs in runs:
            with torch.no_grad():
                results = net(*map(torch.from_numpy, inputs))
            values = [results] if isinstance(results, torch.Tensor) else list(results)
            named = {f"x{i}": x for i, x in enumerate(inputs)}
            found.append((named, described(model, [v.numpy() for v in values])))
    except UnmakableError:
        raise
    except BaseException as error:
        raise UnmakableError(f"{type(error).__name__}: {str(error)[-200:]}") from None
    tolerance = 2**-6 if config["form"] == "half" else 2e-4
    return Made(path, found, tolerance=tolerance, interpreted=True)


Shapes = Sequence[Sequence[int]]


def subject(
    name: str,
    table: dict[str, tuple[Function, Shapes]],
    more: dict[str, Sequence[Any]] | None = None,
    whole: Sequence[int] = (),
    allowed: Callable[[Config], bool] = lambda config: True,
) -> Subject:
    """A subject for a table of functions, each with the shapes of its inputs.

    A function is called with the configuration, then tensors; those at positions `whole` are
    integers.
    """

    def make(config: Config, rng: np.random.Generator, folder: Path) -> Made:
        torch.manual_seed(int(rng.integers(1 << 30)))
        build, shapes = table[config["op"]]
        function = build(config)
        runs = []
        for larger in (False, True)[: 1 + config["open"]]:
            inputs = []
            for i, shape in enumerate(shapes):
                extents = [
                    d + MORE * (larger and axis == 0 and d > 1) for axis, d in enumerate(shape)
                ]
                x = array(
                    rng, extents, config.get("dtype", "float32"), config.get("numbers", "plain")
                )
                inputs.append(rng.integers(0, 3, extents).astype(np.int32) if i in whole else x)
            runs.append(inputs)
        return _made(config, folder, function, runs)

    choices = {"op": list(table), **FORMS, "target": ["iOS17", "iOS15", "iOS18"], **(more or {})}
    return Subject(name, choices, make, allowed)


def _plain(
    *functions: tuple[str, Function], shapes: Shapes = ((2, 3, 4),)
) -> dict[str, tuple[Function, Shapes]]:
    return {name: (lambda config, f=f: f, shapes) for name, f in functions}


UNARY = """abs acos acosh asin asinh atan atanh ceil cos cosh erf exp exp2 expm1 floor frac log
log10 log1p log2 neg round rsqrt sigmoid sign sin sinh sqrt square tan tanh trunc isnan
logical_not"""
ACTIVATIONS = """celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid
mish relu relu6 selu silu softplus softshrink softsign tanhshrink threshold glu softmax log_softmax
normalize"""
_HOW: dict[str, dict[str, Any]] = {
    "elu": {"alpha": 0.5},
    "hardtanh": {"min_val": -0.5, "max_val": 2.0},
    "leaky_relu": {"negative_slope": 0.2},
    "softplus": {"beta": 2.0},
    "threshold": {"threshold": 0.3, "value": -2.0},
    "glu": {"dim": -1},
    "softmax": {"dim": 1},
    "log_softmax": {"dim": -1},
    "gelu": {"approximate": "tanh"},
    "hardshrink": {"lambd": 0.7},
    "softshrink": {"lambd": 0.2},
    "celu": {"alpha": 1.5},
    "normalize": {"p": 1.0},
}


def _elements() -> Iterator[Subject]:
    kinds = {"numbers": ["plain", "ties", "positive"]}
    unary = [(name, getattr(torch, name)) for name in UNARY.split()]
    some = lambda c: c["numbers"] != "ties" or c["op"] != "rsqrt"  # noqa: E731  # of x + epsilon
    yield subject("torch unary", _plain(*unary), kinds, (), some)
    plain = [
        (name, getattr(fn, name))
        for name in ACTIVATIONS.split()
        if name not in ("glu", "threshold", "softmax", "log_softmax")
    ]
    table = _plain(*plain)
    table |= {
        f"{n} of {list(h)}": (lambda c, n=n, h=h: lambda x: getattr(fn, n)(x, **h), [[2, 3, 4]])
        for n, h in _HOW.items()
    }
    yield subject("torch activations", table, kinds)
    binary: list[tuple[str, Function]] = [
        ("add", lambda x, y: torch.add(x, y, alpha=2)),
        ("sub", torch.sub),
        ("mul", torch.mul),
        ("div", torch.div),
        ("div floor", lambda x, y: torch.div(x, y, rounding_mode="floor")),
        ("div trunc", lambda x, y: torch.div(x, y, rounding_mode="trunc")),
        ("floor_divide", torch.floor_divide),
        ("remainder", torch.remainder),
        ("fmod", torch.fmod),
        ("maximum", torch.maximum),
        ("minimum", torch.minimum),
        ("pow", lambda x, y: torch.pow(x.abs() + 0.1, y)),
        ("rsub", torch.rsub),
        ("hypot", torch.hypot),
        ("eq", lambda x, y: x == y),
        ("ne", lambda x, y: x != y),
        ("lt", lambda x, y: x < y),
        ("ge", lambda x, y: x >= y),
        ("and", lambda x, y: (x > 0) & (y > 0)),
        ("xor", lambda x, y: (x > 0) ^ (y > 0)),
        ("where", lambda x, y: torch.where(x > y, x, y)),
        ("lerp", lambda x, y: torch.lerp(x, y, 0.3)),
        ("addcmul", lambda x, y: torch.addcmul(x, x, y, value=0.5)),
        ("addcdiv", lambda x, y: torch.addcdiv(x, x, y.abs() + 1, value=0.5)),
        ("masked_fill", lambda x, y: x.masked_fill(y > 0, -3.0)),
        ("mse_loss", fn.mse_loss),
        ("cosine_similarity", lambda x, y: fn.cosine_similarity(x, y, -1)),
    ]
    table = _plain(*binary, shapes=[[2, 3, 4], [2, 3, 4]])
    table |= {
        f"{name} wide": (made, [[2, 3, 4], [4]]) for name, (made, _) in _plain(*binary[:20]).items()
    }
    yield subject("torch binary", table, {"numbers": ["plain", "ties"]})


def _reductions() -> Iterator[Subject]:
    functions: dict[str, Function] = {
        "sum": torch.sum,
        "mean": torch.mean,
        "amax": torch.amax,
        "amin": torch.amin,
        "logsumexp": torch.logsumexp,
        "std": torch.std,
        "var": lambda x, d, k: torch.var(x, d, correction=0, keepdim=k),
        "norm": lambda x, d, k: torch.linalg.vector_norm(x, 2, d, k),
        "norm1": lambda x, d, k: torch.linalg.vector_norm(x, 1, d, k),
        "norm inf": lambda x, d, k: torch.linalg.vector_norm(x, torch.inf, d, k),
        "prod": lambda x, d, k: torch.prod(x, d[-1], k),
        "argmax": lambda x, d, k: torch.argmax(x, d[-1], k),
        "max": lambda x, d, k: torch.max(x, d[-1], k),
        "min": lambda x, d, k: torch.min(x, d[-1], k)[0],
        "any": lambda x, d, k: torch.any(x > 0, d[-1], k),
        "all": lambda x, d, k: torch.all(x > 0, d[-1], k),
        "cumsum": lambda x, d, k: torch.cumsum(x, d[-1]),
        "sort": lambda x, d, k: torch.sort(x, d[-1], k),
        "topk": lambda x, d, k: torch.topk(x, 2, d[-1], k),
        "argsort": lambda x, d, k: torch.argsort(x, d[-1], k),
        "softmax": lambda x, d, k: torch.softmax(x, d[-1]),
        "unbind": lambda x, d, k: torch.unbind(x, d[-1]),
    }
    table = {
        name: (lambda c, f=f: lambda x: f(x, tuple(c["dim"]), c["keep"]), [[2, 3, 4]])
        for name, f in functions.items()
    }
    yield subject(
        "torch reductions", table, {"dim": [[1], [-1], [1, 2], [-2]], "keep": [False, True]}
    )


MOVES: list[tuple[str, Function]] = [
    ("reshape", lambda x: x.reshape(-1, 4)),
    ("view", lambda x: x.view(x.shape[0], -1)),
    ("flatten", lambda x: x.flatten(1)),
    ("permute", lambda x: x.permute(2, 0, 1)),
    ("transpose", lambda x: x.transpose(-1, 0)),
    ("squeeze", lambda x: x[:, :1].squeeze(1)),
    ("unsqueeze", lambda x: x.unsqueeze(-1)),
    ("cat", lambda x: torch.cat([x, x], -1)),
    ("stack", lambda x: torch.stack([x, x], 1)),
    ("split", lambda x: x.split(2, -1)),
    ("split sizes", lambda x: x.split([1, 2], 1)),
    ("chunk", lambda x: x.chunk(3, 1)),
    ("flip", lambda x: x.flip([1, 2])),
    ("roll", lambda x: x.roll(1, -1)),
    ("roll two", lambda x: x.roll([1, -1], [1, 2])),
    ("repeat", lambda x: x.repeat(1, 2, 3)),
    ("expand", lambda x: x[:, :1].expand(-1, 5, -1)),
    ("tile", lambda x: torch.tile(x, (2,))),
    ("repeat_interleave", lambda x: x.repeat_interleave(2, 1)),
    ("narrow", lambda x: x.narrow(2, 1, 2)),
    ("x[:, 1]", lambda x: x[:, 1]),
    ("x[..., ::2]", lambda x: x[..., ::2]),
    ("x[:, -2:]", lambda x: x[:, -2:]),
    ("x[:, [2, 0]]", lambda x: x[:, [2, 0]]),
    ("tril", lambda x: torch.tril(x, -1)),
    ("triu", lambda x: torch.triu(x, 1)),
    ("diagonal", lambda x: torch.diagonal(x, 1, 1, 2)),
    ("pad", lambda x: fn.pad(x, (1, 2))),
    ("pad 2", lambda x: fn.pad(x, (1, 0, 2, 1), value=3.0)),
    ("pad reflect", lambda x: fn.pad(x, (1, 2), "reflect")),
    ("pad replicate", lambda x: fn.pad(x, (2, 0), "replicate")),
    ("pad circular", lambda x: fn.pad(x, (1, 1), "circular")),
    ("unfold", lambda x: x.unfold(2, 2, 1)),
    ("ones_like", torch.ones_like),
    ("full_like", lambda x: torch.full_like(x, 2.5)),
    ("arange", lambda x: x + torch.arange(4)),
    ("einsum", lambda x: torch.einsum("bij,bkj->bik", x, x)),
    ("matmul", lambda x: x @ x.transpose(1, 2)),
    ("clamp", lambda x: x.clamp(-0.5, 1.0)),
    ("clamp min", lambda x: x.clamp(min=0.2)),
    ("masked", lambda x: x * (x > 0)),
    ("movedim", lambda x: x.movedim(0, 2)),
    ("meshgrid", lambda x: torch.meshgrid(x[0, 0], x[0, :, 0], indexing="ij")),
    ("one_hot", lambda x: fn.one_hot(x[..., 0].abs().int().long() % 5, 5)),
    ("cdist", lambda x: torch.cdist(x, x)),
    ("baddbmm", lambda x: torch.baddbmm(x[:, :, :3], x, x.transpose(1, 2), beta=0.5, alpha=2.0)),
    ("pixel_shuffle", lambda x: fn.pixel_shuffle(x.unsqueeze(1).repeat(1, 4, 1, 1), 2)),
    ("pixel_unshuffle", lambda x: fn.pixel_unshuffle(x[:, None, :2], 2)),
    ("write", lambda x: _write(x, 1)),
    ("write slice", lambda x: _write(x, slice(0, 2))),
    ("int", lambda x: x.int()),
    ("bool", lambda x: x.bool().float()),
    ("numel", lambda x: x * x.numel()),
    ("mean of ints", lambda x: x.int().float().mean()),
]


def _write(x: Any, where: Any) -> Any:
    y = x.clone()
    y[:, where] = 7.0
    return y


INDEXED: list[tuple[str, Function]] = [
    ("gather", lambda x, i: torch.gather(x, 1, i.long())),
    ("index_select", lambda x, i: torch.index_select(x, 1, i[0, 0].long())),
    ("scatter", lambda x, i: torch.scatter(x, 1, i[:, :1].long(), 9.0)),
    ("scatter_add", lambda x, i: torch.scatter_add(x, 1, i.long(), x)),
    ("embedding", lambda x, i: fn.embedding(i.long(), x[0])),
    ("one_hot", lambda x, i: fn.one_hot(i.long(), 4)),
    ("index", lambda x, i: x[:, i[0, 0].long()]),
    ("take_along_dim", lambda x, i: torch.take_along_dim(x, i.long(), 1)),
    ("add", lambda x, i: x + i),
    ("div", lambda x, i: i / 2),
    ("floor", lambda x, i: (i - 1) // 2),
    ("mod", lambda x, i: (i - 1) % 2),
    ("mul", lambda x, i: i * 3),
    ("sum", lambda x, i: i.sum(1)),
    ("max", lambda x, i: i.max(1)[0]),
    ("eq", lambda x, i: (i == 1).int()),
    ("cast", lambda x, i: i.float()),
    ("bitwise_and", lambda x, i: i & 1),
    ("where", lambda x, i: torch.where(i > 0, x, 0.0)),
    ("pow", lambda x, i: i**2),
]


def _moves() -> Iterator[Subject]:
    yield subject("torch movement", _plain(*MOVES))
    yield subject("torch indices", _plain(*INDEXED, shapes=[[2, 3, 4], [2, 3, 4]]), None, (1,))


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    for made in (_elements, _reductions, _moves):
        yield from made()
