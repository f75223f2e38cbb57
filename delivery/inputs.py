"""The inputs that a model is measured on: a user's, or random ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from ..driver.checking.dimensions import input_names
from ..driver.hosting import entry_of
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.numpy_types import number_kind, type_to_numpy
from ..ir.types import TensorType
from .measuring import FOREIGN

Make = Callable[[TensorType, np.random.Generator, str], np.ndarray]


def gathered(
    module: Operation, given: Mapping[str, np.ndarray], make: Make, seed: int
) -> dict[str, np.ndarray]:
    """The inputs of a module of the graph by name, in its order: those given, and `make` for the
    others. Element types that NumPy lacks become float32 or int8.

    Raises NncError, also for values that are not tensors of numbers.
    """
    entry = entry_of(module)
    if entry is None:
        raise NncError("the module has no entry to be run")
    generator = np.random.default_rng(seed)
    types = dict(zip(input_names(entry), entry.function_type.inputs, strict=False))
    for name in given:
        if name not in types:
            known = ", ".join(f"'{one}'" for one in types) or "none"
            raise NncError(f"there is no input '{name}'; the inputs are {known}")
    found = {}
    for name, type in types.items():
        dtype = _dtype(name, type)
        array = _checked(name, given[name], type, dtype) if name in given else None
        found[name] = _stored(make(type, generator, name) if array is None else array, dtype)
    return found


def _dtype(name: str, type: Any) -> np.dtype:
    with suppress(NncError):
        if isinstance(type, TensorType):
            dtype = np.dtype(type_to_numpy(type.element_type))
            if number_kind(dtype) in "biufc":
                return dtype
    raise NncError(
        f"input '{name}' is {type}: models whose inputs are tensors of numbers are packaged"
    )


def _checked(name: str, array: np.ndarray, type: TensorType, dtype: np.dtype) -> np.ndarray:
    """An array converted to a type. Raises NncError if it does not fit."""
    wanted, kind = number_kind(dtype), number_kind(array.dtype)
    if wanted != kind and not (wanted in "iu" and kind in "iu"):
        raise NncError(f"input '{name}' is {type}, but the array given is of {array.dtype}")
    fits = len(array.shape) == len(type.shape) and all(
        extent is None or extent == found
        for extent, found in zip(type.shape, array.shape, strict=True)
    )
    if not fits:
        raise NncError(f"input '{name}' is {type}, but the array given is {list(array.shape)}")
    return array


def _stored(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The array in the element type itself, or in one that files support."""
    if dtype.isbuiltin == FOREIGN:
        dtype = np.dtype(np.float32 if number_kind(dtype) == "f" else np.int8)
    return np.asarray(array).astype(dtype)
