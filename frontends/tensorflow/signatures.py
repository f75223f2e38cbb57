"""Selects a SavedModel's signature, and orders its inputs and outputs.

A signature has them by name, unordered. It calls a function whose arguments and results are in the
author's order: output_2 comes before output_10.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..common.source import Source
from ..wire.protobuf import Record
from .functions import Functions, GraphValues
from .origins import Origin, Scope

WRAPPER = "signature_wrapper"
"""A part of the name of functions that pass the inputs of a signature on by name."""


def signature_of(source: Source, meta: Record) -> Record:
    """The requested signature, or the one that a server would use by default."""
    named = {name: one for name, one in meta.signatures.items() if one.outputs}
    known = ", ".join(f"'{name}'" for name in meta.signatures) or "none"
    if source.signature is not None:
        if source.signature not in named:
            raise source.error(f"there is no signature '{source.signature}'; signatures: {known}")
        return named[source.signature]
    wanted = [name for name in ("serving_default", "serve") if name in named]
    wanted += [name for name, one in named.items() if one.inputs]
    if not wanted:
        raise source.error(f"the SavedModel has no signature with inputs; signatures: {known}")
    return named[wanted[0]]


class Order:
    """The order of a signature's inputs and outputs."""

    def __init__(self, meta: Record, signature: Record, functions: Functions) -> None:
        self.main = Scope(meta.graph.node, GraphValues())
        found = {name: self._inner(one.name, functions) for name, one in signature.outputs.items()}
        self.outputs = {name: origin.output for name, origin in found.items()}
        makers = {id(origin.node): origin for origin in found.values()}
        self.inputs: dict[str, int] = {}
        if len(makers) > 1:
            self.outputs = {}  # of several layers, which have no order
            return
        for origin in makers.values():
            data = [text for text in (origin.node.input if origin.node else ()) if text[0] != "^"]
            for i, text in enumerate(data):
                given = origin.scope.origin(text)
                if given.node is not None:
                    self.inputs.setdefault(given.node.name, i)

    def _inner(self, text: str, functions: Functions) -> Origin:
        """The origin of an output, inside of the function that returns it."""
        origin = self.main.origin(text)
        called = origin.node.attr.get("f") if origin.node is not None else None
        if called is None or called.func is None or WRAPPER not in called.func.name:
            return origin
        scope = self.main.called(origin.node, functions) if origin.node else None
        record = functions.record(called.func.name)
        results = [record.ret.get(arg.name, arg.name) for arg in record.signature.output_arg]
        if scope is None or not origin.output < len(results):
            return origin
        return scope.origin(results[origin.output])

    def of_inputs(self, inputs: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """The inputs by name, in order."""
        makers = {name: one.name.partition(":")[0] for name, one in inputs.items()}
        last = len(self.inputs)
        return sorted(
            inputs.items(), key=lambda p: (self.inputs.get(makers[p[0]], last), natural(p[0]))
        )

    def of_outputs(self, outputs: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """The outputs by name, in order."""
        return sorted(outputs.items(), key=lambda p: (self.outputs.get(p[0], 0), natural(p[0])))


def natural(name: str) -> list[tuple[int, str]]:
    """A sort key by which numbers in names ascend."""
    parts = re.split(r"([0-9]+)", name)
    return [(len(part.lstrip("0")) if i % 2 else 0, part) for i, part in enumerate(parts)]
