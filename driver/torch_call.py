"""Calls of a compiled PyTorch graph: from tensors to tensors.

Tensors are read and written in place, without copies. PyTorch guards the extents and strides of a
graph without symbols, so that whatever depends on them is computed once.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

import numpy as np
import torch  # pyright: ignore[reportMissingImports]

from ..frontends.common.complexes import caller_type
from ..frontends.pytorch.live import as_array, hint_of, type_of
from ..ir.diagnostics import NncError
from ..ir.types import TensorType, Type, row_major_strides
from ..runtime.executable import Executable
from ..runtime.model import Model

Call = Callable[[list[Any]], list[Any]]
"""A function from the graph's inputs to its outputs."""

_data_ptr = torch.Tensor.data_ptr


def call_of(model: Model, graph: torch.fx.GraphModule, fed: Sequence[str]) -> Call:
    """The call of a model compiled from `in_memory_order(graph, ..)`.

    Raises NncError if the model's inputs and outputs differ from the graph's.
    """
    nodes = {node.name: node for node in graph.graph.nodes}
    inputs = [nodes[name].meta["val"] for name in fed]
    results = _results(graph)
    made = [node.meta["val"] for node in results if isinstance(node, torch.fx.Node)]
    _check(fed, model.input_types, inputs)
    _check(model.output_names, model.output_types, made)
    if isinstance(model, Executable) and all(map(_is_static, [*inputs, *made])):
        return StaticCall(model, inputs, results)
    return OpenCall(model, fed, inputs, results)


def _results(graph: torch.fx.GraphModule) -> list[Any]:
    (output,) = (node for node in graph.graph.nodes if node.op == "output")
    return list(output.args[0])


def _check(names: Sequence[str], types: Sequence[TensorType], values: Sequence[Any]) -> None:
    """Raise NncError for a value whose element type or extents differ from the model's."""
    for name, type, value in zip(names, types, values, strict=True):
        order = _memory_order(value)
        expected = type_of(value if order is None else value.permute(order))
        if expected is None or not _may_be_same(type, caller_type(expected)):
            raise NncError(f"'{name}' is {expected} to PyTorch, but {type} in compiled code")


def _may_be_same(one: TensorType, other: Type) -> bool:
    return (
        isinstance(other, TensorType)
        and one.element_type is other.element_type
        and one.rank == other.rank
        and all(a == b or None in (a, b) for a, b in zip(one.shape, other.shape, strict=True))
    )


def _is_static(value: Any) -> bool:
    """Whether a value is a tensor with known extents that are not 0."""
    return isinstance(value, torch.Tensor) and all(
        type(size) is int and size for size in value.shape
    )


class StaticCall:
    """The call of a graph whose extents are all known."""

    def __init__(self, model: Executable, inputs: Sequence[Any], results: Sequence[Any]) -> None:
        self.model = model
        self._given = [_where(x) for x in inputs]
        self._contiguous = [x.is_contiguous() for x in inputs]
        made = [node.meta["val"] for node in results if isinstance(node, torch.fx.Node)]
        self._made = [_where(x) for x in made]
        self._results = list(results) if len(made) < len(results) else None
        """The positions of the outputs if some of them are no values of the graph."""

    def __call__(self, given: list[Any]) -> list[Any]:
        inputs = [
            x
            if (x.is_contiguous() if is_contiguous else x.stride() == strides)
            and x.shape == shape
            and x.dtype is dtype
            and not (x.is_neg() or x.is_conj())
            else _laid_out(x, shape, strides, dtype)
            for x, is_contiguous, (shape, strides, dtype) in zip(
                given, self._contiguous, self._given, strict=True
            )
        ]
        outputs = [
            torch.empty_strided(shape, strides, dtype=dtype) for shape, strides, dtype in self._made
        ]
        status = self.model.call_at(list(map(_data_ptr, inputs)), list(map(_data_ptr, outputs)))
        if status:
            raise NncError(self.model.signature.failure(status))
        if self._results is None:
            return outputs
        tensors = iter(outputs)
        return [next(tensors) if isinstance(n, torch.fx.Node) else n for n in self._results]


class OpenCall:
    """The call of a graph with extents known only at the call."""

    def __init__(
        self, model: Model, names: Sequence[str], inputs: Sequence[Any], results: Sequence[Any]
    ) -> None:
        self.model = model
        self.names = names
        self._orders = [_memory_order(x) for x in inputs]
        self._results = [
            (node, _memory_order(node.meta["val"]) if isinstance(node, torch.fx.Node) else None)
            for node in results
        ]

    def __call__(self, given: list[Any]) -> list[Any]:
        arrays = map(_fed, given, self._orders)
        outputs = iter(self.model.run(dict(zip(self.names, arrays, strict=True))).values())
        return [_result(node, order, outputs) for node, order in self._results]


