"""Reads ncnn's files into a graph.

Inputs and outputs have ncnn's shapes, without a batch: [channels, height, width]. Between them,
values have a batch dimension of extent 1, so that the operators of other formats can be used.
"""

from __future__ import annotations

import numpy as np

from ...ir.types import TensorType, UnrankedTensorType, f32, i32
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..common.source import Source
from .param import KINDS, Entry, read_param
from .weights import Bin, blob_shape, parts


def weights_name(name: str) -> str:
    """The name of the file with the weights: `net.bin` for `net.param` and `net.param.bin`."""
    for end in (".param.bin", ".param"):
        if name.endswith(end):
            return name.removesuffix(end) + ".bin"
    return name + ".bin"


def read(source: Source) -> Graph:
    """The graph of a model with its weights. Raises NncError."""
    entries = read_param(source)
    _check_blobs(source, entries)
    constants = _weights(source, entries)
    nodes, inputs = [], []
    used = {name for entry in entries for name in entry.inputs}
    positions = _positions(entries)
    for entry in entries:
        if entry.kind == "Input":
            inputs += [_input(name, entry, name in positions) for name in entry.outputs]
            nodes += [Node("Input", name, [name], [_inner(name)]) for name in entry.outputs]
        else:
            taken, given = ([_inner(v) for v in names] for names in (entry.inputs, entry.outputs))
            nodes.append(Node(entry.kind, entry.name, taken, given, entry.parameters))
    outputs = []
    for entry in entries:
        for name in entry.outputs:
            if name not in used and entry.kind != "Input":
                nodes.append(Node("Output", name, [_inner(name)], [name + " "]))
                outputs.append((name, name + " "))
    return Graph(inputs, nodes, outputs, constants)


def _check_blobs(source: Source, entries: list[Entry]) -> None:
    defined = {name for entry in entries for name in entry.outputs}
    for entry in entries:
        for name in entry.inputs:
            if name not in defined:
                raise source.error(
                    f"layer '{entry.name}' ({entry.kind}): no layer has the output '{name}'"
                )


def _inner(name: str) -> str:
    """The name of a value's form with a batch dimension; names in files have no spaces."""
    return " " + name


def _positions(entries: list[Entry]) -> set[str]:
    """The values that are indices of table rows, and so integers."""
    found: set[str] = set()
    for entry in reversed(entries):
        passes = entry.kind in ("Split", "Noop") and not found.isdisjoint(entry.outputs)
        if entry.kind == "Embed" or passes:
            found.update(entry.inputs)
    return found


def _input(name: str, entry: Entry, is_position: bool) -> Input:
    shape = blob_shape(entry.parameters)
    if any(d < 0 for d in shape):
        shape = tuple(d if d > 0 else None for d in shape)
    element = i32 if is_position else f32
    return Input(name, TensorType(shape, element) if shape else UnrankedTensorType(element))


def _weights(source: Source, entries: list[Entry]) -> dict[str, np.ndarray]:
    if any(entry.kind not in KINDS for entry in entries):
        return {}  # which weights such a layer has is not known; the import says which one it is
    needed = [(entry, part) for entry in entries for part in parts(entry)]
    if not needed:
        return {}
    if source.path is None:
        raise source.error("its weights are in a file beside it; give a path")
    data = Bin(source.beside(weights_name(source.path.name)))
    found = {}
    for entry, part in needed:
        found[f"{entry.name}.{part[0]}"] = data.read(part, entry)
    if data.at != data.source.data.size:
        rest = data.source.data.size - data.at
        raise data.source.error(f"{rest} bytes are left behind the weights of all layers")
    return found
