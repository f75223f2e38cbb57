"""Converts an ONNX model of f32 to f16, bf16 or int8."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from nnc.delivery.precision import PRECISIONS, in_precision
from onnx import helper

from .command import model_file

TYPES = tuple(PRECISIONS)
_CALIBRATED = 4
"""The number of random inputs on which the ranges of an int8 model's tensors are observed."""


def as_type(path: Path, type: str, folder: Path) -> Path:
    """The path of the model in an element type; a new file is in `folder`. Raises NncError."""
    return in_precision(model_file(path), type, folder, _random_inputs(path))


def _random_inputs(path: Path) -> Iterator[dict[str, np.ndarray]]:
    graph, random = onnx.load(path, load_external_data=False).graph, np.random.default_rng(0)
    weights = {tensor.name for tensor in graph.initializer}
    for _ in range(_CALIBRATED):
        found = {}
        for info in graph.input:
            if info.name in weights:
                continue
            type = info.type.tensor_type
            shape = [d.dim_value or 1 for d in type.shape.dim]
            dtype = helper.tensor_dtype_to_np_dtype(type.elem_type)
            whole = np.issubdtype(dtype, np.integer) or dtype == np.bool_
            numbers = random.integers(0, 2, shape) if whole else random.standard_normal(shape)
            found[info.name] = numbers.astype(dtype)
        yield found
