"""A model's declarations of its inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...dialects import nn
from ...ir.diagnostics import NncError
from ...ir.types import TensorType, Type, UnrankedTensorType
from ..common.inputs import Input, InputChoices
from .model import Model
from .tensors import element_type


def declared_inputs(model: Model, choices: InputChoices) -> list[Input]:
    """Every input that is no initializer, or for which the user gives a shape or a value.

    Raises:
        NncError: one has a kind or element type that nnc does not support.
    """
    graph = model.proto.graph
    initialized = {name for name, _ in initializers(graph)}
    initialized -= {*choices.shapes, *choices.constants}
    found = []
    for value in graph.input:
        if value.name in initialized:
            continue
        try:
            is_tensor = value.type.WhichOneof("value") == "tensor_type"
            type = value_type(value.type, {} if is_tensor else choices.dims)
        except NncError as error:
            is_kind = error.message.startswith("is of kind")
            colon = "" if is_kind else ":"
            raise model.error(f"input '{value.name}'{colon} {error.message}") from None
        found.append(Input(value.name, type, dimension_names(value)))
    return found


def initializers(graph: Any) -> Iterator[tuple[str, Any]]:
    """The names and tensors of a graph's initializers, dense and sparse ones."""
    yield from ((tensor.name, tensor) for tensor in graph.initializer)
    yield from ((tensor.values.name, tensor) for tensor in graph.sparse_initializer)


def value_type(proto: Any, bound: Mapping[str, int]) -> Type:
    """The type of a value: a tensor, or a sequence, optional or map for host steps. `bound` has the
    extents of symbolic dimensions. Raises NncError for other kinds.
    """
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


def _extent(dim: Any, bound: Mapping[str, int]) -> int | None:
    if dim.HasField("dim_value"):
        return dim.dim_value if dim.dim_value >= 0 else None  # some exporters write -1
    return bound.get(dim.dim_param) if dim.dim_param else None


def dimensions(values: Iterable[Any]) -> dict[str, list[str]]:
    """The dimensions' names of each input or output: {"images": ["batch", "", "height", ..]}"""
    return {value.name: dimension_names(value) for value in values}


def dimension_names(value: Any) -> list[str]:
    """The names of a value's dimensions; equal names mean equal extents.

    Placeholders such as "?" give "".
    """
    shape = value.type.tensor_type.shape.dim
    names = (dim.dim_param for dim in shape)
    return [name if name not in ("?", "-1", "None", "none", "*") else "" for name in names]
