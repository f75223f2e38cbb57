"""Makes Keras files of configurations, and computes Keras' outputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import keras
import numpy as np

from .cases import Config, Made, Subject

L = keras.layers
Shape = Sequence[int | None]

FORMS = {"form": ["keras", "h5"]}
POLICIES = {"policy": ["float32", "mixed_float16", "float64", "mixed_bfloat16"]}
BATCHES = {"batch": [3, 1, 0]}
OPEN = {"open": [False, True]}
COMMON = FORMS | POLICIES | BATCHES
"""Parameters that are combined with those of all layers."""
TOLERANCES = {"mixed_float16": 2**-8, "mixed_bfloat16": 2**-5}
"""The tolerances for policies under which Keras rounds after each step of a layer."""
COARSE = {
    "Resizing": "TensorFlow resizes images in f32",
    "image.resize": "TensorFlow resizes images in f32",
    "UpSampling": "TensorFlow resizes images in f32",
    "CenterCrop": "TensorFlow resizes images in f32",
    "Normalization": "the statistics are f32",
    "Normalizations": "LayerNormalization computes in f32",
    "heads": "the scale of scores is an f32",
    "masks passed on": "the scale of scores is an f32",
    "vectors": "Python's numbers become f32 first, as those of elu",
}
"""Subjects whose results in f64 are exact to 32 bits only, and why."""
CANCELLING = ("model: siamese", "model: transformer")
"""Subjects whose results are small differences of numbers that were rounded to 16 bits."""
EXTENT = 3
"""How much larger a dynamic dimension is in the second run."""


class Inputs:
    """The inputs of a model, and their values."""

    def __init__(self, config: Config, rng: np.random.Generator) -> None:
        self.rng = rng
        self.batch = config.get("batch", 3)
        self.open = config.get("open", False)
        self.tensors: list[Any] = []
        self._fills: list[tuple[Sequence[int], Callable[[tuple[int, ...]], np.ndarray]]] = []

    def add(self, shape: Sequence[int], fill: Any, dtype: str, batch: int | None = None) -> Any:
        """A new input; all dimensions but the batch and the last one may be dynamic."""
        known = [None if self.open and i < len(shape) - 1 else d for i, d in enumerate(shape)]
        how = {"batch_shape": (batch, *known)} if batch else {"shape": known}
        tensor = keras.Input(**how, dtype=dtype, name=f"x{len(self.tensors)}")
        self.tensors.append(tensor)
        self._fills.append((shape, fill))
        return tensor

    def floats(self, *shape: int, batch: int | None = None, dtype: str = "float32") -> Any:
        """A new input of normally distributed numbers."""
        return self.add(shape, lambda s: self.rng.standard_normal(s).astype(dtype), dtype, batch)

    def integers(self, *shape: int, least: int = 0, most: int = 5, dtype: str = "int32") -> Any:
        """A new input of integers from `least` to below `most`."""
        fill = lambda s: self.rng.integers(least, most, s).astype(dtype)  # noqa: E731
        return self.add(shape, fill, dtype)

    def given(self, larger: bool) -> list[np.ndarray]:
        """Values for all inputs; if `larger`, dynamic dimensions are larger, for the second run."""
        found = []
        for (shape, fill), tensor in zip(self._fills, self.tensors, strict=True):
            more = [d + EXTENT * (larger and own is None)
                    for d, own in zip(shape, tensor.shape[1:], strict=True)]  # fmt: skip
            batch = self.batch if tensor.shape[0] is None else tensor.shape[0]
            found.append(fill((batch, *more)))
        return found


Build = Callable[[Config, Inputs], Any]
"""A function of a configuration and inputs that returns the outputs: a tensor, or
nested tensors.
"""


def made(name: str, build: Build, config: Config, rng: np.random.Generator, folder: Path) -> Made:
    """The model's file, and what Keras computes with it."""
    keras.backend.clear_session(free_memory=False)
    keras.config.set_dtype_policy(config.get("policy", "float32"))
    inputs = Inputs(config, rng)
    outputs = keras.tree.flatten(build(config, inputs))
    model = keras.Model(inputs.tensors, outputs)
    for weight in model.weights:
        weight.assign(_values(weight, rng))
    path = folder / f"model.{config.get('form', 'keras')}"
    model.save(path)
    runs = []
    for larger in (False, True)[: 1 + inputs.open]:
        values = inputs.given(larger)
        found = [*keras.tree.flatten(model(values, training=False)), *_states(model)]
        runs.append((_named(inputs, values), [keras.ops.convert_to_numpy(y) for y in found]))
    policy = config.get("policy")
    coarse = policy == "float64" and name in COARSE
    tolerance = 2**-20 if coarse else TOLERANCES.get(policy)
    if tolerance and name in CANCELLING:
        tolerance *= 4
    return Made(path, runs, tolerance=tolerance)


def _states(model: Any) -> list[Any]:
    """The states of stateful layers after the last call."""
    layers = [layer for layer in model.layers if getattr(layer, "stateful", False)]
    return [state.value for layer in layers for state in keras.tree.flatten(layer.states)]


def _named(inputs: Inputs, values: list[np.ndarray]) -> Mapping[str, np.ndarray]:
    return {f"x{i}": value for i, value in enumerate(values)}


def _values(weight: Any, rng: np.random.Generator) -> np.ndarray:
    """Random values for a weight; variances are positive."""
    own = keras.ops.convert_to_numpy(weight)
    if "float" not in str(weight.dtype):
        return own
    found = rng.standard_normal(own.shape) * (0.4 if own.ndim > 1 else 0.5)
    if "variance" in weight.path:
        found = np.abs(found) + 0.5
    return found.astype(own.dtype)


def subject(
    name: str,
    build: Build,
    choices: Mapping[str, Sequence[Any]],
    allowed: Callable[[Config], bool] = lambda config: True,
    common: Mapping[str, Sequence[Any]] = COMMON,
) -> Subject:
    """A subject whose models are made by `build`, in both file formats."""
    make = lambda config, rng, folder: made(name, build, config, rng, folder)  # noqa: E731
    return Subject(name, {**choices, **common}, make, allowed)


def arguments(config: Config, *names: str) -> dict[str, Any]:
    """The parameters of a configuration with these names, as keyword arguments."""
    return {name: config[name] for name in names}
