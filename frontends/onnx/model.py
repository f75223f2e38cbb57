"""Reads a model file, and checks it before its graph is used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError

from ...ir.diagnostics import NncError
from ...ir.location import FileLineColLoc
from ..common.source import Source
from ..detection.unknown import what_it_is
from ..wire.protobuf import WireError
from .names import undecodable_name
from .tensors import TensorReader
from .wire import OWN_FILE, without_weights

OLDEST_OPSET = 1
FIRST_WITH_OPSETS = 3
"""The IR version from which on models name their opsets; before, there was only one."""

FOR_ONE_PROCESSOR = "com.microsoft.nchwc"
"""Onnxruntime's domain of operators on blocks of channels, whose size is not in the file.

Source: onnxruntime's nchwc_transformer.cc; MlasNchwcGetBlockSize is 8 or 16 by the processor.
"""


@dataclass
class Model:
    """A parsed model: its proto, its name in messages, and the reader of its tensors."""

    proto: Any
    name: str
    tensors: TensorReader
    opsets: dict[str, int]
    functions: dict[tuple[str, str, str], Any]

    @property
    def loc(self) -> FileLineColLoc:
        return FileLineColLoc(self.name, 0, 0)

    def error(self, message: str) -> NncError:
        return NncError(message, self.loc)


def read_model(given: Any) -> Model:
    """The model of a path, bytes or a ModelProto. Raises NncError if it is unusable."""
    source = given if isinstance(given, Source) else Source(given)
    name, loc = source.name, source.loc
    if isinstance(source.object, onnx.ModelProto):
        proto, tensors = source.object, TensorReader(None)
    elif source.object is not None:
        raise NncError(f"not a model: {type(source.object).__name__}", loc)
    else:
        proto = _parse(source)
        tensors = TensorReader(source.path.parent if source.path else None, source.data)
    if not proto.HasField("graph"):
        raise NncError("not an ONNX model: it has no graph", loc)
    if (bad := undecodable_name(proto)) is not None:
        raise NncError(f"not a valid ONNX model: the name {bad!r} is not UTF-8 text", loc)
    model = Model(proto, name, tensors, {}, {})
    model.opsets = _opsets(model, proto.opset_import)
    if proto.ir_version < FIRST_WITH_OPSETS:
        model.opsets.setdefault("", 1)
    uses_default = any(domain(node.domain) == "" for node in proto.graph.node)
    if uses_default and "" not in model.opsets:
        raise model.error("the model names no opset of the default domain")
    if any(node.domain == FOR_ONE_PROCESSOR for node in proto.graph.node):
        raise model.error(
            "onnxruntime saved it for one processor, with weights in blocks of channels "
            f"({FOR_ONE_PROCESSOR}): give the model that it was made of, or save it with "
            "graph_optimization_level ORT_ENABLE_EXTENDED"
        )
    for function in proto.functions:
        key = (domain(function.domain), function.name, function.overload)
        if key in model.functions:
            raise model.error(f"function '{function.name}' is defined twice")
        model.functions[key] = function
    return model


def domain(name: str) -> str:
    """The normalized name of a domain; the default one has two spellings."""
    return "" if name == "ai.onnx" else name


def _opsets(model: Model, imports: Any) -> dict[str, int]:
    opsets: dict[str, int] = {}
    for entry in imports:
        key = domain(entry.domain)
        if opsets.setdefault(key, entry.version) != entry.version:
            raise model.error(f"two versions of opset '{key or 'ai.onnx'}' are imported")
    check_opset(model, opsets)
    return opsets


def check_opset(model: Model, opsets: dict[str, int]) -> None:
    """Raise NncError unless the default domain's opset is supported."""
    version = opsets.get("")
    newest = onnx.defs.onnx_opset_version()
    if version is None:
        return
    if version < OLDEST_OPSET:
        raise model.error(
            f"opset {version} is too old, expected {OLDEST_OPSET} to {newest}; "
            "onnx.version_converter can raise it"
        )
    if version > newest:
        raise model.error(
            f"opset {version} is too new, expected {OLDEST_OPSET} to {newest} "
            f"(onnx {onnx.__version__}); a newer onnx package may know it"
        )


def function_opsets(model: Model, function: Any) -> dict[str, int]:
    """The opsets of a function body, which may differ from the model's."""
    return {**model.opsets, **_opsets(model, function.opset_import)}


def needs_other_files(source: str | Path) -> bool:
    """Whether a model's tensors are in files beside its own. Raises NncError as `read_model`."""
    proto = read_model(source).proto
    nodes = [*proto.graph.node, *(node for function in proto.functions for node in function.node)]
    return any(
        entry.key == "location" and entry.value != OWN_FILE
        for tensor in (*proto.graph.initializer, *_tensors(nodes))
        for entry in tensor.external_data
    )


def _tensors(nodes: Iterable[Any]) -> Iterator[Any]:
    """The tensors in attributes of the nodes and of nested nodes."""
    for node in nodes:
        for attribute in node.attribute:
            yield attribute.t
            yield from attribute.tensors
            for graph in (attribute.g, *attribute.graphs):
                yield from graph.initializer
                yield from _tensors(graph.node)


# -- the file --------------------------------------------------------------------------------


def _parse(source: Source) -> Any:
    """The parsed model without its large weights."""
    data, loc = source.data, source.loc
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(without_weights(data))
    except (DecodeError, WireError, RecursionError) as error:
        raise NncError(f"{_no_model(source)}: {_reason(source, error)}", loc) from None
    if not proto.HasField("graph") or not proto.ir_version:
        raise NncError(f"{_no_model(source)}: {_reason(source, None)}", loc)
    return proto


def _no_model(source: Source) -> str:
    """A message that a file is no ONNX model, though its name or contents suggest it."""
    if source.path is not None and source.path.suffix not in (".onnx", ".pb"):
        return "in no format that nnc reads"
    return "not an ONNX model"


def _reason(source: Source, error: Exception | None) -> str:
    """Why a file is no ONNX model."""
    if words := what_it_is(source):
        return f"it is {words}"
    return f"it cannot be decoded; is it truncated? ({error})" if error else "it has no graph"
