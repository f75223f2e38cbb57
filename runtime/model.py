"""The common interface of compiled models: callables on NumPy arrays."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..ir.diagnostics import Diagnostic, NncError
from ..ir.numpy_types import type_to_numpy
from ..ir.types import ScalarType, TensorType, Type
from .dlpack import as_array, is_tensor
from .program import Signature
from .timed import TimedRuns


class Model(ABC):
    """A compiled model, wherever it runs."""

    parts: tuple[Model, ...] = ()
    """The models that it consists of."""
    is_elsewhere: ClassVar[bool] = False
    """Whether the code runs in another process."""

    def __init__(self, found: Signature) -> None:
        self.input_names, self.input_types = found.input_names, found.input_types
        self.signature = found
        self.output_names, self.output_types = found.output_names, found.output_types
        self._named = _places(found.input_dims)
        self._fitted: list[tuple[int, ...]] = []
        self._starts = {
            name: text.split()
            for name, text in zip(found.input_names, found.input_starts, strict=False)
            if text
        }
        """The initial values of states as text: one for each element, or one for all."""
        self._complex = {found.output_names.index(name) for name in found.complex_outputs}
        self._inputs: dict[str, _Input | _HostInput] = {
            name: _Input(name, type) if _is_memory(type) else _HostInput(name, type)
            for name, type in zip(found.input_names, found.input_types, strict=True)
        }

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Run the model on inputs in order, by name, or as one mapping; returns the output, or a
        tuple of several.

        Inputs are arrays, or tensors of any framework that supports DLPack; outputs are arrays.
        Raises NncError for inputs of another type or shape than the model's.
        """
        if len(arrays) == 1 and isinstance(arrays[0], Mapping) and not named:
            named, arrays = dict(arrays[0]), ()
        outputs = tuple(self._as_given(self._call(self._in_order(arrays, named))))
        return outputs[0] if len(outputs) == 1 else outputs

    def run(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """The outputs by name, for inputs by name; omitted states have their initial values."""
        outputs = self._as_given(self._call(self._in_order((), inputs)))
        return {name: outputs[i] for i, name in enumerate(self.output_names)}

    def timed_on(self, inputs: Mapping[str, Any]) -> TimedRuns:
        """Runs on these inputs, timed where the model's code runs.

        Raises NncError if a run alternates between there and this process, as the transfers would
        be timed.
        """
        if any(part.is_elsewhere for part in self.parts):
            raise NncError(
                "the model has steps that run in Python, so a run alternates between this process "
                "and the engine, and its time would include the transfers"
            )
        return _RunsHere(self, inputs)

    @property
    def states(self) -> Sequence[str]:
        """The inputs that a caller may leave out."""
        return tuple(self._starts)

    @property
    @abstractmethod
    def threads(self) -> int:
        """The number of threads that a call may use; without parallel loops it has no effect."""

    def release_memory(self) -> None:
        """Free memory kept for later calls, except what running calls use."""
        for part in self.parts:
            part.release_memory()

    @abstractmethod
    def _call(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        """The outputs in order, from checked inputs in order."""

    def _as_given(self, outputs: list[np.ndarray]) -> list[np.ndarray]:
        """The outputs, with those that are complex for the caller converted."""
        if not self._complex:
            return outputs
        return [from_parts(a) if i in self._complex else a for i, a in enumerate(outputs)]

    def _failed(self, status: int, inputs: Sequence[np.ndarray]) -> NncError:
        """The error for a failed run, with the inputs that may have caused it."""
        notes = [
            Diagnostic("note", f"input '{name}' {_described(array)}")
            for name, type, array in zip(self.input_names, self.input_types, inputs, strict=True)
            if not type.has_static_shape or _is_listed(array)
        ]
        return NncError(self.signature.failure(status), notes=notes)

    def _in_order(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> list[np.ndarray]:
        inputs = self._inputs
        if not arrays and len(named) == len(inputs) and named.keys() == inputs.keys():
            return self._fitting([one.checked(named[name]) for name, one in inputs.items()])
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
        if self._starts:
            given = self._started(given)
        missing = [n for n in names if n not in given]
        if missing:
            raise NncError("missing input " + ", ".join(f"'{n}'" for n in missing))
        return self._fitting([one.checked(given[name]) for name, one in inputs.items()])

    def _started(self, given: dict[str, Any]) -> dict[str, Any]:
        """The inputs, with omitted states at their initial values.

        An unknown dimension of a state gets the extent of the same name in a given input. A name
        that occurs only in states is the length of a cache, which is empty at first.
        """
        dims = dict(zip(self.input_names, self.signature.input_dims, strict=False))
        extents: dict[str, int] = {}
        for name in given.keys() & dims.keys():
            extents.update(zip(dims[name], np.shape(given[name]), strict=False))
        started = {}
        for name, type in zip(self.input_names, self.input_types, strict=True):
            if name in given or name not in self._starts:
                continue
            names = dims.get(name) or [""] * type.rank
            if all(d is not None or n for d, n in zip(type.shape, names, strict=True)):
                pairs = zip(type.shape, names, strict=True)
                shape = [extents.get(n, 0) if d is None else d for d, n in pairs]
                kind = type_to_numpy(type.element_type)
                started[name] = filled(self._starts[name], shape, np.dtype(kind))
        return given | started

    def _fitting(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """The inputs, if dimensions of one name have one extent. Raises NncError if not."""
        if not self._named:
            return arrays
        shapes = [array.shape for array in arrays]
        if shapes == self._fitted:  # as in the last call
            return arrays
        for name, ((first, at), *others) in self._named.items():
            for i, axis in others:
                if arrays[i].shape[axis] != arrays[first].shape[at]:
                    raise NncError(
                        f"dimension '{name}' is {arrays[first].shape[at]} in input "
                        f"'{self.input_names[first]}' but {arrays[i].shape[axis]} in input "
                        f"'{self.input_names[i]}'"
                    )
        self._fitted = shapes
        return arrays


def _places(dims: Sequence[Sequence[str]]) -> dict[str, list[tuple[int, int]]]:
    """The (input, axis) pairs of each dimension name that occurs several times."""
    found: dict[str, list[tuple[int, int]]] = {}
    for i, names in enumerate(dims):
        for axis, name in enumerate(names):
            if name:
                found.setdefault(name, []).append((i, axis))
    return {name: places for name, places in found.items() if len(places) > 1}


def filled(numbers: list[str], shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An array from numbers in text: one for each element, or one for all."""
    values = [int(text) if text.lstrip("-").isdigit() else float(text) for text in numbers]
    if len(values) == 1:
        return np.full(shape, values[0], dtype)
    return np.array(values, dtype).reshape(shape)


def _is_memory(type: Type) -> bool:
    """Whether values of a type are elements in memory, not objects of the host."""
    return isinstance(type, TensorType) and isinstance(type.element_type, ScalarType)


class _HostInput:
    """The requirements of an input that is not a tensor in memory."""

    def __init__(self, name: str, type: Type) -> None:
        self.name, self.type = name, type

    def checked(self, value: Any) -> Any:
        """The input in the host's form. Raises NncError if it does not fit."""
        from ..dialects.nn.host_types import held

        try:
            return held(value, self.type)
        except NncError as error:
            message = f"input '{self.name}': expected {self.type}, got {error.message}"
            raise NncError(message) from None


_LISTED = 8
"""The most integers of an input that a message lists."""


def _is_listed(array: np.ndarray) -> bool:
    return array.dtype.kind in "iu" and array.size <= _LISTED


def _described(array: np.ndarray) -> str:
    """An input's shape, or its elements if they are a few integers, for an error message."""
    return f"is {array.tolist()}" if _is_listed(array) else f"has shape {list(array.shape)}"


def in_parts(array: np.ndarray) -> np.ndarray:
    """Complex numbers as a real array with a last dimension of two parts."""
    return np.stack([np.real(array), np.imag(array)], -1)


def from_parts(array: np.ndarray) -> np.ndarray:
    """A real array with a last dimension of two parts as complex numbers, without a copy."""
    kind = np.complex128 if array.dtype == np.float64 else np.complex64
    return np.ascontiguousarray(array).view(kind)[..., 0]


class _Input:
    """The requirements of an input; complex numbers are accepted as pairs of parts."""

    def __init__(self, name: str, type: TensorType) -> None:
        self.name, self.type = name, type
        self.dtype = type_to_numpy(type.element_type)
        self.shape = type.shape
        self._known = [(i, n) for i, n in enumerate(type.shape) if n is not None]
        self._last = type.shape

    def checked(self, value: Any) -> np.ndarray:
        """The input as a contiguous array of the right type. Raises NncError."""
        if (
            type(value) is np.ndarray
            and (value.dtype is self.dtype or value.dtype == self.dtype)
            and value.flags.c_contiguous
            and (value.shape == self._last or self._fits(value.shape))
        ):
            return value
        array = self._array(value)
        if array.dtype.kind == "c" and self.shape and self.shape[-1] == 2:
            array = in_parts(array)
        if array.dtype.newbyteorder("=") != self.dtype or not self._fits(array.shape):
            expected = f"expected {self.type}, got {array.dtype} {array.shape}"
            raise NncError(f"input '{self.name}': {expected}")
        if array.dtype != self.dtype:
            array = array.astype(self.dtype)
        return np.ascontiguousarray(array) if array.ndim else array.reshape(())

    def _array(self, value: Any) -> np.ndarray:
        if not is_tensor(value):
            return np.asarray(value)
        try:
            return as_array(value)
        except NncError as error:
            raise NncError(f"input '{self.name}': {error.message}") from None

    def _fits(self, shape: tuple[int, ...]) -> bool:
        if len(shape) != len(self.shape) or any(shape[i] != n for i, n in self._known):
            return False
        self._last = shape
        return True


class _RunsHere(TimedRuns):
    """Runs of a model in this process, from the call to its outputs."""

    def __init__(self, model: Model, inputs: Mapping[str, Any]) -> None:
        self._model, self._inputs = model, inputs
        self._outputs: Mapping[str, Any] = {}

    def run(self) -> int:
        started = time.perf_counter_ns()
        self._outputs = self._model.run(self._inputs)
        return time.perf_counter_ns() - started

    def outputs(self) -> Mapping[str, Any]:
        return self._outputs
