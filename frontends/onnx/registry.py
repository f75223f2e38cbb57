"""The table of converters: which function imports which ONNX operator, from which opset on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import Any

from ...dialects.nn.host_types import HostType
from ...ir.types import UnrankedTensorType

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


def find_converter(domain: str, op_type: str, opset: int) -> Convert | None:
    """The converter of an operator in an opset, or None."""
    _load()
    versions = _converters.get((domain, op_type), [])
    at = bisect_right([version for version, _ in versions], opset)
    return versions[at - 1][1] if at else None


def forget_converter(domain: str, op_type: str) -> None:
    """Undo what was registered for an operator."""
    _converters.pop((domain, op_type), None)


def fault_of_call(convert: Convert, inputs: list[Any]) -> str | None:
    """What is wrong with the inputs of an operator that has no declaration, or None.

    The converter's parameters stand for it: those without a default are needed.
    """
    parameters = list(signature(convert).parameters.values())[1:]
    needed = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty]
    if len(inputs) > len(parameters) and all(p.kind is not p.VAR_POSITIONAL for p in parameters):
        return f"{len(inputs)} inputs, expected at most {len(parameters)}"
    for i, parameter in enumerate(needed):
        if i >= len(inputs) or inputs[i] is None:
            return f"input '{parameter.name}' is missing"
    return None


def fault_of_ranks(convert: Convert, inputs: list[Any], declared: bool) -> str | None:
    """Which input has an unknown rank that the converter must know, or None.

    Where no declaration of the operator says which kinds of values it takes, they are tensors.
    """
    if convert in _of_any_rank:
        return None
    for i, value in enumerate(inputs):
        type = getattr(value, "type", None)
        if not declared and (isinstance(value, tuple) or isinstance(type, HostType)):
            return f"input {i} is no tensor"
        if isinstance(type, UnrankedTensorType):
            return (
                f"input {i} is a '{type}': its rank must be known; it is an element of a "
                "sequence or an optional, whose type the model may declare with a shape"
            )
    return None


def supported_operators() -> list[tuple[str, str]]:
    """Domain and name of every operator that has a converter."""
    _load()
    return sorted(_converters)


def _load() -> None:
    global _loaded
    if not _loaded:
        from .ops import MODULES

        for module in MODULES:
            import_module(f"{__package__}.ops.{module}")
        _loaded = True