def in_memory_order(graph: torch.fx.GraphModule, weights: Container[str]) -> torch.fx.GraphModule:
    """The graph with the dimensions of inputs and outputs in the order of their strides.

    So a tensor whose dimensions are permuted in memory (a transposed or channels-last one) is read
    and written in place, and the transposition is a part of the graph.
    """
    stored = torch.fx.GraphModule(graph, copy.deepcopy(graph.graph))
    nodes = list(stored.graph.nodes)
    for node in nodes:
        fed = node.op == "placeholder" and node.name not in weights
        if fed and (order := _memory_order(node.meta.get("val"))):
            _read_permuted(stored.graph, node, order)
    (output,) = (node for node in nodes if node.op == "output")
    results = []
    for node in output.args[0]:
        order = _memory_order(node.meta["val"]) if isinstance(node, torch.fx.Node) else None
        with stored.graph.inserting_before(output):
            results.append(_permuted(stored.graph, node, order) if order else node)
    output.args = (results,)
    return stored


def _read_permuted(graph: torch.fx.Graph, node: torch.fx.Node, order: tuple[int, ...]) -> None:
    """Take an input in memory order, and permute it back for all its users."""
    value, back = node.meta["val"], _inverse(order)
    node.meta["val"] = value.permute(order)
    with graph.inserting_after(node):
        found = _permuted(graph, node, back)
    node.replace_all_uses_with(found, lambda user: user is not found)


def _permuted(graph: torch.fx.Graph, node: torch.fx.Node, order: tuple[int, ...]) -> torch.fx.Node:
    permute: Any = torch.ops.aten.permute.default
    found = graph.call_function(permute, (node, list(order)))
    found.meta["val"] = node.meta["val"].permute(order)
    return found


def _memory_order(value: Any) -> tuple[int, ...] | None:
    """The dimensions from the outermost in memory; None if they are in order."""
    if not isinstance(value, torch.Tensor):
        return None
    steps = [hint_of(stride) for stride in value.stride()]
    order = tuple(sorted(range(len(steps)), key=lambda axis: -steps[axis]))
    return None if order == tuple(range(len(steps))) else order


def _inverse(order: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def dense_strides(value: torch.Tensor) -> tuple[int, ...]:
    """The strides of a dense tensor whose dimensions have the memory order of `value`."""
    order = _memory_order(value) or range(value.dim())
    strides = row_major_strides([value.shape[axis] for axis in order])
    return tuple(strides[at] for at in _inverse(order))


def _where(value: torch.Tensor) -> tuple[Any, ...]:
    """A tensor's extents, strides as compiled code uses them, and element type."""
    return tuple(value.shape), dense_strides(value), value.dtype


def _laid_out(x: torch.Tensor, shape: Any, strides: Any, dtype: torch.dtype) -> torch.Tensor:
    """A copy with these strides. Raises NncError for a tensor of another shape or type."""
    if x.shape != shape or x.dtype is not dtype:
        found, wanted = (f"{d} {list(s)}" for d, s in ((x.dtype, x.shape), (dtype, shape)))
        raise NncError(f"an input is {found}, but the code is for {wanted}")
    return torch.empty_strided(shape, strides, dtype=dtype).copy_(x)


def _fed(value: Any, order: tuple[int, ...] | None) -> np.ndarray:
    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    value = value.resolve_conj().resolve_neg()
    value = value if order is None else value.permute(order)
    return as_array(torch.view_as_real(value) if value.is_complex() else value)


def _result(node: Any, order: tuple[int, ...] | None, outputs: Iterator[np.ndarray]) -> Any:
    """An output as the graph's caller expects it; anything but a graph value is returned as is."""
    if not isinstance(node, torch.fx.Node):
        return node
    array, expected = next(outputs), node.meta["val"]
    if not isinstance(expected, torch.Tensor):
        return array.item()
    if array.dtype.kind == "V" or array.dtype.name not in np.sctypeDict:
        bits = torch.from_numpy(array.view(np.dtype(f"i{array.itemsize}")))
        tensor = bits.view(expected.dtype)
    else:
        tensor = torch.from_numpy(array)
        if expected.is_complex() and not tensor.is_complex():
            tensor = torch.view_as_complex(tensor)
    return tensor if order is None else tensor.permute(_inverse(order))
