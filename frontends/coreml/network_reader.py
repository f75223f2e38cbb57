"""The state of reading a network, to which the functions for layers add nodes and weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.diagnostics import NncError
from ..common.graph import Node
from ..common.shapes import product
from ..wire.protobuf import Record
from .files import Files
from .layer import inputs_of
from .types import unpacked


class Reader(ABC):
    """The state of reading a network; `add` appends an operation."""

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

    @abstractmethod
    def add_layers(self, layers: Sequence[Record]) -> None:
        """Add the operations of layers, in order."""

    def part(
        self, work: Callable[[], None], names: Mapping[str, str] | None = None
    ) -> tuple[list[Node], dict[str, str]]:
        """(the nodes that `work` adds, for a nested graph; the blobs' values after them)."""
        outer = self.nodes, self.names, self.place
        self.nodes, self.names = [], {**self.names, **(names or {})}
        work()
        made = self.nodes, self.names
        self.nodes, self.names, self.place = outer
        return made

    def unique(self, blob: str) -> str:
        """A fresh name for a value of a blob."""
        self.count += 1
        return f"{blob}#{self.count}"

    def add(self, kind: str, output: str | Sequence[str], inputs: dict[str, Any], **given) -> None:
        """Add an operation; each input is a blob's name, a list of names, or an array."""
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
        """The name of a value for a blob or a constant."""
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
        """Weights of this shape as floats; a view of the file if they are stored as floats."""
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
        """Quantized weights as floats: with a scale and bias per row, or by a lookup table."""
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
