"""Results of a PyTorch graph that share memory with its inputs, or with one another.

A result that is a view of an input is returned as a view; AOTAutograd would make it a result of its
own if its offset is symbolic. Of results that share memory, one is computed and the others are
views of it. Other results with gaps between elements get PyTorch's strides if these depend on
symbols; if all strides are known, PyTorch makes the views by itself.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch  # pyright: ignore[reportMissingImports]

from .torch_call import Call, dense_strides
from .torch_symbols import Number, Numbers, are_known

Place = Callable[[Sequence[Any], list[Any], Number], Any]
"""A function from (arguments of a call, computed values, numbers of the call) to a result."""


class Shared:
    """How the results of a graph are made; `graph` computes those that are not views."""

    def __init__(self, graph: torch.fx.GraphModule) -> None:
        given = [node for node in graph.graph.nodes if node.op == "placeholder"]
        results = list(graph.graph.output_node().args[0])  # type: ignore[arg-type]
        self._numbers = Numbers([_value(node) for node in given])
        storages = {_storage(node): i for i, node in reversed([*enumerate(given)])}
        wholes = {self._storage(n): n for n in reversed(results) if self._is_whole(n)}
        kept: list[Any] = []
        self._places: list[Place] = []
        self._as_computed = True
        for node in results:
            storage = self._storage(node)
            if storage in storages and not isinstance(_value(node), torch.Tensor):
                self._put(_argument(storages[storage]))
                continue
            if storage in storages and _of_elements(node):
                self._put(_view_of_argument(node, storages[storage], given))
                continue
            whole = wholes.get(storage, node)
            if whole not in kept:
                kept.append(whole)
            i = kept.index(whole)
            if node is not whole:
                self._put(_view_of_computed(node, i))
            elif self._has_gaps(node):
                self._put(_with_gaps(node, i))
            else:
                self._places.append(_computed(i))
        self.count = len(kept)
        """The number of computed results."""
        self._as_computed = self._as_computed and kept == results
        self.graph = graph if self._as_computed else _with_results(graph, kept)

    def _put(self, place: Place) -> None:
        self._places.append(place)
        self._as_computed = False

    def placing(self, call: Call | None, fed: Sequence[int]) -> Call:
        """A function from a list of all arguments to a list of all results, views included.

        `call` takes the arguments numbered `fed` and returns the results that are not views; it is
        None if all results are views.
        """
        if self._as_computed and call is not None:
            return lambda arguments: call([arguments[i] for i in fed])

        def whole(arguments: list[Any]) -> list[Any]:
            found = [] if call is None else call([arguments[i] for i in fed])
            number = self._numbers.of(arguments)
            return [place(arguments, found, number) for place in self._places]

        return whole

    def _storage(self, node: Any) -> Any:
        """The identity of a tensor's memory; a result of another kind stands for itself."""
        return _storage(node) if are_known(_value(node), self._numbers) else node

    def _is_whole(self, node: Any) -> bool:
        """Whether a result covers all of its memory, in the order that a call produces."""
        value = _value(node)
        return (
            are_known(value, self._numbers)
            and _same(value.stride(), dense_strides(value))
            and _same([value.untyped_storage().nbytes()], [value.numel() * value.element_size()])
        )

    def _has_gaps(self, node: Any) -> bool:
        """Whether a result with symbols has other strides than a call produces."""
        value = _value(node)
        if not are_known(value, self._numbers) or not _has_symbols(value):
            return False
        where = (*value.stride(), value.storage_offset())
        return not _same(where, (*dense_strides(value), 0))


def _value(node: Any) -> Any:
    """The example value of a node's result; None for a node without one."""
    return node.meta.get("val") if isinstance(node, torch.fx.Node) else None


def _storage(node: Any) -> Any:
    value = _value(node)
    if not isinstance(value, torch.Tensor):
        return node
    return value.dtype, value.untyped_storage()._cdata


def _of_elements(node: Any) -> bool:
    """Whether a view shows the elements themselves, not conjugated or negated."""
    value = _value(node)
    return not (value.is_conj() or value.is_neg())


def _has_symbols(value: torch.Tensor) -> bool:
    return any(type(n) is not int for n in (*value.shape, *value.stride(), value.storage_offset()))


def _same(found: Sequence[Any], wanted: Sequence[Any]) -> bool:
    """Whether numbers are equal for all values of their symbols."""
    return all(
        a == b if type(a) is type(b) is int else _expression(a) == _expression(b)
        for a, b in zip(found, wanted, strict=True)
    )


def _expression(size: Any) -> Any:
    return size.node.expr if isinstance(size, torch.SymInt) else size


def _with_results(graph: torch.fx.GraphModule, kept: Sequence[Any]) -> torch.fx.GraphModule:
    made = torch.fx.GraphModule(graph, copy.deepcopy(graph.graph))
    own = dict(zip(graph.graph.nodes, made.graph.nodes, strict=True))
    made.graph.output_node().args = ([own.get(node, node) for node in kept],)
    made.graph.eliminate_dead_code()
    return made


# -- places ----------------------------------------------------------------------------------------


def _computed(i: int) -> Place:
    return lambda arguments, found, number: found[i]


def _argument(i: int) -> Place:
    """A result that is an argument itself: a symbolic extent."""
    return lambda arguments, found, number: arguments[i]


def _view_of_computed(node: Any, i: int) -> Place:
    value = node.meta["val"]

    def place(arguments: Sequence[Any], found: list[Any], number: Number) -> Any:
        return found[i].as_strided(*_where(value, number))

    return place


def _view_of_argument(node: Any, i: int, given: Sequence[Any]) -> Place:
    """A view of an input, at any offset."""
    value, whole = node.meta["val"], given[i].meta["val"]
    first = whole.storage_offset()

    def place(arguments: Sequence[Any], found: list[Any], number: Number) -> Any:
        argument = arguments[i]
        shape, strides, offset = _where(value, number)
        return argument.as_strided(
            shape, strides, offset - number(first) + argument.storage_offset()
        )

    return place


def _with_gaps(node: Any, i: int) -> Place:
    """A computed result copied to new memory with PyTorch's strides; elements may overlap."""
    value = node.meta["val"]

    def place(arguments: Sequence[Any], found: list[Any], number: Number) -> Any:
        shape, strides, offset = _where(value, number)
        last = sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
        memory = torch.empty(offset + last + 1 if 0 not in shape else offset, dtype=value.dtype)
        made = memory.as_strided(shape, strides, offset)
        if 0 not in shape:
            size = made.element_size()
            bits = torch.view_as_real(memory) if value.is_complex() else memory
            flat = bits.view(torch.uint8).numpy()[offset * size :]
            steps = [step * size for step in strides]
            to = np.lib.stride_tricks.as_strided(flat, (*shape, size), (*steps, 1))
            plain = found[i].resolve_conj().resolve_neg().contiguous()
            plain = torch.view_as_real(plain) if value.is_complex() else plain
            to[...] = plain.reshape(-1).view(torch.uint8).numpy().reshape(*shape, size)
        return made

    return place


def _where(value: torch.Tensor, number: Number) -> tuple[list[int], list[int], int]:
    shape, strides = ([number(n) for n in row] for row in (value.shape, value.stride()))
    return shape, strides, number(value.storage_offset())
