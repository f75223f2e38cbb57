"""Nodes of a model's graph, with the tensors of its file as constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..common.graph import Node
from ..common.source import Source
from .file import GgufFile
from .hyperparameters import Hyperparameters


class Nodes(Hyperparameters):
    """The nodes of one file's model, which grow as parts of it are added."""

    def __init__(self, source: Source, file: GgufFile, name: str) -> None:
        super().__init__(source, file, name)
        self.nodes: list[Node] = []
        self.used: set[str] = set()
        self.outputs: list[tuple[str, str]] = []

    def has(self, name: str) -> bool:
        return name in self.file.tensors

    def has_norm(self, name: str) -> bool:
        return self.has(name) or self.has(f"{name}.weight")

    def node(self, kind: str, name: str, inputs: Sequence[str], outputs: int = 1, **given) -> Any:
        """The name of a new node's value, or the names of several."""
        names = [name] if outputs == 1 else [f"{name}.{i}" for i in range(outputs)]
        self.nodes.append(Node(kind, name, inputs, names, given))
        return names[0] if outputs == 1 else names

    def weight(self, name: str) -> str:
        """Add a required tensor as a constant; returns its name. Raises NncError."""
        if not self.has(name):
            raise self.source.error(f"its tensor '{name}' is missing")
        self.used.add(name)
        return f"{name}:data"

    def parameter(self, name: str, shape: tuple[int, ...]) -> str:
        """Add a required tensor of floats of this shape; returns its name. Raises NncError."""
        found, tensor = self.weight(name), self.file.tensors[name]
        if tensor.shape != shape or tensor.kind.read is not None:
            text = f"is of kind {tensor.kind.name} and shape {list(tensor.shape)}"
            raise self.source.error(f"its tensor '{name}' {text}, expected floats {list(shape)}")
        return found

    def bias(self, name: str) -> Sequence[str]:
        """The tensor of a bias, where there is one."""
        return (self.weight(f"{name}.bias"),) if self.has(f"{name}.bias") else ()

    def linear(self, name: str, x: str, weight: str | None = None) -> str:
        """The product of x and a matrix, times a scale and plus a bias if there are any."""
        key = f"{name}.weight" if weight is None else weight
        tensor = self.weight(key)
        shape = self.file.tensors[key].shape
        if len(shape) != 2:
            raise self.source.error(f"its tensor '{key}' has shape {list(shape)}, expected rows")
        packing = self.file.tensors[key].kind
        scale = self.file.tensors.get(f"{name}.scale")
        if scale is None or scale.shape != (1,):
            return self.node("Linear", name, (x, tensor, *self.bias(name)), packing=packing)
        found = self.node("Linear", name, (x, tensor), packing=packing)
        found = self.node("Product", f"{name}.scaled", (found, self.weight(f"{name}.scale")))
        for bias in self.bias(name):
            found = self.node("Sum", f"{name}.biased", (found, bias))
        return found

    def norm(self, name: str, x: str) -> str:
        # In files of Falcon-H1 and PLaMo 3, the tensors of some norms have the names of the norms.
        tensor = name if self.has(name) else f"{name}.weight"
        own = () if self.kind.bare_norms else (self.weight(tensor), *self.bias(name))
        return self.node("Norm", name, (x, *own), form=self.norm_form, epsilon=self.epsilon)

    def scaled(self, name: str, x: str, key: str, divides: bool = False) -> str:
        """x times a number of the metadata, or over it; x itself where there is none."""
        if not self.get(key):
            return x
        factor = self.number(key)
        return self.node("Scale", name, (x,), factor=1 / factor if divides else factor)
