"""The types of a model's inputs, with shapes and symbolic dimensions as the user gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects import nn
from ...ir.diagnostics import NncError
from ...ir.numpy_types import number_kind, type_to_numpy
from ...ir.types import Dim, TensorType, Type, UnrankedTensorType, size_fault
from .model import Model
from .tensors import element_type


@dataclass(frozen=True)
class InputChoices:
    """What the user says of the inputs: shapes, extents of symbolic dimensions, and values."""

    shapes: Mapping[str, Sequence[int | None]]
    dims: Mapping[str, int]
    constants: Mapping[str, Any]


def input_types(model: Model, graph: Any, choices: InputChoices) -> dict[str, Type]:
    """The type of every input that is not an initializer, in order.

    Raises:
        NncError: an input is no tensor, its rank is unknown, or what is given does not fit.
    """
    initialized = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in initialized]
    names = [value.name for value in inputs]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise model.error(f"two inputs are named '{name}'")
    for what, given in (("shape", choices.shapes), ("value", choices.constants)):
        for name in given:
            if name not in names:
                known = ", ".join(f"'{n}'" for n in names) or "none"
                raise model.error(
                    f"a {what} is given for '{name}', which is no input; inputs: {known}"
                )
    bound = _bind_symbols(model, inputs, choices.shapes, choices.dims)
    return {
        value.name: _input_type(model, value, choices.shapes.get(value.name), bound)
        for value in inputs
    }


def constant_arrays(
    model: Model, types: Mapping[str, Type], constants: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """The values that are given for inputs of these types.

    Numbers of Python and lists of them take the input's element type where that holds them, an
    array has to be of it. Raises NncError.
    """
    return {name: _constant(model, name, types[name], given) for name, given in constants.items()}


def _constant(model: Model, name: str, expected: Type, given: Any) -> np.ndarray:
    if not isinstance(expected, TensorType):
        raise model.error(f"a value is given for input '{name}', which is no tensor")
    dtype = type_to_numpy(expected.element_type)
    try:
        array = np.asarray(given)
    except (ValueError, OverflowError):  # rows of unequal lengths
        raise model.error(f"the value given for input '{name}' is no array: {given!r}") from None
    fits = len(expected.shape) == array.ndim and all(
        d in (None, n) for d, n in zip(expected.shape, array.shape, strict=True)
    )
    if dtype.kind == "O" and array.dtype.kind == "U":
        array = array.astype(object)
    elif fits and not isinstance(given, np.ndarray | np.generic):
        array = _converted(array, dtype)
    if array.dtype != dtype or not fits:
        value = f" ({given!r})" if array.ndim == 0 else ""
        raise model.error(
            f"the value given for input '{name}'{value} has shape {list(array.shape)} of "
            f"{array.dtype}, expected '{expected}'"
        )
    return array


def _converted(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Numbers of Python as the type holds them; as they are where it does not."""
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


def dimension_names(
    values: Iterable[Any], names: Sequence[str], types: Sequence[Type]
) -> list[list[str]]:
    """What the model calls the unknown dimensions of its inputs or outputs, which are `values`.

    A dimension that is known, or has no name, has an empty one; "?" and the like are no names.
    """
    declared = {value.name: value.type.tensor_type.shape.dim for value in values}
    return [
        [
            _name(dims[i]) if extent is None and len(dims) == len(type.shape) else ""
            for i, extent in enumerate(type.shape)
        ]
        if isinstance(type, TensorType)
        else []
        for dims, type in zip(map(declared.__getitem__, names), types, strict=True)
    ]


def _name(dim: Any) -> str:
    """What a model calls a dimension; names are equal where the extents are."""
    return dim.dim_param if dim.dim_param not in ("?", "-1", "None", "none", "*") else ""


def _bind_symbols(model: Model, inputs: list, shapes: Mapping, dims: Mapping) -> dict[str, int]:
    """The extents of symbolic dimensions: as given, and as the given shapes imply."""
    bound = dict(dims)
    symbols = {d.dim_param for v in inputs for d in v.type.tensor_type.shape.dim if d.dim_param}
    for name, extent in dims.items():
        if name not in symbols:
            known = ", ".join(sorted(symbols)) or "none"
            raise model.error(f"the inputs have no dimension named '{name}'; they have: {known}")
        if extent < 0:
            raise model.error(f"dimension '{name}' cannot be {extent}")
    for value in inputs:
        declared = value.type.tensor_type.shape.dim
        for dim, extent in zip(declared, shapes.get(value.name) or (), strict=False):
            if dim.dim_param and extent is not None:
                bound.setdefault(dim.dim_param, extent)
    return bound


def _input_type(
    model: Model, value: Any, given: Sequence[int | None] | None, bound: dict[str, int]
) -> Type:
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        if given is not None:
            raise model.error(f"a shape is given for input '{value.name}', which is no tensor")
        try:
            return value_type(value.type, bound)
        except NncError as error:
            raise model.error(f"input '{value.name}' {error.message}") from None
    tensor = value.type.tensor_type
    try:
        element = element_type(tensor.elem_type)
    except NncError as error:
        raise model.error(f"input '{value.name}': {error.message}") from None
    found = TensorType(_input_shape(model, value.name, tensor, given, bound), element)
    if fault := size_fault(found):
        raise model.error(f"input '{value.name}': {fault}")
    return found


def value_type(proto: Any, bound: Mapping[str, int]) -> Type:
    """The type of a value of any kind that a host handles. Raises NncError for other kinds."""
    match proto.WhichOneof("value"):
        case "tensor_type":
            element = element_type(proto.tensor_type.elem_type)
            if not proto.tensor_type.HasField("shape"):
                return UnrankedTensorType(element)
            shape = (_extent(dim, bound) for dim in proto.tensor_type.shape.dim)
            return TensorType(tuple(shape), element)
        case "sequence_type":
            return nn.SequenceType(value_type(proto.sequence_type.elem_type, bound))
        case "optional_type":
            return nn.OptionalType(value_type(proto.optional_type.elem_type, bound))
        case "map_type":
            held = value_type(proto.map_type.value_type, bound)
            key = element_type(proto.map_type.key_type)
            return nn.MapType(key, getattr(held, "element_type", held))
        case kind:
            found = (kind or "no type").removesuffix("_type").replace("_", " ")
            raise NncError(
                f"is of kind '{found}', expected a tensor, a sequence, an optional or a map"
            )


def _input_shape(
    model: Model, name: str, tensor: Any, given: Sequence[int | None] | None, bound: dict[str, int]
) -> tuple[Dim, ...]:
    if not tensor.HasField("shape"):
        if given is None:
            raise model.error(f"the rank of input '{name}' is unknown; give its shape")
        return _valid(model, name, given)
    declared = tuple(_extent(dim, bound) for dim in tensor.shape.dim)
    if given is None:
        return declared
    given = _valid(model, name, given)
    if len(given) != len(declared):
        raise model.error(
            f"input '{name}' has {len(declared)} dimensions, but shape {list(given)} is given"
        )
    return tuple(d if g is None else g for g, d in zip(given, declared, strict=True))


def _extent(dim: Any, bound: Mapping[str, int]) -> Dim:
    if dim.HasField("dim_value"):
        return dim.dim_value if dim.dim_value >= 0 else None  # some exporters write -1
    return bound.get(dim.dim_param) if dim.dim_param else None


def _valid(model: Model, name: str, shape: Sequence[int | None]) -> tuple[Dim, ...]:
    for extent in shape:
        if extent is not None and (not isinstance(extent, int) or extent < 0):
            raise model.error(f"the shape given for input '{name}' has an extent of {extent!r}")
    return tuple(shape)
