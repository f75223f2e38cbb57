"""CoreML's operations by their own value inference, and PyTorch's by coremltools' converter.

CoreML predicts on macOS only. What judges is how coremltools evaluates an operation of constants,
where it has no such rule PyTorch or NumPy, and for converted models the PyTorch model.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from .cases import Subject

PARTS = (
    "coreml_operations",
    "coreml_movement",
    "coreml_layers",
    "coreml_sampling",
    "coreml_torch",
    "coreml_torch_layers",
)


def subjects() -> Iterator[Subject]:
    """All subjects."""
    for part in PARTS:
        yield from import_module(f"{__package__}.{part}").subjects()
