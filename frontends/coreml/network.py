"""From the layers of a neural network to a graph: each stands for operations of MIL.

Networks of the older kind work on [sequence, batch, channels, height, width]. Their sequences are
one step long here, and blobs are [batch, channels, height, width]: inputs of fewer dimensions get
those that they lack, and outputs have as many as the model says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.diagnostics import NncError
from ...ir.types import Dim, TensorType, f32
from ..common.graph import Graph, Node
from ..common.importer import MISFITS
from ..common.inputs import Input
from ..common.shapes import product
from ..wire.protobuf import Record
from .classical import labels_of
from .network_control import leaves_iteration, rest_of_iteration
from .network_layers import add_layer
from .types import array_type, unpacked

if TYPE_CHECKING:
    from .model import Files


_ELEMENTS = {"FLOAT32": "fp32", "FLOAT16": "fp16", "INT32": "int32"}
"""Element types of outputs; numbers of the older "DOUBLE" have those that they are computed in."""


def network_graph(files: Files, model: Record, network: Record, notes: dict[str, str]) -> Graph:
    """The graph of a network and of what it does to images before."""
    return Reader(files, model, network, notes).graph()


class Reader:
    """A network on its way to a graph; `add` appends an operation."""

    def __init__(self, files: Files, model: Record, network: Record, notes: dict[str, str]) -> None:
        self.files = files
        self.about = model.part("description")
        self.network = network
        self.notes = notes
        self.version = model.specificationVersion
        self.exact = network.arrayInputShapeMapping == "EXACT"
        self.nodes: list[Node] = []
        self.constants: dict[str, np.ndarray] = {}
        self.names: dict[str, str] = {}
        self.count = 0
        self.place = self.kind = ""
        self.outputs: list[str] = []

    def graph(self) -> Graph:
        inputs = [self.input(feature) for feature in self.about.input]
        self.add_layers(self.network.layers)
        if (labels := labels_of(self.network)) is not None:
            self.notes["classes"] = ", ".join(map(str, labels))
        outputs = [(one.name, self.output(one)) for one in self.results()]
        return Graph(
            inputs,
            self.nodes,
            outputs,
            self.constants,
            producer=f"CoreML specification {self.version}",
            notes=self.notes,
        )

    def add_layers(self, layers: Sequence[Record]) -> None:
        """The operations of layers, in their order."""
        for i, layer in enumerate(layers, 1):
            try:
                add_layer(self, layer)
            except MISFITS as fault:
                what = f"{type(fault).__name__}: {fault}"
                raise self.error(f"its inputs or parameters do not fit ({what})") from None
            if i < len(layers) and leaves_iteration(layer):
                rest_of_iteration(self, layers[i:])
                return

    def part(
        self, work: Callable[[], None], names: Mapping[str, str] | None = None
    ) -> tuple[list[Node], dict[str, str]]:
        """The nodes that the work adds, for a graph of their own, and blobs' names behind them."""
        outer = self.nodes, self.names, self.place
        self.nodes, self.names = [], {**self.names, **(names or {})}
        work()
        made = self.nodes, self.names
        self.nodes, self.names, self.place = outer
        return made

    def unique(self, blob: str) -> str:
        """A name for a value of a blob."""
        self.count += 1
        return f"{blob}#{self.count}"

    def results(self) -> list[Record]:
        """The outputs that the network computes; labels and tables by label are not tensors."""
        found = [one for one in self.about.output if one.name in self.names]
        if not found:
            made = self.network.labelProbabilityLayerName or next(reversed(self.names), "")
            for one in self.about.output:
                if one.part("type").dictionaryType is not None and made in self.names:
                    self.names[one.name] = self.names[made]
                    found.append(one)
        if not found:
            raise self.files.error("the network computes none of the model's outputs")
        return found

    def input(self, feature: Record) -> Input:
        """An input with its preprocessing, which images have."""
        name, type = feature.name, feature.part("type")
        self.place = name
        self.names[name] = name
        if (image := type.imageType) is not None:
            channels = 1 if image.colorSpace.startswith("GRAY") else 3
            shape: tuple[Dim, ...] = (1, channels, image.height or None, image.width or None)
            if image.imageSizeRange is not None:
                shape = (1, channels, None, None)
            self.preprocess(name, image)
            return Input(name, TensorType(shape, f32))
        found = array_type(type.part("multiArrayType"))
        shape = found.shape
        if not self.exact and len(shape) in (1, 3):
            wide = [1, *shape] if len(shape) == 3 else [1, *shape, 1, 1]
            self.reshaped(name, name, [-1 if d is None else d for d in wide])
        return Input(name, found)

    def preprocess(self, name: str, image: Record) -> None:
        """Scale and bias of an image, in the order of its channels, or its difference to a mean."""
        colors = image.colorSpace
        for one in self.network.preprocessing:
            if one.featureName not in ("", name):
                continue
            if (scaler := one.scaler) is not None:
                order = {"RGB": "red green blue", "BGR": "blue green red"}.get(colors, "gray")
                bias = [getattr(scaler, f"{color}Bias") for color in order.split()]
                scale = scaler.channelScale if scaler.has("channelScale") else 1.0
                self.notes[f"{name} (scale, bias)"] = f"{scale} {bias}"
                column = np.array(bias, np.float32).reshape(1, -1, 1, 1)
                self.add("mul", name, {"x": name, "y": np.float32(scale)})
                self.add("add", name, {"x": name, "y": column})
            elif one.meanImage is not None:
                mean = one.meanImage.meanImage
                if not mean.size or mean.size % (image.height * image.width or 1):
                    raise self.error(f"a mean image of {mean.size} numbers")
                planes = mean.reshape(1, -1, image.height, image.width)
                self.add("sub", name, {"x": name, "y": planes})

    def output(self, feature: Record) -> str:
        """The value of an output, with the shape and the element type that the model says."""
        name, array = feature.name, feature.part("type").multiArrayType
        if array is None:
            return self.names[name]
        self.place = name
        if array.shape and not self.exact:
            self.reshaped(name, name, [d if d > 0 else -1 for d in array.shape])
        if (element := _ELEMENTS.get(str(array.dataType))) is not None:
            self.add("cast", name, {"x": name}, dtype=element)
        return self.names[name]

    # -- nodes ------------------------------------------------------------------------------------

    def add(self, kind: str, output: str | Sequence[str], inputs: dict[str, Any], **given) -> None:
        """An operation; inputs are blobs' names, lists of them, or arrays."""
        from .layer import inputs_of

        bound: dict[str, list[str]] = {}
        for name, value in inputs.items():
            several = value if isinstance(value, list) else [value]
            bound[name] = [self.operand(one) for one in several]
            if not isinstance(value, str | list):
                given[name] = np.asarray(value)
        names = []
        for name, is_list in inputs_of(kind):
            if name not in bound and name in given:
                value = np.asarray(given[name])
                whole = value.astype(np.int32) if value.dtype.kind in "iub" else value
                bound[name] = [self.operand(whole)]
            names += bound.get(name, [] if is_list else [""])
        while names and not names[-1]:
            names.pop()
        outputs = [output] if isinstance(output, str) else list(output)
        values = [self.unique(one) if one in self.names else one for one in outputs]
        self.nodes.append(Node(kind, self.place, names, values, given))
        self.names |= dict(zip(outputs, values, strict=True))

    def error(self, message: str) -> NncError:
        """An error that names the layer."""
        return self.files.error(f"layer '{self.place}': {message}")

    def operand(self, value: Any) -> str:
        """The name of a blob or of a constant."""
        if isinstance(value, str):
            if value not in self.names:
                raise self.files.error(f"layer '{self.place}' uses '{value}', which nothing makes")
            return self.names[value]
        name = self.unique(self.place)
        self.constants[name] = np.asarray(value)
        return name

    def reshaped(self, output: str, x: str, shape: Sequence[int]) -> None:
        self.add("reshape", output, {"x": x, "shape": np.array(shape, np.int32)})

    def weight(self, params: Record, shape: Sequence[int]) -> np.ndarray:
        """Weights in a shape, as floats; views of the file where they are stored so."""
        count = product(shape) or 0
        array = params.floatValue
        if params.has("float16Value"):
            data = params.float16Value
            array = data[: data.size // 2 * 2].view("<f2").astype(np.float32)
        elif params.has("rawValue") and params.quantization is not None:
            array = self.quantized(params, count, shape)
        if array.size != count:
            raise self.error(f"{array.size} weights, expected {count} for {list(shape)}")
        return array.reshape(tuple(shape))

    def quantized(self, params: Record, count: int, shape: Sequence[int]) -> np.ndarray:
        """Weights of few bits, with scales and biases for each row, or by a table."""
        how = params.quantization
        bits = how.numberOfBits
        if not 1 <= bits <= 8 or params.rawValue.size * 8 < count * bits:
            raise self.error(f"weights of {bits} bits misfit")
        # The highest bits of a byte come first.
        rows = np.unpackbits(params.rawValue, count=count * bits)
        places = unpacked(
            np.packbits(rows.reshape(-1, bits)[:, ::-1].reshape(-1), bitorder="little"),
            bits,
            count,
            False,
        )
        if (table := how.lookupTableQuantization) is not None:
            if places.size and int(places.max()) >= table.floatValue.size:
                raise self.error("an index outside of the table")
            return table.floatValue[places]
        linear = how.part("linearQuantization")
        column = places.astype(np.float32).reshape(max(shape[0], 1), -1)
        for part in (linear.scale, linear.bias):
            if part.size not in (0, 1, column.shape[0]):
                raise self.error(f"{part.size} scales or biases")
        scale = linear.scale if linear.scale.size else np.ones(1, np.float32)
        bias = linear.bias if linear.bias.size else np.zeros(1, np.float32)
        return column * scale.reshape(-1, 1) + bias.reshape(-1, 1)
