"""TensorFlow's raw operators, by their signatures, and functions of its modules."""

from __future__ import annotations

from collections.abc import Iterator

from ..cases import Subject
from . import elementwise, functions, images, matrices, movement, networks, ragged, reductions, text

ROOMS = (
    elementwise, movement, reductions, networks, images, matrices, text, ragged, functions,
)  # fmt: skip


def subjects() -> Iterator[Subject]:
    """Yield the subjects of all files."""
    for room in ROOMS:
        yield from room.subjects()
