"""PyTorch's operators and layers, by torch.export and torch.compile, against eager PyTorch."""

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
    """Yield parts of models, then all other subjects, shuffled so that a partial run covers all
    kinds.
    """
    for module in (pytorch_vision, pytorch_language, pytorch_routines):
        yield from module.subjects()
    modules = (pytorch_shapes, pytorch_operands, pytorch_layers, pytorch_samples)
    found = [subject for module in modules for subject in module.subjects()]
    random.Random(1).shuffle(found)
    yield from found
