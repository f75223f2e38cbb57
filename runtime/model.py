"""What every compiled model is to its caller: a callable on NumPy arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..ir.diagnostics import NncError
from ..ir.numpy_types import type_to_numpy
from ..ir.types import ScalarType, TensorType, Type
from .program import Signature


class Model(ABC):
    """A compiled model, wherever it runs."""

    def __init__(self, found: Signature) -> None:
        self.input_names, self.input_types = found.input_names, found.input_types
        self.signature = found
        self.output_names, self.output_types = found.output_names, found.output_types
        self._inputs: dict[str, _Input | _HostInput] = {
            name: _Input(name, type) if _is_memory(type) else _HostInput(name, type)
            for name, type in zip(found.input_names, found.input_types, strict=True)
        }

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """The output, or a tuple of several. Inputs in order, by name, or as one mapping.

        Raises NncError for inputs of another type or shape than the model's.
        """
        if len(arrays) == 1 and isinstance(arrays[0], Mapping) and not named:
            named, arrays = dict(arrays[0]), ()
        outputs = tuple(self._call(self._in_order(arrays, named)))
        return outputs[0] if len(outputs) == 1 else outputs

    def run(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """The outputs by name, from inputs by name."""
        outputs = self._call(self._in_order((), inputs))
        return dict(zip(self.output_names, outputs, strict=True))

    @property
    @abstractmethod
    def threads(self) -> int:
        """How many threads a call may use; without parallel loops the number has no effect."""

    @abstractmethod
    def _call(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        """The outputs in order, from checked inputs in order."""

    def _in_order(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> list[np.ndarray]:
        inputs = self._inputs
        if not arrays and len(named) == len(inputs) and all(map(named.__contains__, inputs)):
            return [one.checked(named[name]) for name, one in inputs.items()]
        names = self.input_names
        if len(arrays) > len(names):
            raise NncError(f"expected {len(names)} inputs, got {len(arrays)}")
        given = dict(zip(names, arrays, strict=False))
        for name, array in named.items():
            if name not in inputs:
                known = ", ".join(f"'{n}'" for n in names) or "none"
                raise NncError(f"there is no input '{name}'; the inputs are {known}")
            if name in given:
                raise NncError(f"input '{name}' is given twice")
            given[name] = array
        missing = [n for n in names if n not in given]
        if missing:
            raise NncError("missing input " + ", ".join(f"'{n}'" for n in missing))
        return [one.checked(given[name]) for name, one in inputs.items()]


def _is_memory(type: Type) -> bool:
    """Whether values of a type are elements in memory, and none that only a host handles."""
    return isinstance(type, TensorType) and isinstance(type.element_type, ScalarType)


class _HostInput:
    """What an input must be that is no tensor in memory."""

    def __init__(self, name: str, type: Type) -> None:
        self.name, self.type = name, type

    def checked(self, value: Any) -> Any:
        """The input as a host holds it. Raises NncError."""
        from ..dialects.nn.host_types import held

        try:
            return held(value, self.type)
        except NncError as error:
            message = f"input '{self.name}': expected {self.type}, got {error.message}"
            raise NncError(message) from None


class _Input:
    """What an input must be."""

    def __init__(self, name: str, type: TensorType) -> None:
        self.name, self.type = name, type
        self.dtype = type_to_numpy(type.element_type)
        self.shape = type.shape

    def checked(self, value: Any) -> np.ndarray:
        """The input as a contiguous array of the right type. Raises NncError."""
        if (
            type(value) is np.ndarray
            and value.dtype is self.dtype
            and value.shape == self.shape
            and value.flags.c_contiguous
        ):
            return value
        array = np.asarray(value)
        fits = array.ndim == len(self.shape) and all(
            want is None or want == have
            for want, have in zip(self.shape, array.shape, strict=False)
        )
        if array.dtype.newbyteorder("=") != self.dtype or not fits:
            expected = f"expected {self.type}, got {array.dtype} {array.shape}"
            raise NncError(f"input '{self.name}': {expected}")
        if array.dtype != self.dtype:
            array = array.astype(self.dtype)
        return np.ascontiguousarray(array) if array.ndim else array.reshape(())
