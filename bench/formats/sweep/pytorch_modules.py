"""Parts of models as subjects: modules with weights, under autocast or in training mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from .cases import Config, Made, Subject
from .pytorch_base import FLOATS, WAYS, laid_out, made, numbers
from .sampled import SampledSubject

Block = Callable[[Config], nn.Module]
"""Makes the module of a configuration."""
Part = Callable[[Callable[..., torch.Tensor], int], Sequence[torch.Tensor]]
"""A function that returns the tensors of a run. It gets a function that makes a tensor of a shape,
and by how much dimensions are larger: 0, or 1 in the second run.
"""


class Autocast(nn.Module):
    """A module under autocast: PyTorch computes parts of it in 16 bits."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, *given: torch.Tensor) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return self.module(*given)


class Trained(nn.Module):
    """A module in training mode, which resets its buffers before each call and
    also returns them.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module
        self.start = [x.clone() for x in module.buffers()]

    def eval(self) -> Trained:
        """Does nothing: the module stays in training mode."""
        return self.train()

    def train(self, mode: bool = True) -> Trained:
        """Enters training mode, whatever `mode` is."""
        return super().train(True)

    def forward(self, *given: torch.Tensor) -> Any:
        for buffer, start in zip(self.module.buffers(), self.start, strict=True):
            buffer.copy_(start)
        found = self.module(*given)
        return found, [x.clone() for x in self.module.buffers()]


def part_subject(
    name: str,
    block: Block,
    part: Part,
    single: int = 6,
    pairs: int = 4,
    variants: Sequence[str] = ("first", "second", "third"),
    **choices: Sequence[Any],
) -> Subject:
    """A subject for a module: in training mode or not, in an element type or under autocast."""

    def make(config: Config, rng: np.random.Generator, folder: Any) -> Made:
        torch.manual_seed(int(rng.integers(2**31)))
        element = getattr(torch, config["elements"])
        module: nn.Module = block(config).to(element)
        with torch.no_grad():
            for key, value in module.named_buffers():
                if "running" in key:
                    value.copy_(torch.rand(value.shape) + 0.5)

        def tensor(*shape: int) -> torch.Tensor:
            return numbers(shape, config["elements"], "plain", rng)

        runs = [[laid_out(x, config["layout"]) for x in part(tensor, size)] for size in (0, 1)]
        if config["policy"] == "autocast":
            module = Autocast(module)
        if config["mode"] == "train":
            module = Trained(module)
        tolerance = {"autocast": 2**-5}.get(config["policy"])
        return made(module, runs, config, folder, tolerance)

    return SampledSubject(
        name,
        {
            "variant": list(variants), "elements": FLOATS, "policy": ["plain", "autocast"],
            "layout": ["plain", "transposed", "strided"], "mode": ["eval", "train"], **choices,
            **WAYS,
        },
        make,
        lambda config: config["policy"] == "plain" or config["elements"] == "float32",
        single=single,
        pairs=pairs,
    )  # fmt: skip
