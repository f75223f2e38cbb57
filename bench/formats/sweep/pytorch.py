"""PyTorch's operators and layers, through torch.export and torch.compile, against eager PyTorch."""

from __future__ import annotations

from collections.abc import Iterator

from . import pytorch_samples
from .cases import Subject


def subjects() -> Iterator[Subject]:
    """All subjects."""
    for module in (pytorch_samples,):
        yield from module.subjects()
