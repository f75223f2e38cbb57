"""PaddlePaddle's operators and layers, in the form of version 3; see `paddle2.py`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from .cases import Subject

PARTS = ("paddle_elementwise", "paddle_movement", "paddle_images", "paddle_layers")


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    for part in PARTS:
        yield from import_module(f"{__package__}.{part}").subjects()
