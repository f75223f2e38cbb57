"""TensorFlow Lite's operators against its reference kernels, in files written directly.

Results that are integers have to be equal. Types: floats; int8, uint8 and int16 with scales;
weights of float16 behind DEQUANTIZE; weights of int8 and floats around ("dynamic").
"""

from __future__ import annotations

from collections.abc import Iterator

from . import (
    tflite_elementwise,
    tflite_images,
    tflite_movement,
    tflite_places,
    tflite_products,
    tflite_recurrence,
    tflite_searches,
)
from .cases import Subject


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    yield from tflite_elementwise.subjects()
    yield from tflite_products.subjects()
    yield from tflite_images.subjects()
    yield from tflite_movement.subjects()
    yield from tflite_places.subjects()
    yield from tflite_searches.subjects()
    yield from tflite_recurrence.subjects()
