"""From a package or a model's file to its graph."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...ir.diagnostics import NncError
from ..common.graph import Graph
from ..common.source import Source
from ..wire.protobuf import Record, WireError
from .classical import classical_graph, pipeline_graph
from .layer import rows
from .network import network_graph
from .program import program_graph
from .schema import SCHEMA

_ALIGNED = 64
_MARK = 0xDEADBEEF


def read_model(source: Source) -> Graph:
    """The graph of a model. Raises NncError."""
    file = _model_file(source)
    try:
        model = SCHEMA.read("Model", file.data)
    except WireError as error:
        raise source.error(f"no CoreML model: {error}") from None
    return _graph(Files(source, file), model)


def model_files(path: Path) -> Sequence[Path]:
    """The model's file and those of its weights."""
    try:
        file = _model_file(Source(path)).path
    except NncError:
        return [path]
    assert file is not None
    return [file, *sorted((file.parent / "weights").glob("*.bin"))]


def _model_file(source: Source) -> Source:
    """The file with the model; in a package, the one that its list names."""
    if not source.is_folder:
        return source
    text = source.beside("Manifest.json")
    try:
        items: Any = json.loads(text.text)
        entry = items["itemInfoEntries"][items["rootModelIdentifier"]]
        path = "Data/" + entry["path"]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise text.error("the package's list names no model") from None
    return source.beside(path)


class Files:
    """A model's files: where errors and weights are."""

    def __init__(self, source: Source, file: Source) -> None:
        self.source = source
        self._file = file
        self._weights: dict[str, np.ndarray] = {}

    def error(self, message: str) -> NncError:
        """An error that names the model."""
        return self.source.error(message)

    def bytes_at(self, name: str, offset: int) -> np.ndarray:
        """The bytes of a constant in a file of weights, where its head stands at the offset.

        Source: apple/coremltools, mlmodel/src/MILBlob/Blob/StorageFormat.hpp
        """
        if name not in self._weights:
            self._weights[name] = self._file.beside(name.removeprefix("@model_path/")).data
        data = self._weights[name]
        if offset < 0 or offset % _ALIGNED or offset + _ALIGNED > data.size:
            raise self.error(f"a constant lies at byte {offset} of '{name}', which has no such")
        head = data[offset : offset + _ALIGNED]
        size, begin = (int(v) for v in head[8:24].view("<u8"))
        if int(head[:4].view("<u4")[0]) != _MARK or begin + size > data.size:
            raise self.error(f"'{name}' has no constant at byte {offset}")
        return data[begin : begin + size]


def _graph(files: Files, model: Record) -> Graph:
    notes = _notes(model)
    if model.mlProgram is not None:
        return program_graph(files, model, notes)
    for kind in ("neuralNetwork", "neuralNetworkClassifier", "neuralNetworkRegressor"):
        if (network := getattr(model, kind)) is not None:
            return network_graph(files, model, network, notes)
    known = ("specificationVersion", "isUpdatable", "description")
    kinds = [name for name, _ in model.fields() if name not in known]
    kind = next(iter(kinds), "")
    if kind.startswith("pipeline"):
        return pipeline_graph(files, model, lambda one: _graph(files, one), notes)
    if rows.find(kind) is not None:
        return classical_graph(files, model, kind, notes)
    raise files.error(f"a CoreML model of the kind {kind or 'unknown'} is not supported")


def _notes(model: Record) -> dict[str, str]:
    """What the model says of itself and of its inputs and outputs."""
    about = model.part("description")
    data = about.part("metadata")
    notes = {
        name: getattr(data, field)
        for name, field in (
            ("description", "shortDescription"),
            ("version", "versionString"),
            ("author", "author"),
            ("license", "license"),
        )
        if getattr(data, field)
    }
    notes |= dict(data.userDefined)
    for feature in (*about.input, *about.output):
        if feature.shortDescription:
            notes[feature.name] = feature.shortDescription
        if (image := feature.part("type").imageType) is not None:
            notes[f"{feature.name} (image)"] = f"{image.width}x{image.height} {image.colorSpace}"
    return notes
