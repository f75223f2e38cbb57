"""A graph's interface: states for buffers that a run changes, reals for complex numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...ir.numpy_types import numpy_to_type
from ...ir.types import TensorType
from ..common.complexes import caller_type, is_complex
from ..common.graph import Graph, Node
from ..common.inputs import Input
from .arguments import Ref, with_refs
from .layout import Layout

_LARGEST_START = 1 << 20
"""The most elements of a buffer that is stored as a state's initial value; larger ones must be
passed."""


def with_states(graph: Graph, changed: Mapping[str, str], buffers: Mapping[str, str]) -> Graph:
    """The graph with changed buffers as inputs, and their new values as outputs.

    `changed` maps inputs and buffers to the values with their new contents, `buffers` maps the
    buffers' names in the graph to those in the model.
    """
    if not changed:
        return graph
    constants, inputs, starts = dict(graph.constants), list(graph.inputs), dict(graph.starts)
    taken = {value.name for value in inputs} | set(constants)
    taken |= {name for node in graph.nodes for name in node.outputs}
    names, notes = {}, dict(graph.notes)
    for name in changed:
        if name not in constants:
            continue
        array = constants.pop(name)
        names[name] = state = buffers[name] if buffers[name] not in taken else name
        type = TensorType(array.shape, numpy_to_type(array.dtype))
        inputs.append(Input(state, type))
        notes[f"state {state}"] = "starts as the buffer of the model"
        if array.dtype.kind == "c" or array.size > _LARGEST_START:
            continue
        first = array.flat[0] if array.size else 0
        starts[state] = array
        if (array == first).all():
            starts[state] = first
            notes[f"state {state}"] = f"starts as {float(first):g}"
    outputs = [(outer, names.get(value, value)) for outer, value in graph.outputs]
    outputs += [(names.get(name, name), names.get(value, value)) for name, value in changed.items()]
    nodes = _renamed(graph.nodes, names)
    return replace(
        graph,
        inputs=inputs,
        nodes=nodes,
        outputs=outputs,
        constants=constants,
        starts=starts,
        notes=notes,
    )


def with_complex_values(graph: Graph, layouts: Mapping[str, Layout]) -> Graph:
    """The graph with a real tensor for each complex input, constant and output.

    It has a last dimension of two elements, the real and the imaginary part.
    """
    inner: dict[str, str] = {}
    inputs, constants = list(graph.inputs), dict(graph.constants)
    for i, value in enumerate(inputs):
        if is_complex(value.type):
            inputs[i] = Input(value.name, caller_type(value.type), (*value.dims, ""))
            inner[value.name] = f"{value.name}.complex"
    for name, array in constants.items():
        if array.dtype.kind == "c":
            apart = np.stack([np.real(array), np.imag(array)], -1)
            constants[name] = apart
            inner[name] = f"{name}.complex"
    first = [_node("aten.view_as_complex.default", name, own) for name, own in inner.items()]
    nodes, last, outputs = _renamed(graph.nodes, inner), [], []
    pairs: list[str] = []
    for outer, value in graph.outputs:
        layout = layouts.get(outer)
        if layout is not None and "complex" in str(layout.element):
            own = inner.get(value, value)
            last.append(_node("aten.view_as_real.default", own, f"{outer}.real"))
            value = f"{outer}.real"
            pairs.append(outer)
        outputs.append((outer, value))
    if not first and not last:
        return graph
    everything = [*first, *nodes, *last]
    return replace(
        graph,
        inputs=inputs,
        nodes=everything,
        outputs=outputs,
        constants=constants,
        complex_outputs=pairs,
    )


def _node(kind: str, source: str, made: str) -> Node:
    return Node(kind, made, [source], [made], {"self": Ref(source)})


def _renamed(nodes: Sequence[Node], names: Mapping[str, str]) -> list[Node]:
    """The nodes with other names for the values that they use."""

    def change(node: Node) -> Node:
        arguments = with_refs(node.attributes, lambda ref: Ref(names.get(ref.name, ref.name)))
        inputs = [names.get(name, name) for name in node.inputs]
        return replace(node, inputs=inputs, attributes=arguments)

    return [change(node) for node in nodes] if names else list(nodes)
