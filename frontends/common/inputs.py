"""The inputs of a model, with shapes, extents and values as the user gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...ir.diagnostics import NncError
from ...ir.numpy_types import number_kind, type_to_numpy
from ...ir.types import Dim, TensorType, Type, UnrankedTensorType, size_fault


@dataclass(frozen=True)
class InputChoices:
    """What the user specifies for inputs: shapes, extents of symbolic dimensions, and values."""

    shapes: Mapping[str, Sequence[int | None]]
    dims: Mapping[str, int]
    constants: Mapping[str, Any]

    @staticmethod
    def of(
        shapes: Mapping[str, Sequence[int | None]] | None = None,
        dims: Mapping[str, int] | None = None,
        constants: Mapping[str, Any] | None = None,
    ) -> InputChoices:
        """The user's choices, with empty tables for those left out."""
        return InputChoices(shapes or {}, dims or {}, constants or {})


@dataclass(frozen=True)
class Input:
    """A model's declaration of an input; the type is unranked if the model does not give the rank.

    `dims` are the names of the dimensions, "" for an unnamed one; equal names mean equal extents.
    If the shape is `assumed`, because the model does not say, the user may give any other.
    """

    name: str
    type: Type
    dims: Sequence[str] = ()
    assumed: bool = False


class Place(Protocol):
    """An object that makes errors which name the model."""

    def error(self, message: str) -> NncError:
        """An error with this message that names the model."""
        ...


def input_types(place: Place, inputs: Sequence[Input], choices: InputChoices) -> dict[str, Type]:
    """The type of every input, in order.

    Raises:
        NncError: a rank is unknown, or a given shape, extent or value does not fit.
    """
    names = [value.name for value in inputs]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise place.error(f"two inputs are named '{name}'")
    for what, given in (("shape", choices.shapes), ("value", choices.constants)):
        for name in given:
            if name not in names:
                known = ", ".join(f"'{n}'" for n in names) or "none"
                raise place.error(
                    f"a {what} is given for '{name}', which is not an input; inputs: {known}"
                )
    bound = _bind_symbols(place, inputs, choices)
    return {
        value.name: _input_type(place, value, choices.shapes.get(value.name), bound)
        for value in inputs
    }


def constant_arrays(
    place: Place, types: Mapping[str, Type], constants: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """The values given for inputs, as arrays of the inputs' types.

    Python numbers and lists are converted to the input's element type if it can hold them; an array
    must have this type already. Raises NncError for a value that does not fit.
    """
    return {name: _constant(place, name, types[name], given) for name, given in constants.items()}


def _constant(place: Place, name: str, expected: Type, given: Any) -> np.ndarray:
    if not isinstance(expected, TensorType):
        raise place.error(f"a value is given for input '{name}', which is not a tensor")
    dtype = type_to_numpy(expected.element_type)
    try:
        array = np.asarray(given)
    except (ValueError, OverflowError):  # rows of unequal lengths
        raise place.error(
            f"the value given for input '{name}' is not an array: {given!r}"
        ) from None
    fits = len(expected.shape) == array.ndim and all(
        d in (None, n) for d, n in zip(expected.shape, array.shape, strict=True)
    )
    if dtype.kind == "O" and array.dtype.kind == "U":
        array = array.astype(object)
    elif fits and not isinstance(given, np.ndarray | np.generic):
        array = _converted(array, dtype)
    if array.dtype != dtype or not fits:
        value = f" ({given!r})" if array.ndim == 0 else ""
        raise place.error(
            f"the value given for input '{name}'{value} has shape {list(array.shape)} of "
            f"{array.dtype}, expected '{expected}'"
        )
    return array


def _converted(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Python's numbers converted to the type; unchanged where it cannot hold them."""
    found, wanted = number_kind(array.dtype), number_kind(dtype)
    if not array.size:
        return array.astype(dtype)
    if found in "iuf" and wanted in "fc":
        return array.astype(dtype)
    if found in "iu" and wanted in "iu":
        held = array.astype(dtype)
        same = list(map(int, held.reshape(-1))) == list(map(int, array.reshape(-1)))
        return held if same else array
    return array


def _bind_symbols(place: Place, inputs: Sequence[Input], choices: InputChoices) -> dict[str, int]:
    """The extents of symbolic dimensions, as given directly or implied by given shapes."""
    bound = dict(choices.dims)
    symbols = {name for value in inputs for name in value.dims if name}
    for name, extent in choices.dims.items():
        if name not in symbols:
            known = ", ".join(sorted(symbols)) or "none"
            raise place.error(f"the inputs have no dimension named '{name}'; they have: {known}")
        if extent < 0:
            raise place.error(f"dimension '{name}' cannot be {extent}")
    for value in inputs:
        given = choices.shapes.get(value.name) or ()
        for name, extent in zip(value.dims, given, strict=False):
            if name and extent is not None:
                bound.setdefault(name, extent)
    return bound


def _input_type(
    place: Place, value: Input, given: Sequence[int | None] | None, bound: Mapping[str, int]
) -> Type:
    if not isinstance(value.type, TensorType | UnrankedTensorType):
        if given is not None:
            raise place.error(f"a shape is given for input '{value.name}', which is not a tensor")
        return value.type
    found = TensorType(_shape(place, value, given, bound), value.type.element_type)
    if fault := size_fault(found):
        raise place.error(f"input '{value.name}': {fault}")
    return found


def _shape(
    place: Place, value: Input, given: Sequence[int | None] | None, bound: Mapping[str, int]
) -> tuple[Dim, ...]:
    if isinstance(value.type, UnrankedTensorType):
        if given is None:
            raise place.error(
                f"the rank of input '{value.name}' is unknown; give its shape (--shape)"
            )
        return _valid(place, value.name, given)
    assert isinstance(value.type, TensorType)
    shape = value.type.shape
    names = value.dims or ("",) * len(shape)
    declared = tuple(
        bound.get(n) if d is None and n else d for d, n in zip(shape, names, strict=True)
    )
    if given is None:
        return declared
    given = _valid(place, value.name, given)
    if value.assumed:
        return given
    if len(given) != len(declared):
        raise place.error(
            f"input '{value.name}' has {len(declared)} dimensions, but shape {list(given)} is given"
        )
    return tuple(d if g is None else g for g, d in zip(given, declared, strict=True))


def _valid(place: Place, name: str, shape: Sequence[int | None]) -> tuple[Dim, ...]:
    for extent in shape:
        if extent is not None and (not isinstance(extent, int) or extent < 0):
            raise place.error(f"the shape given for input '{name}' has an extent of {extent!r}")
    return tuple(shape)
