"""PyTorch's operators and layers, through torch.export and torch.compile, against eager PyTorch."""

from __future__ import annotations

import random
from collections.abc import Iterator

from . import (
    pytorch_language,
    pytorch_layers,
    pytorch_operands,
    pytorch_routines,
    pytorch_samples,
    pytorch_shapes,
    pytorch_vision,
)
from .cases import Subject


def subjects() -> Iterator[Subject]:
    """Parts of models; then all others, mixed, so that a part of a run has something of all."""
    for module in (pytorch_vision, pytorch_language, pytorch_routines):
        yield from module.subjects()
    modules = (pytorch_shapes, pytorch_operands, pytorch_layers, pytorch_samples)
    found = [subject for module in modules for subject in module.subjects()]
    random.Random(1).shuffle(found)
    yield from found
