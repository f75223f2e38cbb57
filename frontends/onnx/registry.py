"""The table of converters: which function imports which ONNX operator, from which opset on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

Convert = Callable[..., Any]

_converters: dict[tuple[str, str], list[tuple[int, Convert]]] = {}
_loaded = False


_of_any_rank: set[Convert] = set()


def converter(
    *op_types: str, since: int = 1, domain: str = "", any_rank: bool = False
) -> Callable[[Convert], Convert]:
    """Register a function that imports these operators from opset `since` on.

        @converter("Relu")
        def relu(n: Node, x: Value) -> Value:
            return n(nn.Relu(x))

    It gets the node and its inputs (None for one left out) and returns its outputs: a value,
    or a sequence with None for an optional output that it does not provide. With `any_rank` it
    also takes tensors of which not even the rank is known.
    """

    def register(function: Convert) -> Convert:
        for op_type in op_types:
            versions = _converters.setdefault((domain, op_type), [])
            assert all(version != since for version, _ in versions), op_type
            versions.append((since, function))
            versions.sort(key=lambda entry: entry[0])
        if any_rank:
            _of_any_rank.add(function)
        return function

    return register


def add_rows(table: Mapping[str, Convert], domain: str = "") -> None:
    """Register converters that a family makes: `add_rows(direct("Neg Abs"))`."""
    for op_type, function in table.items():
        converter(op_type, domain=domain)(function)


def find_converter(domain: str, op_type: str, opset: int) -> Convert | None:
    """The converter of an operator in an opset, or None."""
    _load()
    versions = _converters.get((domain, op_type), [])
    at = bisect_right([version for version, _ in versions], opset)
    return versions[at - 1][1] if at else None


def forget_converter(domain: str, op_type: str) -> None:
    """Undo what was registered for an operator."""
    _converters.pop((domain, op_type), None)


def takes_any_rank(convert: Convert) -> bool:
    """Whether a converter takes tensors of which not even the rank is known."""
    return convert in _of_any_rank


def supported_operators() -> list[tuple[str, str]]:
    """Domain and name of every operator that has a converter."""
    _load()
    return sorted(_converters)


def _load() -> None:
    global _loaded
    if not _loaded:
        from . import ops

        for module in iter_modules(ops.__path__):
            import_module(f"{ops.__name__}.{module.name}")
        _loaded = True
