"""From the files of a net to its graph."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ...ir.diagnostics import NncError
from ...ir.location import FileLineColLoc
from ...ir.types import Dim, TensorType, f32
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..common.source import Source
from ..wire.protobuf import Record, WireError
from ..wire.protobuf_text import TextError, read_text
from .layer import Attributes
from .schema import SCHEMA

_V1_NAMES = {
    "ABSVAL": "AbsVal",
    "ARGMAX": "ArgMax",
    "BNLL": "BNLL",
    "HDF5_DATA": "HDF5Data",
    "LRN": "LRN",
    "MVN": "MVN",
    "RELU": "ReLU",
    "TANH": "TanH",
    "SOFTMAX_LOSS": "SoftmaxWithLoss",
}
_DATA = {"Data", "ImageData", "HDF5Data", "AnnotatedData", "MemoryData", "DummyData", "Input"}
_UNUSED = {"Accuracy", "Silence", "EuclideanLoss", "HingeLoss", "ContrastiveLoss", "InfogainLoss",
           "MultinomialLogisticLoss", "HDF5Output", "DetectionEvaluate"}  # fmt: skip
"""Layers that only training needs. SoftmaxWithLoss is not among them: it is read as a softmax."""

_LOSSES = {"SoftmaxWithLoss": "Softmax", "SigmoidCrossEntropyLoss": "Sigmoid"}

_RAW = {"DOUBLE": "<f8", "FLOAT": "<f4", "FLOAT16": "<f2"}


def read_model(source: Source) -> Graph:
    """The graph of a net. Raises NncError."""
    structure, weights = _files(source)
    net = _read(structure)
    blobs = {} if weights is None else _blobs(weights)
    return _Reader(structure, net, blobs).graph()


def model_files(path: Path) -> Sequence[Path]:
    """The net's file and that of its weights."""
    try:
        found = _files(Source(path))
    except NncError:
        return [path]
    return list(dict.fromkeys(one.path for one in found if one is not None and one.path))


def is_text(source: Source) -> bool:
    """Whether a file is a net as text, rather than weights."""
    head = source.head
    return bool(head) and all(c >= 32 or c in b"\t\n\r\f\v" for c in head)


def _files(source: Source) -> tuple[Source, Source | None]:
    """The source of the net's structure and that of its weights."""
    if source.path is None:
        return source, None if is_text(source) else source
    if source.is_folder:
        structure = _one_of(source, sorted(source.path.glob("*.prototxt")), "deploy")
        if structure is None:
            raise source.error("the folder has no .prototxt")
        source = Source(structure)
    assert source.path is not None
    text = is_text(source)
    suffix = ".caffemodel" if text else ".prototxt"
    beside = sorted(source.path.parent.glob(f"*{suffix}"))
    same = source.path.with_suffix(suffix)
    if same in beside:
        other = same
    elif text or any(path.stem == "deploy" for path in beside) or len(beside) == 1:
        other = _one_of(source, beside, "deploy")
    else:
        other = None
    if text:
        return source, None if other is None else Source(other)
    return (source if other is None else Source(other)), source


def _one_of(source: Source, paths: Sequence[Path], preferred: str) -> Path | None:
    """The only one of the files, or the preferred one. Raises NncError if it is ambiguous."""
    usual = [path for path in paths if path.stem == preferred]
    if len(paths) > 1 and len(usual) != 1:
        names = ", ".join(path.name for path in paths)
        raise source.error(f"one of these files may belong to it: {names}; give two the same name")
    return (usual or list(paths) or [None])[0]


def _read(source: Source, message: str = "Net") -> Record:
    """The net in a file, text or binary."""
    try:
        if is_text(source):
            net = read_text(SCHEMA, message, source.text)
        else:
            net = SCHEMA.read(message, source.data)
    except TextError as error:
        raise NncError(str(error), FileLineColLoc(source.name, error.line, error.column)) from None
    except WireError as error:
        raise source.error(f"no net of Caffe: {error}") from None
    if not net.layer and not net.layers:
        raise source.error("no net of Caffe: it has no layers")
    return net


def _layers(net: Record) -> Sequence[Record]:
    return net.layer or net.layers


def _kind(layer: Record) -> str:
    """The layer's type by its name in the second version of nets."""
    kind: str = layer.type
    if layer._message == "Layer":
        return kind
    return _V1_NAMES.get(kind, kind.title().replace("_", ""))


def _blobs(source: Source) -> dict[str, list[np.ndarray]]:
    """The weights in a file, by layer."""
    found = {}
    for layer in _layers(_read(source, "Weights")):
        if layer.blobs:
            arrays = (_array(source, layer.name, blob) for blob in layer.blobs)
            found.setdefault(layer.name, list(arrays))
    return found


def _array(source: Source, name: str, blob: Record) -> np.ndarray:
    """The elements of a blob, as a view of the file if they are stored as floats."""
    array = np.asarray(blob.data)
    if blob.has("double_data"):
        array = blob.double_data.astype(np.float32)
    elif blob.has("raw_data"):
        kind = _RAW.get(blob.raw_data_type)
        if kind is None:
            raise source.error(f"layer '{name}': weights of type {blob.raw_data_type}")
        if blob.raw_data.size % np.dtype(kind).itemsize:
            raise source.error(f"layer '{name}': the weights end within a number")
        array = blob.raw_data.view(kind).astype(np.float32)
    shape = tuple(blob.part("shape").dim)
    if not blob.has("shape"):
        shape = (blob.num, blob.channels, blob.height, blob.width)
        if not any(blob.has(name) for name in ("num", "channels", "height", "width")):
            shape = (array.size,)
    if min(shape, default=1) < 0 or math.prod(shape) != array.size:
        raise source.error(
            f"layer '{name}': a blob of shape {list(shape)} has {array.size} elements"
        )
    return array.reshape(shape)


