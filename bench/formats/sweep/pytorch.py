"""PyTorch's operators and layers, through torch.export and torch.compile, against eager PyTorch."""

from __future__ import annotations

import random
from collections.abc import Iterator

from . import pytorch_layers, pytorch_operands, pytorch_samples, pytorch_shapes
from .cases import Subject


def subjects() -> Iterator[Subject]:
    """All subjects, mixed, so that a part of a run has something of all."""
    modules = (pytorch_shapes, pytorch_operands, pytorch_layers, pytorch_samples)
    found = [subject for module in modules for subject in module.subjects()]
    random.Random(1).shuffle(found)
    yield from found
