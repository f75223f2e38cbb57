"""Reads the layers of a neural network as operations of MIL.

Older networks work on [sequence, batch, channels, height, width]. Only sequences of length 1 are
supported, so that blobs are [batch, channels, height, width]: inputs of lower rank are extended,
and outputs get the rank that the model declares.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir.types import Dim, TensorType, f32, f64
from ..common.graph import Graph
from ..common.importer import MISFITS
from ..common.inputs import Input
from ..wire.protobuf import Record
from .classical import labels_of
from .files import Files
from .network_control import leaves_iteration, rest_of_iteration
from .network_layers import add_layer
from .network_reader import Reader
from .types import array_type

_ELEMENTS = {"FLOAT32": "fp32", "FLOAT16": "fp16", "INT32": "int32"}
"""Element types of outputs. The older "DOUBLE" is missing: such outputs keep the type that they are
computed in."""


def network_graph(files: Files, model: Record, network: Record, notes: dict[str, str]) -> Graph:
    """The graph of a network, with the preprocessing of its images."""
    return NetworkReader(files, model, network, notes).graph()


class NetworkReader(Reader):
    """Reads a whole network: its inputs, its layers and its outputs."""

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
        """Add the operations of layers, in order."""
        for i, layer in enumerate(layers, 1):
            try:
                add_layer(self, layer)
            except MISFITS as fault:
                what = f"{type(fault).__name__}: {fault}"
                raise self.error(f"its inputs or parameters do not fit ({what})") from None
            if i < len(layers) and leaves_iteration(layer):
                rest_of_iteration(self, layers[i:])
                return

    def results(self) -> list[Record]:
        """The outputs that are tensors; class labels and dictionaries by label are not."""
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
        """An input; for an image, with its preprocessing."""
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
        if found.element_type is f64:  # networks compute in 32 bits or less
            self.add("cast", name, {"x": name}, dtype="fp32")
        if not self.exact and len(shape) in (1, 3):
            wide = [1, *shape] if len(shape) == 3 else [1, *shape, 1, 1]
            self.reshaped(name, name, [-1 if d is None else d for d in wide])
        return Input(name, found)

    def preprocess(self, name: str, image: Record) -> None:
        """Add an image's preprocessing: scale and bias per channel, or subtraction of a
        mean image.
        """
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
        """The name of an output's value, cast and reshaped to the type that the model declares."""
        name, array = feature.name, feature.part("type").multiArrayType
        if array is None:
            return self.names[name]
        self.place = name
        if array.shape and not self.exact:
            self.reshaped(name, name, [d if d > 0 else -1 for d in array.shape])
        if (element := _ELEMENTS.get(str(array.dataType))) is not None:
            self.add("cast", name, {"x": name}, dtype=element)
        return self.names[name]
