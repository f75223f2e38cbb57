"""Symbolic extents, strides and offsets of PyTorch tensors, whose values only a call gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch  # pyright: ignore[reportMissingImports]

Number = Callable[[Any], int]
"""A function from the arguments to an extent, which may be a SymInt."""

_KEPT = 256
"""The most sets of extents for which numbers are kept."""


class Numbers:
    """The values of symbols in a call, found in its arguments.

    `examples` are the arguments of the trace, whose extents are these symbols.
    """

    def __init__(self, examples: Sequence[Any]) -> None:
        self._sources: dict[Any, Callable[[Sequence[Any]], int]] = {}
        for i, value in enumerate(examples):
            for size, source in _sizes_of(value, i):
                if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                    self._sources.setdefault(size.node.expr, source)
        self.known = frozenset(self._sources)
        """The symbols whose values follow from a call's arguments."""
        self._known: dict[tuple[int, ...], dict[Any, int]] = {}

    def of(self, arguments: Sequence[Any]) -> Number:
        """A function that evaluates a symbolic number for a call with these arguments."""
        values = tuple(source(arguments) for source in self._sources.values())
        known = self._known.setdefault(values, {})
        if len(self._known) > _KEPT:
            del self._known[next(iter(self._known))]

        def number(size: Any) -> int:
            if type(size) is int:
                return size
            expression = size.node.expr
            found = known.get(expression)
            if found is None:
                bound = dict(zip(self._sources, values, strict=True))
                found = known[expression] = int(expression.xreplace(bound))
            return found

        return number


def are_known(value: Any, numbers: Numbers) -> bool:
    """Whether a call determines the positions of all elements of a tensor."""
    if not isinstance(value, torch.Tensor):
        return False
    sizes: tuple[Any, ...] = (*value.shape, *value.stride(), value.storage_offset())
    return all(type(n) is int or n.node.expr.free_symbols <= numbers.known for n in sizes)


def _sizes_of(value: Any, i: int) -> list[tuple[Any, Callable[[Sequence[Any]], int]]]:
    """The symbolic numbers that an argument (or its extents and strides) has, with getters."""
    if isinstance(value, torch.SymInt):
        return [(value, lambda given: given[i])]
    if not isinstance(value, torch.Tensor):
        return []
    found = [(n, lambda given, d=d: given[i].shape[d]) for d, n in enumerate(value.shape)]
    found += [(n, lambda given, d=d: given[i].stride(d)) for d, n in enumerate(value.stride())]
    return [*found, (value.storage_offset(), lambda given: given[i].storage_offset())]
