"""CoreML's operations, and PyTorch's functions converted by coremltools.

CoreML predicts on macOS only. The expected outputs are those of coremltools' evaluation of
operations on constants; if it has no rule for one, those of PyTorch or NumPy; for converted models,
those of the PyTorch model.
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
    """Yield the subjects of this file."""
    for part in PARTS:
        yield from import_module(f"{__package__}.{part}").subjects()