class _Reader:
    def __init__(self, source: Source, net: Record, blobs: dict[str, list[np.ndarray]]) -> None:
        self.source = source
        self.net = net
        self.blobs = blobs
        self.names: dict[str, str] = {}
        """The current value of each blob: layers may overwrite their inputs."""
        self.inputs: dict[str, tuple[Dim, ...]] = {}
        self.values: set[str] = set()
        self.nodes: list[Node] = []
        self.notes: dict[str, str] = {}

    def graph(self) -> Graph:
        net = self.net
        for name, shape in zip(net.input, self.declared_shapes(), strict=False):
            self.input(name, shape)
        for layer in _layers(net):
            if _applies(layer):
                self.layer(layer, _kind(layer))
        used = {name for node in self.nodes for name in node.inputs}
        made = {name for node in self.nodes for name in node.outputs}
        inputs = [name for name in self.inputs if name in used] or list(self.inputs)
        outputs = [
            (name, value)
            for name, value in self.names.items()
            if value in made and value not in used
        ]
        return Graph(
            [self.typed(name) for name in inputs],
            self.nodes,
            outputs,
            producer=f"net '{net.name}'" if net.name else "",
            notes=self.notes,
        )

    def typed(self, name: str) -> Input:
        shape = tuple(d if d is None or d > 0 else None for d in self.inputs[name])
        return Input(name, TensorType(shape, f32))

    def declared_shapes(self) -> Iterator[tuple[Dim, ...]]:
        """The shapes of the inputs that are declared before all layers."""
        yield from (tuple(shape.dim) for shape in self.net.input_shape)
        dims = self.net.input_dim
        for at in range(0, len(dims), 4):
            yield tuple(dims[at : at + 4])
        while True:
            yield (None,) * 4

    def input(self, name: str, shape: Sequence[Dim]) -> None:
        self.inputs[name] = tuple(shape)
        self.names[name] = name
        self.values.add(name)

    def layer(self, layer: Record, kind: str) -> None:
        """Add a layer; blobs that are written again get new names."""
        if layer.has("transform_param"):
            self.note(layer)
        if kind in _DATA:
            for top, shape in zip(layer.top, _shapes(layer, kind), strict=False):
                self.input(top, shape)
            return
        if kind in _UNUSED:
            return
        bottoms = list(layer.bottom)
        if kind in _LOSSES:
            kind, bottoms = _LOSSES[kind], bottoms[:1]
        for name in bottoms:
            if name not in self.names:
                raise self.source.error(
                    f"layer '{layer.name}' ({kind}): its bottom '{name}' is not a top of a layer "
                    "before it"
                )
        inputs = [self.names[name] for name in bottoms]
        tops = list(layer.top) or [layer.name]
        outputs = []
        for top in tops:
            value, count = top, 1
            while value in self.values:
                count += 1
                value = f"{top}#{count}"
            self.values.add(value)
            outputs.append(value)
        blobs = self.blobs.get(layer.name, [])
        self.nodes.append(Node(kind, layer.name, inputs, outputs, Attributes(layer, blobs)))
        for top, value in zip(tops, outputs, strict=True):
            self.names.pop(top, None)
            self.names[top] = value

    def note(self, layer: Record) -> None:
        """Record what a data layer says of its images."""
        transform = layer.part("transform_param")
        if transform.has("scale"):
            self.notes["scale"] = str(transform.scale)
        if len(transform.mean_value):
            self.notes["mean"] = " ".join(map(str, transform.mean_value.tolist()))


def _applies(layer: Record) -> bool:
    """Whether the layer belongs to a net for inference."""
    if layer.include:
        return any(map(_meets, layer.include))
    return not any(map(_meets, layer.exclude))


def _meets(rule: Record) -> bool:
    return (
        (not rule.has("phase") or rule.phase == "TEST")
        and rule.min_level <= 0
        and (not rule.has("max_level") or rule.max_level >= 0)
        and not rule.stage
    )


def _shapes(layer: Record, kind: str) -> Iterator[tuple[Dim, ...]]:
    """The shapes that a data layer produces: images, then labels."""
    if kind in ("Input", "DummyData"):
        p = layer.part("input_param" if kind == "Input" else "dummy_data_param")
        shapes = [tuple(shape.dim) for shape in p.shape]
        if not shapes and kind == "DummyData":
            shapes = list(zip(p.num, p.channels, p.height, p.width, strict=False))
        yield from shapes
        while True:
            yield shapes[0] if shapes else (None,) * 4
    size = layer.part("transform_param").crop_size or layer.part("data_param").crop_size or None
    if kind == "MemoryData":
        p = layer.part("memory_data_param")
        yield (p.batch_size, p.channels, p.height, p.width)
    else:
        yield (None, None, size, size)
    while True:
        yield (None,)
