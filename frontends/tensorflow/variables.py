"""Which tensor of the checkpoint each variable starts with, as the restore function says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ...ir.core import Value
from ..common.graph import Graph
from ..common.layer import Layer
from ..common.source import Source
from ..wire.protobuf import Record, WireError
from ..wire.tensorbundle import Bundle
from .functions import CALLS, Functions, FunctionValues, GraphValues
from .schema import array_of, dtype_of

VARIABLES = ("VarHandleOp", "VariableV2", "Variable")
PREFIX = "variables/variables"
OBJECT = "/.ATTRIBUTES/VARIABLE_VALUE"
ASSIGNMENTS = ("AssignVariableOp", "Assign")


@dataclass
class Variable:
    """A variable: its name, its value in the file, and what the layers so far have made of it."""

    name: str
    array: np.ndarray | None
    value: Value | None = field(default=None, repr=False)

    def read(self, n: Layer) -> Value:
        """The value now. Raises NncError where the file has none."""
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
    home = source
    keys = restored(meta, functions)
    bundle = Bundle(home.beside, PREFIX) if home.has_beside(f"{PREFIX}.index") else None
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
            names = [arg.name for arg in function.signature.inputs]
            data = [text for text in record.input if not text.startswith("^")]
            handles = {
                name: handle
                for name, text in zip(names, data, strict=False)
                if (handle := self.handle(text)) is not None
            }
            inner = _Restore(function.node, FunctionValues(function), handles, self.keys)
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
                return node, int(number) if number.isdigit() else 0
            text = record.input[0]
        raise WireError("identities go in a circle")
