"""Which tensor of the checkpoint each variable starts with, as the restore function says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...ir.core import Value
from ..common.graph import Graph
from ..common.layer import Layer
from ..common.source import Source
from ..wire.numerals import whole_number
from ..wire.protobuf import Record, WireError
from ..wire.tensorbundle import Bundle, strings
from .functions import CALLS, Functions, FunctionValues, GraphValues
from .schema import SCHEMA, array_of, dtype_of

VARIABLES = ("VarHandleOp", "VariableV2", "Variable")
PREFIX = "variables/variables"
OBJECTS = "_CHECKPOINTABLE_OBJECT_GRAPH"
OBJECT = "/.ATTRIBUTES/VARIABLE_VALUE"
ASSIGNMENTS = ("AssignVariableOp", "Assign")


class States:
    """The variables that a model writes, and the block that may write them now."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        self.variables = list(variables)
        self.block: Any = None
        """None for the model's own."""


@dataclass(eq=False)
class Variable:
    """A variable: its name, its value in the file, and what the layers so far have made of it."""

    name: str
    array: np.ndarray | None
    value: Value | None = field(default=None, repr=False)

    states: States | None = field(default=None, repr=False)

    def write(self, n: Layer, value: Value) -> None:
        """Give it another value. Raises NncError where that is done in a place apart."""
        before = self.read(n)
        if value.type.element_type is not before.type.element_type:
            raise n.error(f"variable '{self.name}' is '{before.type}', not '{value.type}'")
        if self.states is None or n.builder.block is not (self.states.block or n.builder.entry):
            raise n.error(f"variable '{self.name}' is written where that is not followed")
        self.value = value

    def read(self, n: Layer) -> Value:
        """The value now. Raises NncError where the file has none."""
        if self.value is None and self.states is not None:
            self.value = n.builder.lookup(self.name)  # type: ignore[attr-defined]
        if self.value is None:
            if self.array is None:
                raise n.error(f"variable '{self.name}' has no value in the checkpoint")
            self.value = n.builder.constant(self.array, n.loc, key=self.name)
        return self.value


def bind_variables(source: Source, meta: Record, graph: Graph, functions: Functions) -> None:
    """Give each variable of a graph its value, as the attribute `variable` of its node."""
    nodes = [node for node in graph.nodes if node.kind in VARIABLES]
    if not nodes:
        return
    bundle = Bundle(source.beside, PREFIX) if source.has_beside(f"{PREFIX}.index") else None
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
    """The checkpoint's key of each variable that a function captures, as its object is stored."""
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
    """The key of each object: paths from the root are the same in the model and its checkpoint."""
    keys: dict[int, str] = {}
    pairs, seen = [(0, 0)], {0}
    while pairs:
        here, there = pairs.pop()
        if not (0 <= here < len(objects) and 0 <= there < len(stored)):
            raise WireError("an object is not there")
        for tensor in stored[there].tensors:
            keys[here] = tensor.key
        inner = {child.name: child.node for child in stored[there].children}
        for child in objects[here].children:
            if child.name in inner and child.node not in seen:
                seen.add(child.node)
                pairs.append((child.node, inner[child.name]))
    return keys


def restored(meta: Record, functions: Functions) -> dict[str, str]:
    """The checkpoint's key of each variable's node in the main graph."""
    keys: dict[str, str] = {}
    handles = {node.name: node.name for node in meta.graph.node if node.op in VARIABLES}
    restore = meta.saver.restore if meta.saver else ""
    _Restore(meta.graph.node, GraphValues(), handles, keys).run(functions, restore)
    return keys


class _Restore:
    """A graph or function in which variables are assigned what is read from a checkpoint."""

    def __init__(
        self,
        records: list[Record],
        values: GraphValues,
        handles: Mapping[str, str],
        keys: dict[str, str],
    ) -> None:
        self.nodes = {record.name: record for record in records}
        self.values = values
        self.handles = handles
        self.keys = keys

    def run(self, functions: Functions, restore: str = "", depth: int = 0) -> None:
        """Note what is assigned here, and in the functions that restore; all of them if nested."""
        for record in self.nodes.values():
            if record.op in ASSIGNMENTS and len(record.input) > 1:
                key, target = self.key(record.input[1]), self.handle(record.input[0])
                if key is not None and target is not None:
                    self.keys[target] = key
            called = record.attr.get("f") if record.op in CALLS else None
            wanted = depth > 0 or record.name == restore.partition(":")[0]
            if called is None or called.func is None or not wanted or depth > 10:
                continue
            function = functions.record(called.func.name)
            names = [arg.name for arg in function.signature.input_arg]
            data = [text for text in record.input if not text.startswith("^")]
            handles = {
                name: handle
                for name, text in zip(names, data, strict=False)
                if (handle := self.handle(text)) is not None
            }
            inner = _Restore(function.node_def, FunctionValues(function), handles, self.keys)
            inner.run(functions, depth=depth + 1)

    def handle(self, text: str) -> str | None:
        """The variable's node that a value is the handle of."""
        return self.handles.get(self.source(text)[0])

    def key(self, text: str) -> str | None:
        """The checkpoint's key that a value is read by."""
        name, place = self.source(text)
        record = self.nodes.get(name)
        if record is None or record.op != "RestoreV2" or len(record.input) < 2:
            return None
        named = self.nodes.get(self.values.maker(record.input[1]))
        value = named.attr.get("value") if named is not None and named.op == "Const" else None
        if value is None or value.tensor is None:
            return None
        keys = array_of(value.tensor).reshape(-1)
        return str(keys[place]) if place < len(keys) else None

    def source(self, text: str) -> tuple[str, int]:
        """The node and output that a value comes from, through identities."""
        for _ in range(100):
            name = self.values.name(text)
            node, _, number = name.partition(":")
            record = self.nodes.get(node)
            if record is None or record.op not in ("Identity", "IdentityN") or not record.input:
                return node, whole_number(number) or 0
            text = record.input[0]
        raise WireError("identities go in a circle")
