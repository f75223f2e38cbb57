"""Layers and operations of Keras against Keras."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from .cases import Subject

PARTS = ("keras_models", "keras_sequences", "keras_layers", "keras_ops")


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    for part in PARTS:
        yield from import_module(f"{__package__}.{part}").subjects()
