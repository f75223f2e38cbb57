"""Models without layers (trees, linear models, ..), each a graph of one node, and pipelines of
models.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...dialects.nn.host_types import MapType, string
from ...ir.types import TensorType, f64, i64
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..wire.protobuf import Record
from .files import Files
from .types import array_type

_SUPPRESSION = ("confidence", "coordinates")


def classical_graph(files: Files, model: Record, kind: str, notes: dict[str, str]) -> Graph:
    """The graph of a model of this kind: one node with the model's message as an attribute."""
    about, own = model.part("description"), getattr(model, kind)
    given: dict[str, Any] = {"model": own}
    names = [one.name for one in about.input]
    outputs = [one.name for one in about.output]
    if (labels := labels_of(own)) is not None:
        if kind == "kNearestNeighborsClassifier":  # each sample has a label
            labels, given["classes"] = np.unique(labels, return_inverse=True)
        given["labels"] = labels
        notes["classes"] = ", ".join(map(str, labels))
    if kind == "nonMaximumSuppression":
        names = [getattr(own, f"{one}InputFeatureName") for one in _SUPPRESSION]
        outputs = [getattr(own, f"{one}OutputFeatureName") for one in _SUPPRESSION]
    elif kind == "featureVectorizer":
        names = [column.inputColumn for column in own.inputList]
    elif kind.endswith("Classifier"):
        chances = about.predictedProbabilitiesName
        outputs = [about.predictedFeatureName or "label", *([chances] if chances else [])]
    elif kind.endswith("Regressor"):
        outputs = [about.predictedFeatureName or "".join(outputs[:1])]
        given["is_scalar"] = all(one.part("type").multiArrayType is None for one in about.output)
    if not names or not all((*names, *outputs)):
        raise files.error("the model lacks inputs or outputs, or the names of some")
    features = {one.name: one for one in about.input}
    if missing := [name for name in names if name not in features]:
        raise files.error(f"the model has no inputs {', '.join(missing)}")
    inputs = [_input(files, features[name]) for name in names]
    node = Node(kind, kind, names, [f"{name} of it" for name in outputs], given)
    pairs = list(zip(outputs, node.outputs, strict=True))
    producer = f"CoreML specification {model.specificationVersion}"
    return Graph(inputs, [node], pairs, {}, producer=producer, notes=notes)


def labels_of(model: Record) -> np.ndarray | None:
    """The labels of a classifier; None if it has none."""
    if words := list(model.part("stringClassLabels").values if _has(model, "string") else ()):
        return np.array(words, object)
    numbers = model.part("int64ClassLabels").values if _has(model, "int64") else ()
    return np.array(numbers, np.int64) if len(numbers) else None


def _has(model: Record, kind: str) -> bool:
    return hasattr(model, f"{kind}ClassLabels")


def _input(files: Files, feature: Record) -> Input:
    type = feature.part("type")
    if type.multiArrayType is not None:
        return Input(feature.name, array_type(type.multiArrayType))
    if type.dictionaryType is not None:
        key = string if type.dictionaryType.stringKeyType is not None else i64
        return Input(feature.name, MapType(key, f64))
    elements = {"doubleType": f64, "int64Type": i64, "stringType": string}
    which = type.which(*elements)
    if not which:
        raise files.error(f"input '{feature.name}' is neither a number nor text nor an array")
    return Input(feature.name, TensorType((), elements[which]))


def pipeline_graph(
    files: Files, model: Record, read: Callable[[Record], Graph], notes: dict[str, str]
) -> Graph:
    """The models of a pipeline in one graph, in order.

    A model's output is the input of the same name of the models after it.
    """
    about = model.part("description")
    given = {one.name for one in about.input}
    whole = model.pipeline
    if whole is None:
        whole = (model.pipelineClassifier or model.pipelineRegressor).part("pipeline")
    inputs: dict[str, Input] = {}
    names: dict[str, str] = {}
    nodes: list[Node] = []
    for i, one in enumerate(whole.models):
        graph = read(one)
        for value in graph.inputs:
            if value.name not in names:
                if value.name not in given:
                    raise files.error(f"model {i} reads '{value.name}', which nothing makes")
                inputs[value.name], names[value.name] = value, value.name
        taken = [names[value.name] for value in graph.inputs]
        made = {name: f"{name} of model {i}" for name, _ in graph.outputs}
        nodes.append(
            Node("model of a pipeline", f"{i}", taken, list(made.values()), {}, {"0": graph})
        )
        names |= made
        notes |= graph.notes
    outputs = [(one.name, names[one.name]) for one in about.output if one.name in names]
    if not outputs:
        raise files.error("the pipeline computes none of the model's outputs")
    producer = f"CoreML specification {model.specificationVersion}"
    return Graph(list(inputs.values()), nodes, outputs, {}, producer=producer, notes=notes)
