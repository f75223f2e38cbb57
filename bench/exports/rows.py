"""A row of the table: the function that makes a network, and its inputs at two sizes.

    ROWS.add("bert", make_bert, input_ids=integers(300, "batch", "tokens"))

Extents are numbers, names or sums of names: `"past+tokens"`. `SIZES` has two numbers for each name:
the first is used for the export, the second for a further run of a dynamic export.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

SEED = 20
STEADY = 0.1
"""The least standard deviation of a channel that a batch norm uses, relative to its mean."""

SIZES: dict[str, tuple[int, int]] = {
    "batch": (2, 1),
    "height": (64, 96),
    "width": (96, 64),
    "tokens": (12, 19),
    "prompt": (9, 14),
    "past": (7, 16),
    "one": (2, 2),
    "samples": (1600, 2400),
    "frames": (40, 56),
}

Extent = int | str
Make = Callable[[], nn.Module]


@dataclass(frozen=True)
class Spec:
    """An input: `draw` makes its elements for a shape, `extents` are its extents."""

    draw: Callable[[tuple[int, ...]], Tensor]
    extents: tuple[Extent, ...]

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(_extent(extent, sizes) for extent in self.extents)

    @property
    def symbols(self) -> dict[int, str]:
        """The name of each dimension that a dynamic export leaves open."""
        return {i: e.replace("+", "_") for i, e in enumerate(self.extents) if isinstance(e, str)}


def _extent(extent: Extent, sizes: Mapping[str, int]) -> int:
    if isinstance(extent, int):
        return extent
    return sum(int(part) if part.isdigit() else sizes[part] for part in extent.split("+"))


def floats(*extents: Extent) -> Spec:
    """An input of normally distributed numbers, with mean 0 and variance 1."""
    return Spec(lambda shape: torch.randn(shape), extents)


def images(channels: int = 3, batch: Extent = "batch") -> Spec:
    """Images of any size, with mean 0 and variance 1."""
    return floats(batch, channels, "height", "width")


def unit(*extents: Extent) -> Spec:
    """An input of numbers between 0 and 1."""
    return Spec(lambda shape: torch.rand(shape), extents)


def integers(below: int, *extents: Extent) -> Spec:
    """An input of integers from 1 to below `below`, such as token ids."""
    return Spec(lambda shape: torch.randint(1, below, shape), extents)


def mask(*extents: Extent) -> Spec:
    """A padding mask: 1 for tokens; the end of the last row is 0."""

    def draw(shape: tuple[int, ...]) -> Tensor:
        ones = torch.ones(shape, dtype=torch.int64)
        ones[-1, shape[-1] - shape[-1] // 4 :] = 0
        return ones

    return Spec(draw, extents)


def ones(*extents: Extent) -> Spec:
    """A mask of ones."""
    return Spec(lambda shape: torch.ones(shape, dtype=torch.int64), extents)


@dataclass(frozen=True)
class Row:
    """One architecture, whose module takes the inputs in order and returns tensors."""

    name: str
    make: Make
    inputs: dict[str, Spec]
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)

    def arguments(self, at: int) -> dict[str, Tensor]:
        """The inputs at the first (0) or second (1) size; the same at each call."""
        torch.manual_seed(SEED + at)
        sizes = {name: both[at] for name, both in (SIZES | self.sizes).items()}
        return {name: spec.draw(spec.shape(sizes)) for name, spec in self.inputs.items()}

    def module(self) -> nn.Module:
        """The network in evaluation mode, with random weights and statistics of its own inputs."""
        torch.manual_seed(SEED)
        module = self.make()
        if not isinstance(module, Call):
            module = Call(module, lambda inner, *tensors: inner(*tensors))
        module.eval()
        settle(module, list(self.arguments(0).values()))
        return module


class Table:
    """Rows by name."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}

    def add(
        self,
        name: str,
        make: Make,
        sizes: dict[str, tuple[int, int]] | None = None,
        **inputs: Spec,
    ) -> None:
        """Add a row; `sizes` override those of `SIZES`."""
        assert name not in self.rows, f"two rows are named {name}"
        self.rows[name] = Row(name, make, inputs, sizes or {})


ROWS = Table()


class Call(nn.Module):
    """A module of tensors only: calls a function with the wrapped module and its tensors."""

    def __init__(self, module: nn.Module, call: Callable[..., object]) -> None:
        super().__init__()
        self.inner = module
        self.call = call

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        return tuple(flatten(self.call(self.inner, *tensors)))


def flatten(found: object) -> list[Tensor]:
    """The tensors of nested results, in order."""
    match found:
        case Tensor():
            return [found]
        case Mapping():
            return flatten(list(found.values()))
        case list() | tuple():
            return [tensor for one in found for tensor in flatten(one)]
        case _:
            return []


@torch.no_grad()
def settle(module: nn.Module, arguments: list[Tensor]) -> None:
    """Give batch norms differing scales, and the means and variances of the data that they see.

    Otherwise a deep network's outputs are nearly constant, and prove nothing. The same holds for a
    last layer of zeros, so matrices of zeros become random. A channel that hardly varies is not
    scaled up to unit variance, as it would show only rounding errors.
    """
    for parameter in module.parameters():
        if parameter.dim() > 1 and not parameter.any():
            nn.init.normal_(parameter, std=0.05)
    norms = [m for m in module.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    hooks = [norm.register_forward_pre_hook(_train_on_several) for norm in norms]
    for norm in norms:
        if norm.affine:
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.normal_(norm.bias, std=0.2)
        norm.momentum = None  # the plain mean over all calls
    if norms:
        module(*arguments)
    for norm, hook in zip(norms, hooks, strict=True):
        hook.remove()
        norm.eval()
        if norm.running_mean is not None and norm.running_var is not None:
            least = (STEADY * norm.running_mean) ** 2
            norm.running_var.copy_(torch.maximum(norm.running_var, least))


def _train_on_several(norm: nn.Module, arguments: tuple[Tensor, ...]) -> None:
    """Let a batch norm learn its input's statistics, unless each channel has only one value."""
    (x,) = arguments
    norm.train(x.numel() > x.shape[1])
