"""Schedules that are searched once for a model and stored, for callers that name no folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.cache_home import cache_home
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.numpy_types import number_kind, type_to_numpy
from ...ir.types import TensorType
from ...kernels.tuned import TunedFolder
from ...targets.attribute import target_of
from ..cache import model_key
from .tune import tune_model

if TYPE_CHECKING:
    from ...runtime.model import Model

_DONE = "done"
"""The file that marks a folder's search of schedules as finished."""


def kept_schedules(module: Operation, seconds: float, threads: int) -> TunedFolder:
    """The folder of a model's schedules, which are searched on first use.

    The module is not changed. Raises NncError if it cannot measure or write.
    """
    key = model_key(module, target_of(module), f"tuned {threads}")
    if key is None:
        raise NncError("its weights are missing")
    folder = cache_home() / "tuned" / key
    if not (folder / _DONE).exists():
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NncError(f"cannot write '{folder}': {error.strerror or error}") from None
        tune_model(module.clone(), random_inputs, folder, seconds=seconds, threads=threads)
        (folder / _DONE).touch()
    return TunedFolder(folder)


def random_inputs(model: Model) -> dict[str, Any]:
    """Standard normal floats, integers and bools of 0 and 1. Raises NncError for unknown shapes."""
    generator = np.random.default_rng(0)
    found: dict[str, Any] = {}
    for name, type in zip(model.input_names, model.input_types, strict=True):
        if not isinstance(type, TensorType) or not type.has_static_shape:
            raise NncError(f"input '{name}' is {type}, of no known shape")
        dtype = type_to_numpy(type.element_type)
        whole = number_kind(dtype) in "biu"
        numbers = (
            generator.integers(0, 2, type.shape) if whole else generator.normal(size=type.shape)
        )
        found[name] = numbers.astype(dtype)
    return found
