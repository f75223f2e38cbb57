"""A model as its file has it, format by format the same: named values and nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...ir.types import Type
from .inputs import Input


@dataclass
class Node:
    """A layer: its operator, its name, and the names of the values that it uses and defines.

    An input or output that is left out is "". `attributes` are as the format has them. `graphs`
    are those inside of it, which may use values from around them.
    """

    kind: str
    name: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    attributes: Any = None
    graphs: Mapping[str, Graph] = field(default_factory=dict)
    after: Sequence[str] = ()
    """Values that must be made before, of nodes that change what this one sees."""

    @property
    def label(self) -> str:
        """How messages name the node."""
        name = self.name or next((name for name in self.outputs if name), "")
        return f"layer '{name}' ({self.kind})"


@dataclass
class Graph:
    """A graph of nodes in any order.

    `constants` are arrays, which may lie in a mapped file. `outputs` are pairs of a name outside
    and a value's name; `dims` are names of dimensions of outputs.
    """

    inputs: Sequence[Input]
    nodes: Sequence[Node]
    outputs: Sequence[tuple[str, str]]
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)
    dims: Mapping[str, Sequence[str]] = field(default_factory=dict)
    producer: str = ""
    """What wrote the model, with its version."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What the model says of itself and of its inputs: labels, scales, .."""
    starts: Mapping[str, Any] = field(default_factory=dict)
    """What an input is, a state, where the caller leaves it out: a number of all elements, or an
    array of them.
    """
    elements: Mapping[str, Type] = field(default_factory=dict)
    """The element types that the model says its values have, of those that it says it of."""
    shapes: Mapping[str, Sequence[int | None]] = field(default_factory=dict)
    """Extents of values that the model declares, None for those that a run tells."""
    complex_outputs: Collection[str] = ()
    """Outputs, by their names outside, whose last dimension has both parts of complex numbers."""
    effects: Sequence[str] = ()
    """Values that are made for what their nodes change, though no output may need them."""
