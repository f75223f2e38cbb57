"""Reads a package or a model file into a graph."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...ir.diagnostics import NncError
from ..common.graph import Graph
from ..common.source import Source
from ..wire.protobuf import Record, WireError
from .classical import classical_graph, pipeline_graph
from .files import Files
from .layer import rows
from .network import network_graph
from .program import program_graph
from .schema import SCHEMA


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
    """The file with the model; in a package, the one that its manifest names."""
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


def _graph(files: Files, model: Record) -> Graph:
    notes = _notes(model)
    if model.mlProgram is not None:
        return program_graph(files, model, notes)
    if files.source.signature is not None:
        raise files.error("a signature is given, but only CoreML's programs have functions")
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
    """Metadata of the model, its inputs and its outputs."""
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
