"""The checkpoint tensor of each variable, by the restore function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...ir.core import Value
from ..common.graph import Graph
from ..common.layer import Layer
from ..common.source import Source
from ..wire.protobuf import Record, WireError
from ..wire.tensorbundle import Bundle, strings
from .functions import CALLS, Functions, GraphValues
from .origins import ASSIGNMENTS, Scope
from .schema import SCHEMA, dtype_of

VARIABLES = ("VarHandleOp", "VariableV2", "Variable")
PREFIX = "variables/variables"
OBJECTS = "_CHECKPOINTABLE_OBJECT_GRAPH"
OBJECT = "/.ATTRIBUTES/VARIABLE_VALUE"


class States:
    """The variables that a model writes, and the block that may write them now."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        self.variables = list(variables)
        self.block: Any = None
        """The block that may write them now; None for the body of the model itself."""


@dataclass(eq=False)
class Variable:
    """A variable: its name, its value in the file, and its current value during the import."""

    name: str
    array: np.ndarray | None
    value: Value | None = field(default=None, repr=False)

    states: States | None = field(default=None, repr=False)

    def write(self, n: Layer, value: Value) -> None:
        """Set the variable's value. Raises NncError in a block that may not write it."""
        before = self.read(n)
        if value.type.element_type is not before.type.element_type:
            raise n.error(f"variable '{self.name}' is '{before.type}', not '{value.type}'")
        if self.states is None or n.builder.block is not (self.states.block or n.builder.entry):
            raise n.error(f"variable '{self.name}' is written where that is not followed")
        self.value = value

    def read(self, n: Layer) -> Value:
        """The current value. Raises NncError if the file has none."""
        if self.value is None and self.states is not None:
            self.value = n.builder.lookup(self.name)  # type: ignore[attr-defined]
        if self.value is None:
            if self.array is None:
                raise n.error(f"variable '{self.name}' has no value in the checkpoint")
            self.value = n.builder.constant(self.array, n.loc, key=self.name)
        return self.value


def checkpoint(source: Source) -> Bundle | None:
    """The checkpoint beside a model; None if there is none."""
    return Bundle(source.beside, PREFIX) if source.has_beside(f"{PREFIX}.index") else None


def bind_variables(source: Source, meta: Record, graph: Graph, functions: Functions) -> None:
    """Set the value of each variable of a graph, as the attribute `variable` of its node."""
    nodes = [node for node in graph.nodes if node.kind in VARIABLES]
    if not nodes:
        return
    bundle = checkpoint(source)
    keys: dict[str, str] = {}
    if bundle is not None:
        keys = restored(meta, functions)
        if any(keys.get(node.name) not in bundle.entries for node in nodes):
            keys |= bound(meta, graph, bundle)
    for node in nodes:
        shared = node.attributes.get("shared_name")
        name = bytes(shared.s).decode("utf-8", "replace") if shared is not None else ""
        name = name or node.name
        dtype = node.attributes.get("dtype")
        if dtype is None:
            raise source.error(f"{node.label}: it has no type")
        array = None
        candidates = (keys.get(node.name), name, name + OBJECT)
        key = next((k for k in candidates if bundle and k in bundle.entries), None)
        if bundle is not None and key is not None:
            array = bundle.array(key, dtype_of(dtype.type))
        node.attributes = {**node.attributes, "variable": Variable(name, array)}


def bound(meta: Record, graph: Graph, bundle: Bundle) -> dict[str, str]:
    """The checkpoint key of each variable that a function captures, by the name of its node."""
    if OBJECTS not in bundle.entries or not meta.objects.size:
        return {}
    objects = SCHEMA.read("Objects", meta.objects)
    (data,) = strings(bundle.raw(OBJECTS), 1)
    keys = _stored_keys(objects.node, SCHEMA.read("Stored", data).node)
    found: dict[str, str] = {}
    for node in graph.nodes:
        called = node.attributes.get("f") if node.kind in CALLS else None
        if called is None or called.func is None or called.func.name not in objects.functions:
            continue
        captured = objects.functions[called.func.name].inputs
        for value, number in zip(reversed(node.inputs), reversed(captured), strict=False):
            if number in keys:
                found[value.partition(":")[0]] = keys[number]
    return found


def _stored_keys(objects: list[Record], stored: list[Record]) -> dict[int, str]:
    """The key of each object: its path from the root equals that in the checkpoint."""
    keys: dict[int, str] = {}
    pairs, seen = [(0, 0)], {0}
    while pairs:
        here, there = pairs.pop()
        if not (0 <= here < len(objects) and 0 <= there < len(stored)):
            raise WireError(
                f"the object graph has no node {here} of {len(objects)}, "
                f"or the checkpoint no node {there} of {len(stored)}"
            )
        for tensor in stored[there].tensors:
            keys[here] = tensor.key
        inner = {child.name: child.node for child in stored[there].children}
        for child in objects[here].children:
            if child.name in inner and child.node not in seen:
                seen.add(child.node)
                pairs.append((child.node, inner[child.name]))
    return keys


def restored(meta: Record, functions: Functions) -> dict[str, str]:
    """The checkpoint key of each variable, by the name of its node in the main graph."""
    keys: dict[str, str] = {}
    main = Scope(meta.graph.node, GraphValues())
    restore = main.nodes.get(meta.saver.restore.partition(":")[0] if meta.saver else "")
    called = main.called(restore, functions) if restore is not None else None
    for scope in (main, *(called.inner(functions) if called else ())):
        for record in scope.nodes.values():
            if record.op in ASSIGNMENTS and len(record.input) > 1:
                handle, key = scope.origin(record.input[0]), scope.origin(record.input[1]).key()
                if key is not None and handle.kind in VARIABLES and handle.scope is main:
                    keys[handle.node.name] = key  # type: ignore[union-attr]
    return keys
