"""A format's table of operators, and checks against the signature of a converter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import signature
from pkgutil import iter_modules
from typing import Any

from ...dialects.nn.host_types import HostType
from ...ir.types import UnrankedTensorType
from .fields import IgnoredFields

Convert = Callable[..., Any]


class Rows:
    """The operators of a format, each with the function that imports it.

        rows = Rows(__package__, IGNORED)

        @rows("RELU")
        def relu(n: Layer, x: Value) -> Value:
            return n(nn.Relu(x))

    A converter gets the layer and its inputs (None for one left out) and returns its outputs: a
    value, or a sequence with None for an output that it does not provide. The modules of the
    format's package `ops` are loaded when the first operator is looked for.

    `ignored` are the fields of nodes that a converter need not read; any other that it leaves
    unread is an error. It is None for a format without such a table.
    """

    def __init__(self, package: str, ignored: IgnoredFields | None = None) -> None:
        self._package = f"{package}.ops"
        self.ignored = ignored
        self._table: dict[Any, Any] = {}
        self._loaded = False

    def __call__(self, *kinds: str) -> Callable[[Convert], Convert]:
        """Register a function that imports these operators."""

        def register(function: Convert) -> Convert:
            for kind in kinds:
                assert kind not in self._table, kind
                self._table[kind] = function
            return function

        return register

    def add(self, table: dict[str, Convert]) -> None:
        """Register the converters of a table: `rows.add({"Relu": unary(nn.Relu)})`."""
        for kind, function in table.items():
            self(kind)(function)

    def formulas(self, table: dict[str, Convert]) -> None:
        """Register one-line converters: `rows.formulas({"Abs abs": lambda n, x: ..})`."""
        for kinds, function in table.items():
            self(*kinds.split())(function)

    def find(self, kind: str) -> Convert | None:
        """The converter of an operator, or None."""
        self._load()
        return self._table.get(kind)

    def __iter__(self) -> Iterator[str]:
        """The names of all operators, sorted."""
        self._load()
        return iter(sorted(self._table))

    def _load(self) -> None:
        if not self._loaded:
            self._loaded = True
            for module in iter_modules(import_module(self._package).__path__):
                import_module(f"{self._package}.{module.name}")


def fault_of_call(convert: Convert, inputs: list[Any]) -> str | None:
    """What is wrong with the inputs of an operator that has no declaration; None if nothing is.

    The converter's parameters serve as the declaration: those without a default are required, but
    may be None where their annotation says so.
    """
    parameters = list(signature(convert).parameters.values())[1:]
    parameters = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
    needed = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty]
    if len(inputs) > len(parameters) and all(p.kind is not p.VAR_POSITIONAL for p in parameters):
        return f"{len(inputs)} inputs, expected at most {len(parameters)}"
    for i, parameter in enumerate(needed):
        may_lack = "None" in str(parameter.annotation)
        if i >= len(inputs) or (inputs[i] is None and not may_lack):
            return f"input '{parameter.name}' is missing"
    return None


def fault_of_ranks(inputs: list[Any], declared: bool) -> str | None:
    """A message about an input with an unknown rank, or None.

    Unless the operator is `declared` to take other kinds of values, inputs must be tensors.
    """
    for i, value in enumerate(inputs):
        type = getattr(value, "type", None)
        if not declared and (isinstance(value, tuple) or isinstance(type, HostType)):
            return f"input {i} is not a tensor"
        if isinstance(type, UnrankedTensorType):
            return (
                f"input {i} is a '{type}': its rank must be known; it is an element of a "
                "sequence or an optional, whose type the model may declare with a shape"
            )
    return None
