"""SavedModel folders and frozen graphs as graphs of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..common.graph import Graph
from ..common.inputs import Input
from ..common.source import Source
from ..detection.tensorflow import FILE, SAVED, is_text
from ..wire.protobuf import Record, WireError
from ..wire.protobuf_text import TextError
from .functions import Functions, GraphValues, graph_of, result_count
from .schema import SCHEMA, read_graph, type_of
from .signatures import Order, signature_of
from .states import with_states
from .tables import FILLING, bind_tables
from .variables import bind_variables, checkpoint

PLACEHOLDERS = ("Placeholder", "PlaceholderV2")
NO_RESULTS = ("NoOp", "Assert", "Const", *PLACEHOLDERS, *FILLING)
"""Operators that are no outputs even if nothing uses their results."""


def files(path: Path) -> Sequence[Path]:
    """The files of a model."""
    home = path if path.is_dir() else path.parent
    if path.is_dir() or path.name == FILE:
        return [home / FILE, *sorted((home / "variables").glob("*"))]
    return [path]


def read(source: Source) -> Graph:
    """The graph of a model. Raises NncError if it is invalid."""
    try:
        if source.is_folder:
            return _saved_model(source, source.beside(FILE))
        if source.head[:3] == SAVED:
            return _saved_model(source, source)
        if is_text(source.head):
            return _frozen_graph(source, read_graph(source.text))
        return _frozen_graph(source, SCHEMA.read("GraphDef", source.data))
    except TextError as error:
        raise source.error(f"line {error.line}, column {error.column}: {error}") from None
    except WireError as error:
        raise source.error(f"not a TensorFlow model: {error}") from None


def _saved_model(source: Source, file: Source) -> Graph:
    model = SCHEMA.read("SavedModel", file.data)
    metas = [meta for meta in model.meta_graphs if meta.graph is not None]
    if not metas:
        raise source.error("a SavedModel without a graph")
    meta = next((m for m in metas if m.info and "serve" in m.info.tags), metas[0])
    signature = signature_of(source, meta)
    values, functions = GraphValues(), Functions(source, meta.graph.library)
    renamed, inputs, order = {}, [], Order(meta, signature, functions)
    for name, info in order.of_inputs(signature.inputs):
        renamed[values.name(info.name)] = name
        inputs.append(Input(name, type_of(info.dtype, info.shape)))
    found = order.of_outputs(signature.outputs)
    outputs = [(name, values.name(info.name)) for name, info in found]
    outputs = [(name, renamed.get(value, value)) for name, value in outputs]
    graph = graph_of(meta.graph.node, inputs, outputs, values, functions, renamed)
    bind_variables(source, meta, graph, functions)
    bundle = partial(checkpoint, source)
    bind_tables(source, meta.graph.node, graph, functions, meta.assets, bundle)
    version = meta.info.tensorflow_version if meta.info else ""
    graph = replace(graph, producer=f"TensorFlow {version}".strip())
    return with_states(source, graph)


def _frozen_graph(source: Source, record: Record) -> Graph:
    """A frozen graph: placeholders are the inputs, unused values the outputs."""
    values = GraphValues()
    used = {values.maker(text) for node in record.node for text in node.input}
    renamed, inputs = {}, []
    for node in record.node:
        if node.op in PLACEHOLDERS and node.name in used:
            renamed[f"{node.name}:0"] = node.name
            inputs.append(Input(node.name, _placeholder_type(node)))
    outputs = [
        (node.name if i == 0 else f"{node.name}:{i}", f"{node.name}:{i}")
        for node in record.node
        if node.name not in used and node.op not in NO_RESULTS
        for i in range(result_count(node))
    ]
    if not outputs:
        raise source.error("a TensorFlow graph without outputs")
    functions = Functions(source, record.library)
    graph = graph_of(record.node, inputs, outputs, values, functions, renamed)
    bind_tables(source, record.node, graph, functions)
    return replace(graph, producer="TensorFlow")


def _placeholder_type(node: Record):
    dtype, shape = node.attr.get("dtype"), node.attr.get("shape")
    if dtype is None:
        raise WireError(f"placeholder '{node.name}' has no type")
    return type_of(dtype.type, shape.shape if shape is not None else None)
