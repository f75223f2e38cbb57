"""A model as its file describes it, in one form for all formats: named values and nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...ir.types import Type
from .inputs import Input


@dataclass
class Node:
    """A layer: its operator, its name, and the names of the values that it uses and defines.

    The name of an omitted input or output is "". `attributes` are as the format has them. `graphs`
    are nested graphs, which may use values of the enclosing graphs.
    """

    kind: str
    name: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    attributes: Any = None
    graphs: Mapping[str, Graph] = field(default_factory=dict)
    after: Sequence[str] = ()
    """Values of nodes that must run before this one, because they change what it reads."""
    scopes: Sequence[str] = ()
    """The enclosing modules or name scopes, outermost first, if the format keeps them apart from
    the name."""

    @property
    def label(self) -> str:
        """How messages name the node."""
        name = self.name or next((name for name in self.outputs if name), "")
        return f"layer '{name}' ({self.kind})"


@dataclass
class Graph:
    """A graph of nodes in any order.

    `constants` are arrays, which may lie in a mapped file. `outputs` are pairs of an output's name
    and the name of its value; `dims` are the names of the outputs' dimensions.
    """

    inputs: Sequence[Input]
    nodes: Sequence[Node]
    outputs: Sequence[tuple[str, str]]
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)
    dims: Mapping[str, Sequence[str]] = field(default_factory=dict)
    producer: str = ""
    """The tool that wrote the model, with its version."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Metadata of the model and of its inputs, such as labels and scales."""
    starts: Mapping[str, Any] = field(default_factory=dict)
    """The initial values of states that a caller may omit, by input: one number for all elements,
    or an array."""
    elements: Mapping[str, Type] = field(default_factory=dict)
    """The element types of the values for which the model declares one."""
    shapes: Mapping[str, Sequence[int | None]] = field(default_factory=dict)
    """The extents of values that the model declares; None for one known at run time only."""
    complex_outputs: Collection[str] = ()
    """The outputs whose last dimension holds the real and the imaginary part of complex numbers."""
    effects: Sequence[str] = ()
    """Values whose nodes are imported for their side effects, even if no output needs them."""


def relative_names(paths: Iterable[str], separator: str) -> tuple[str, ...]:
    """Each nested path relative to the one before: `a`, `a.b`, `a.b.c` become `a`, `b`, `c`."""
    found: list[str] = []
    before = ""
    for path in paths:
        if path and path != before:
            start = f"{before}{separator}"
            found.append(path.removeprefix(start) if before else path)
            before = path
    return tuple(found)
