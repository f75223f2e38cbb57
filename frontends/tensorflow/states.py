"""Variables that a model writes: inputs and outputs of the same name.

The outputs are to be passed to the next run. `notes` describe the values for the first run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...ir.numpy_types import numpy_to_type
from ...ir.types import TensorType
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..common.source import Source
from .functions import is_writer
from .signatures import natural
from .variables import VARIABLES, States, Variable

MOST_NUMBERS = 1024
"""The most elements of a state that may be omitted by a caller, if they differ."""

PASSING = ("Identity", "Enter", "Switch")


def with_states(source: Source, graph: Graph) -> Graph:
    """The graph with the written variables as inputs and outputs."""
    handles = {
        node.outputs[0]: node.attributes["variable"]
        for node in graph.nodes
        if node.kind in VARIABLES
    }
    found = sorted({v.name for v in _written(graph, handles)}, key=natural)
    if not found:
        return graph
    variables = {v.name: (handle, v) for handle, v in handles.items()}
    states = States([variables[name][1] for name in found])
    writers = [node.outputs[0] for node in graph.nodes if _writes(node)]
    taken = {value.name for value in graph.inputs}
    inputs, outputs, nodes = list(graph.inputs), list(graph.outputs), list(graph.nodes)
    notes, starts = dict(graph.notes), dict(graph.starts)
    for name in found:
        handle, variable = variables[name]
        if name in taken or any(name == out for out, _ in outputs):
            raise source.error(f"variable '{name}' is written, and has the name of an input")
        if variable.array is None:
            raise source.error(f"variable '{name}' is written, and has no value to begin with")
        variable.states = states
        array = variable.array
        inputs.append(Input(name, TensorType(array.shape, numpy_to_type(array.dtype))))
        nodes.append(Node("_State", name, [handle], [f"{name}:state"], {}, after=writers))
        outputs.append((name, f"{name}:state"))
        notes[f"state {name}"] = f"starts as {_text(array)}"
        if (start := _start(array)) is not None:
            starts[name] = start
    return replace(graph, inputs=inputs, outputs=outputs, nodes=nodes, notes=notes, starts=starts)


def _writes(node: Node) -> bool:
    if is_writer(node.kind):
        return True
    return any(_writes(inner) for graph in node.graphs.values() for inner in graph.nodes)


def _written(graph: Graph, handles: Mapping[str, Variable]) -> Iterator[Variable]:
    """The variables with these handles that nodes of a graph write."""
    own = dict(handles)
    makers = {name: node for node in graph.nodes for name in node.outputs}

    def handle(name: str) -> Variable | None:
        for _ in range(100):
            maker = makers.get(name)
            if name in own or maker is None or maker.kind not in PASSING:
                break
            name = maker.inputs[0]
        return own.get(name)

    for node in graph.nodes:
        if is_writer(node.kind) and (variable := handle(node.inputs[0])) is not None:
            yield variable
        given = [handle(name) for name in node.inputs]
        for inner in node.graphs.values():
            if _writes(node):
                yield from _written(inner, own | _arguments(inner, given))


def _arguments(graph: Graph, given: Sequence[Variable | None]) -> dict[str, Variable]:
    """The variable handles of a nested graph: its inputs are the node's last ones."""
    count = len(graph.inputs)
    pairs = zip(graph.inputs, given[len(given) - count :], strict=False)
    return {value.name: variable for value, variable in pairs if variable is not None}


def _start(array: np.ndarray) -> np.ndarray | None:
    """The value of a state that a caller omits; None if it has many elements."""
    if array.size and (array == array.reshape(-1)[0]).all():
        return array.reshape(-1)[:1]
    return array if 0 < array.size <= MOST_NUMBERS and array.dtype.kind in "iufb" else None


def _text(array: np.ndarray) -> str:
    """The initial value of a state, in words."""
    start = _start(array)
    if start is not None and start.size == 1:
        return f"{start[0]}"
    return "the checkpoint's values"
