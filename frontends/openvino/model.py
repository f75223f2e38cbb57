"""Reads OpenVINO's `NAME.xml` into a graph: layers with numbered ports, and edges between them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from ...ir.types import Dim, TensorType, Type, UnrankedTensorType, f32
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..common.source import Source
from .constants import TYPES, read_constant
from .ports import Ports
from .states import States

VERSIONS = ("10", "11")
_PRECISIONS = {"FP64": "f64", "FP32": "f32", "FP16": "f16", "BF16": "bf16", "BOOL": "boolean"}


def read(source: Source) -> Graph:
    """The graph of a model with its weights. Raises NncError."""
    text = source.data.tobytes()
    if b"<!DOCTYPE" in text:
        raise source.error("XML with a document type, which models of OpenVINO do not have")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise source.error(f"no XML: {error}") from None
    if root.tag != "net" or root.get("version") not in VERSIONS:
        found = f"{root.tag} of version {root.get('version')}"
        raise source.error(f"{found}, expected OpenVINO's net of version 10 or 11; convert it anew")
    try:
        return _Reader(source, root).graph()
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise source.error(f"no model of OpenVINO: {type(error).__name__} {error}") from None


@dataclass
class _Layer:
    """A layer of the file; ports have numbers, of which outputs follow inputs."""

    element: Element
    name: str
    kind: str
    inputs: Sequence[str]
    outputs: Sequence[Element]
    data: Mapping[str, Any] = field(default_factory=dict)


class _Reader:
    """Reads the layers of a model."""

    def __init__(self, source: Source, root: Element, outer: _Reader | None = None) -> None:
        self.source, self.root, self.outer = source, root, outer
        self.values: dict[tuple[str, str], str] = {}
        """The name of the value at each output: (layer, port)."""
        self.tensors: dict[tuple[str, str], str] = {}
        """The name that the model gives an output, for callers."""
        self.edges: dict[tuple[str, str], tuple[str, str]] = {}
        self.elements: dict[str, Type] = {}
        self.constants: dict[str, np.ndarray] = {}
        self.place = ""
        """What distinguishes names of a body from those of the graphs around it."""

    def graph(self) -> Graph:
        """The whole graph."""
        for edge in self.root.findall("edges/edge"):
            to = edge.attrib["to-layer"], edge.attrib["to-port"]
            self.edges[to] = edge.attrib["from-layer"], edge.attrib["from-port"]
        used = set(self.edges.values())
        layers = [self.layer(one) for one in self.root.findall("layers/layer")]
        nodes, inputs, outputs = [], [], []
        states = States(self.source)
        for layer in layers:
            match layer.kind:
                case "Parameter":
                    inputs.append(self.input(layer))
                case "Const":
                    self.constants[self.values_of(layer)[0]] = self.constant(layer)
                case "Result":
                    outputs.append(self.output(layer, [name for name, _ in outputs]))
                case _:
                    node = self.node(layer, used)
                    nodes.append(states.node(node, layer.data))
        if states.values and self.outer is not None:
            raise self.source.error("states inside of a loop or a branch are not supported")
        states.finish(self.constants)
        return Graph(
            [*inputs, *states.inputs],
            nodes,
            [*outputs, *states.outputs],
            self.constants,
            producer=self.producer(),
            notes=states.notes,
            starts=states.starts,
            elements=self.elements,
        )

    def node(self, layer: _Layer, used: Collection[tuple[str, str]]) -> Node:
        """A layer as a node; outputs that nothing uses have no names."""
        given = [self.source_of(layer, port) for port in layer.inputs]
        number = layer.element.attrib["id"]
        ports = [(number, port.attrib["id"]) for port in layer.outputs]
        found = [self.values[at] if at in used else "" for at in ports]
        graphs, data = {}, dict(layer.data)
        for part in layer.element:
            if part.tag.endswith("body"):
                inner = _Reader(self.source, part, self)
                inner.place = f"{self.place}{number}.{part.tag}."
                graphs[part.tag] = inner.graph()
                results = [one.attrib["id"] for one in layer.outputs]
                data[part.tag] = Ports.of(layer.element, part.tag, layer.inputs, results)
        return Node(layer.kind, layer.name, given, found, data, graphs)

    def producer(self) -> str:
        """The version of OpenVINO that wrote the file."""
        found = self.root.find("rt_info/Runtime_version")
        return "" if found is None else found.get("value", "")

    def layer(self, element: Element) -> _Layer:
        """A layer, whose outputs get their names."""
        number, name, kind = (element.attrib[key] for key in ("id", "name", "type"))
        ports = [one.attrib["id"] for one in element.findall("input/port")]
        outputs = element.findall("output/port")
        data = element.find("data")
        given = {} if data is None else dict(data.attrib)
        given["opset"] = element.get("version", "opset1")
        for i, port in enumerate(outputs):
            at = number, port.attrib["id"]
            self.values[at] = f"{self.place}{name}#{number}" + (f".{i}" if i else "")
            self.tensors[at] = _first_name(port.get("names", "")) or name
            kind_of = port.get("precision", "")
            known = TYPES.get(_PRECISIONS.get(kind_of, kind_of.lower()))
            if known is not None and kind != "Const":
                self.elements[self.values[at]] = known
        return _Layer(element, name, kind, ports, outputs, given)

    def values_of(self, layer: _Layer) -> list[str]:
        """The names of the values that a layer makes."""
        number = layer.element.attrib["id"]
        return [self.values[number, port.attrib["id"]] for port in layer.outputs]

    def source_of(self, layer: _Layer, port: str) -> str:
        """The name of the value at an input of a layer."""
        at = self.edges.get((layer.element.attrib["id"], port))
        if at is None or at not in self.values:
            raise self.source.error(
                f"layer '{layer.name}' ({layer.kind}): nothing is connected to its input {port}"
            )
        return self.values[at]

    def input(self, layer: _Layer) -> Input:
        """An input of the model, by the name that callers know."""
        (value,) = self.values_of(layer)
        kind = layer.data["element_type"]
        if kind not in TYPES and self.outer is None:
            what = "; convert the model with types of its inputs" if kind == "dynamic" else ""
            raise self.source.error(f"input '{layer.name}': elements of type '{kind}'{what}")
        element = TYPES.get(kind, f32)  # that of what a body is called with
        name = self.tensors[layer.element.attrib["id"], layer.outputs[0].attrib["id"]]
        if self.outer is not None:
            name = self.place + layer.element.attrib["id"]
        for at in [at for at, one in self.values.items() if one == value]:
            self.values[at] = name
        shape = layer.data.get("shape", "")
        if shape == "...":
            return Input(name, UnrankedTensorType(element))
        return Input(name, TensorType(tuple(map(_dim, _words(shape))), element))

    def output(self, layer: _Layer, taken: Sequence[str]) -> tuple[str, str]:
        """The name of an output, and of its value."""
        value = self.source_of(layer, layer.inputs[0])
        number = layer.element.attrib["id"]
        if self.outer is not None:
            return number, value
        at = self.edges[number, layer.inputs[0]]
        given = _first_name(layer.element.get("output_names", "")) or self.tensors[at]
        return (layer.name if given in taken else given), value

    def constant(self, layer: _Layer) -> np.ndarray:
        """The numbers of a constant."""
        if self.source.path is None:
            raise self.source.error("its weights are in a file beside it; give a path")
        data = self.weights
        begin, size = int(layer.data["offset"]), int(layer.data["size"])
        shape = [int(v) for v in _words(layer.data["shape"])]
        return read_constant(data, begin, size, layer.data["element_type"], shape, self.source)

    @cached_property
    def weights(self) -> np.ndarray:
        """The bytes of the file with the weights."""
        if self.outer is not None:
            return self.outer.weights
        assert self.source.path is not None
        return self.source.beside(self.source.path.with_suffix(".bin").name).data


def _words(text: str) -> list[str]:
    return [word for word in text.replace(" ", "").split(",") if word]


def _dim(text: str) -> Dim:
    """An extent; None for an open one, such as `?`, `-1` or `1..8`."""
    return int(text) if text.isdigit() else None


def _first_name(names: str) -> str:
    r"""The first of names that commas separate; a comma within one is written as `\,`."""
    parts = names.replace("\\,", "\0").split(",")
    return parts[0].replace("\0", ",")
