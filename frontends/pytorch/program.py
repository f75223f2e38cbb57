"""A program of ATen as files and live objects of PyTorch have it, before it is a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...ir.types import Dim, TensorType
from ..common.graph import Graph, Node
from ..common.inputs import Input
from .arguments import Ref, refs_in
from .functional import functional
from .mapped import unmapped
from .outside import with_complex_values, with_states


@dataclass(frozen=True)
class Layout:
    """Where the elements of a tensor lie: extents and strides, of an example where they vary."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    element: Any
    known: tuple[Dim, ...] = ()
    """The extents, None where they vary."""

    @property
    def is_contiguous(self) -> bool:
        step = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent != 1 and stride != step:
                return False
            step *= extent
        return True


_SIZES = {"aten.view.default": "size", "aten.reshape.default": "shape"}


@dataclass
class Program:
    """Nodes in order, which may write in place; `outputs` are values or None.

    `buffers` are what the model calls those of its constants that a run may change, and `changed`
    the new values of buffers and inputs that the program gives itself.
    """

    inputs: list[Input] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    layouts: dict[str, Layout] = field(default_factory=dict)
    dims: dict[str, Sequence[str]] = field(default_factory=dict)
    buffers: dict[str, str] = field(default_factory=dict)
    changed: dict[str, str] = field(default_factory=dict)

    def with_known_sizes(self) -> Sequence[Node]:
        """Nodes whose -1 for what is left of a shape is the number that PyTorch knows it to be."""
        return [self._sized(node) for node in unmapped(self.nodes, self.layouts)]

    def _sized(self, node: Node) -> Node:
        key = _SIZES.get(node.kind)
        layout = self.layouts.get(node.outputs[0]) if key else None
        if key is None or layout is None:
            return node
        sizes, known = node.attributes[key], layout.known
        if -1 not in sizes or len(known) != len(sizes):
            return node
        whole = [k if s == -1 and k is not None else s for s, k in zip(sizes, known, strict=True)]
        return replace(node, attributes=node.attributes | {key: whole})

    def graph(self, producer: str = "", notes: Mapping[str, str] | None = None) -> Graph:
        """The graph, in which no node writes in place; outputs of equal names are told apart.

        A buffer that is changed is a state, an input and an output of its name, as is an input.
        """
        nodes, renamed = functional(self.with_known_sizes(), self.layouts)
        changed = {name: self.changed.get(name, renamed.get(name, name)) for name in self._open()}
        changed = {name: value for name, value in changed.items() if value != name}
        outputs: list[tuple[str, str]] = []
        taken = set(changed)
        for value in self.outputs:
            if not isinstance(value, Ref):
                continue
            name, count = value.name, 0
            while name in taken:
                count += 1
                name = f"{value.name}_{count}"
            taken.add(name)
            outputs.append((name, renamed.get(value.name, value.name)))
        dims = {name: self.dims[name] for name, _ in outputs if name in self.dims}
        found = Graph(
            self.inputs, nodes, outputs, self.constants, dims, producer, dict(notes or {})
        )
        return with_complex_values(with_states(found, changed, self.buffers), self.layouts)

    def _open(self) -> list[str]:
        """The names of what a run may change: buffers and inputs."""
        return [*self.buffers, *(value.name for value in self.inputs)]


def node(
    kind: str,
    name: str,
    outputs: Sequence[str],
    arguments: Mapping[str, Any],
    graphs: Mapping[str, Graph] | None = None,
) -> Node:
    """A node whose inputs are the values of the graph that its arguments name."""
    for output in outputs:
        if not isinstance(output, str):
            raise TypeError(f"a value is named {output!r}")
    inputs = list(dict.fromkeys(ref.name for ref in refs_in(dict(arguments))))
    return Node(kind, name, inputs, outputs, dict(arguments), dict(graphs or {}))


def tensor_input(name: str, shape: Sequence[Any], element: Any, names: Sequence[str]) -> Input:
    """An input of a program."""
    return Input(name, TensorType(tuple(shape), element), tuple(names))
