"""MXNet's symbol, a graph in JSON, with its file of parameters.

    {"nodes": [{"op": "null", "name": "data", "inputs": []},
               {"op": "Convolution", "name": "conv", "attrs": {"kernel": "(3, 3)"},
                "inputs": [[0, 0, 0], ..]}],
     "heads": [[1, 0, 0]]}

A node whose operator is "null" is an input or a parameter. An input of a node is a list that begins
with the number of another node and the number of its output.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...ir.numpy_types import numpy_to_type
from ...ir.types import TensorType, Type, UnrankedTensorType, f32
from ..common.graph import Graph, Node
from ..common.importer import DEEPEST
from ..common.inputs import Input
from ..common.source import Source
from .layer import parsed, rows
from .params import TYPES, is_params, read_params

_SYMBOL, _EPOCH = "-symbol.json", re.compile(r"-(\d{4})\.params$")

LABELED = {
    "SoftmaxOutput",
    "Softmax",
    "SVMOutput",
    "LinearRegressionOutput",
    "LogisticRegressionOutput",
    "MAERegressionOutput",
}
"""Operators whose second input, the labels, is used in training only."""

_TYPE_OF_INDICES = {"Embedding", "_npx_embedding", "take", "_npi_take", "pick", "one_hot"}
"""Operators with an input of indices, whose element type is independent of the other input's."""


def read_model(source: Source) -> Graph:
    """The graph. Raises NncError where a file is missing or damaged."""
    if is_params(source.head):
        params, symbol = source, _symbol_beside(source)
    else:
        symbol, params = source, _params_beside(source)
    arrays = {} if params is None else read_params(params)
    return _graph(symbol, arrays)


def model_files(path: Path) -> Sequence[Path]:
    """The files of the symbol and of the parameters."""
    source = Source(path)
    if is_params(source.head):
        return [path, _symbol_beside(source).path or path]
    params = _params_beside(source)
    return [path] if params is None or params.path is None else [path, params.path]


def _symbol_beside(params: Source) -> Source:
    name = "model" if params.path is None else params.path.name
    stem = _EPOCH.sub("", name).removesuffix(".params")
    for guess in (f"{stem}{_SYMBOL}", f"{stem}.json"):
        if params.has_beside(guess):
            return params.beside(guess)
    return params.beside(f"{stem}{_SYMBOL}")  # the error


def _params_beside(symbol: Source) -> Source | None:
    """The file with the parameters of the last epoch, or None."""
    if symbol.path is None:
        return None
    stem = symbol.path.name.removesuffix(_SYMBOL).removesuffix(".json")
    names = [path.name for path in symbol.path.parent.iterdir()]
    epochs = [name for name in names if _EPOCH.sub("", name) == stem and _EPOCH.search(name)]
    for name in (*sorted(epochs, reverse=True), f"{stem}.params"):
        if name in names:
            return symbol.beside(name)
    return None


_NORMS = {"BatchNorm", "BatchNorm_v1", "CuDNNBatchNorm"}
_OLD_SCALAR = re.compile(r"_[A-Z]\w+Scalar")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class _Symbol:
    """The parts of a symbol's JSON, checked as they are read."""

    def __init__(self, source: Source, data: Any, depth: int = 0) -> None:
        self.source = source
        self.depth = depth
        nodes = data.get("nodes") if isinstance(data, dict) else None
        if not isinstance(nodes, list) or not all(isinstance(node, dict) for node in nodes):
            raise source.error("it has no list of nodes")
        self.nodes: list[dict[str, Any]] = list(nodes)
        self.heads = self.references(data.get("heads"), "the symbol")
        self.names = [str(node.get("name", f"node{i}")) for i, node in enumerate(nodes)]
        self.inputs = [
            self.references(node.get("inputs", []), f"node '{name}'")
            for node, name in zip(nodes, self.names, strict=True)
        ]
        for i, node in enumerate(nodes):
            if str(node.get("op")) in _NORMS and len(self.inputs[i]) == 3:
                self.add_statistics(i)

    def add_statistics(self, i: int) -> None:
        """Add the moving mean and variance of a normalization, which MXNet before 0.9
        did not list.
        """
        for which in ("moving_mean", "moving_var"):
            self.inputs[i].append((len(self.nodes), 0))
            self.nodes.append({"op": "null"})
            self.names.append(f"{self.names[i]}_{which}")
            self.inputs.append([])

    def references(self, given: Any, whose: str) -> list[tuple[int, int]]:
        """The (node, output) pairs in a list of references."""
        found = []
        for one in given if isinstance(given, list) else [None]:
            at = one[:2] if isinstance(one, list) and len(one) in (2, 3) else ()
            if not all(type(v) is int and v >= 0 for v in at) or not at:
                raise self.source.error(f"{whose} has damaged inputs or heads: {one!r}")
            if at[0] >= len(self.nodes) or at[1] > 1 << 16:
                raise self.source.error(f"{whose} uses node {at[0]} of {len(self.nodes)}")
            found.append((at[0], at[1]))
        return found

    def attributes(self, i: int) -> dict[str, str]:
        """A node's attributes, which older files keep in `param` or `attr`.

        If both are there, `attr` holds annotations for training and devices.
        """
        found: dict[str, str] = {}
        is_operator = self.nodes[i].get("op") != "null"
        for key in ("param",) if "param" in self.nodes[i] and is_operator else ("attr", "attrs"):
            given = self.nodes[i].get(key) or {}
            if not isinstance(given, dict):
                raise self.source.error(f"node '{self.names[i]}' has damaged attributes")
            found |= {str(k): str(v) for k, v in given.items()}
        return found

    def subgraphs(self, i: int) -> list[Any]:
        """A node's nested graphs as JSON."""
        found = self.nodes[i].get("subgraphs", [])
        if not isinstance(found, list):
            raise self.source.error(f"node '{self.names[i]}' has damaged subgraphs")
        return found

    def operator(self, i: int) -> str:
        name = str(self.nodes[i].get("op", "null"))
        if _OLD_SCALAR.fullmatch(name):  # _RMinusScalar for _rminus_scalar
            name = _CAPITAL.sub("_", name).lower()
        others = (
            name.removeprefix("_sparse_"),  # zeros that are left out are zeros
            f"_contrib_{name}",  # before 0.9, when they had to be built in
        )
        known = [one for one in (name, *others) if rows.find(one) is not None]
        return known[0] if known else name


def _graph(source: Source, arrays: Mapping[str, np.ndarray]) -> Graph:
    try:
        data = json.loads(source.text)
    except (ValueError, RecursionError) as error:
        raise source.error(f"no valid JSON: {error}") from None
    symbol = _Symbol(source, data)
    used = _used(symbol)
    inputs = [
        _input(symbol, i, arrays)
        for i, name in enumerate(symbol.names)
        if symbol.operator(i) == "null" and name not in arrays and i in used
    ]
    nodes, heads = _nodes(symbol)
    return Graph(inputs, nodes, heads, arrays, producer=_version(data))


def _nodes(symbol: _Symbol) -> tuple[list[Node], list[tuple[str, str]]]:
    """The nodes of operators, and (name, value) of each output."""
    counts = [1] * len(symbol.nodes)
    for inputs in (*symbol.inputs, symbol.heads):
        for at, output in inputs:
            counts[at] = max(counts[at], output + 1)
    nodes = []
    for i, name in enumerate(symbol.names):
        if (operator := symbol.operator(i)) == "null":
            continue
        values = [_value(symbol, *one) for one in _needed_inputs(symbol, i)]
        outputs = [_value(symbol, i, output) for output in range(counts[i])]
        inner = {str(k): _inner(symbol, name, g) for k, g in enumerate(symbol.subgraphs(i))}
        nodes.append(Node(operator, name, values, outputs, symbol.attributes(i), inner))
    heads = [(_output_name(symbol, counts, *one), _value(symbol, *one)) for one in symbol.heads]
    return nodes, heads


def _inner(outer: _Symbol, name: str, data: Any) -> Graph:
    """The nested graph of a loop or branch, with its inputs in the order of its nodes."""
    if outer.depth > DEEPEST:
        raise outer.source.error(f"node '{name}' is inside of more than {DEEPEST} others")
    symbol = _Symbol(outer.source, data, outer.depth + 1)
    names = [n for i, n in enumerate(symbol.names) if symbol.operator(i) == "null"]
    nodes, heads = _nodes(symbol)
    return Graph([Input(one, UnrankedTensorType(f32)) for one in names], nodes, heads)


def _version(data: Any) -> str:
    attributes = data.get("attrs")
    found = attributes.get("mxnet_version") if isinstance(attributes, dict) else None
    if not isinstance(found, list) or len(found) != 2 or not isinstance(found[1], int):
        return ""
    number = found[1]
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def _value(symbol: _Symbol, at: int, output: int) -> str:
    """The name of a value; parameters have the names of their file."""
    name = symbol.names[at]
    return name if symbol.operator(at) == "null" else f"{name}:{at}:{output}"


def _output_name(symbol: _Symbol, counts: Sequence[int], at: int, output: int) -> str:
    name = symbol.names[at]
    if symbol.operator(at) == "null":
        return name
    return f"{name}_output" if counts[at] == 1 else f"{name}_output{output}"


def _needed_inputs(symbol: _Symbol, i: int) -> list[tuple[int, int]]:
    return symbol.inputs[i][: 1 if symbol.operator(i) in LABELED else None]


def _used(symbol: _Symbol) -> set[int]:
    """The numbers of the nodes that the outputs depend on."""
    used: set[int] = set()
    work = [at for at, _ in symbol.heads]
    while work:
        at = work.pop()
        if at not in used:
            used.add(at)
            work += [one for one, _ in _needed_inputs(symbol, at)]
    return used


def _input(symbol: _Symbol, i: int, arrays: Mapping[str, np.ndarray]) -> Input:
    """An input. Its shape comes from an attribute if there is one, where 0 is an unknown extent."""
    attributes, name = symbol.attributes(i), symbol.names[i]
    code = parsed(attributes.get("__dtype__", "-1"))
    if isinstance(code, int) and code in TYPES:
        element = numpy_to_type(TYPES[code])
    else:
        element = _element_of_users(symbol, i, arrays)
    shape = parsed(attributes.get("__shape__", "None"))
    if not isinstance(shape, tuple | list) or not all(type(d) is int for d in shape):
        return Input(name, UnrankedTensorType(element))
    return Input(name, TensorType(tuple(d if d > 0 else None for d in shape), element))


def _element_of_users(symbol: _Symbol, i: int, arrays: Mapping[str, np.ndarray]) -> Type:
    """The element type of the parameters used together with an input; f32 if there are none."""
    for at, inputs in enumerate(symbol.inputs):
        names = [symbol.names[one] for one, _ in inputs]
        if symbol.names[i] not in names or symbol.operator(at) in _TYPE_OF_INDICES:
            continue
        for name in names:
            if name in arrays and arrays[name].dtype.kind == "f":
                return numpy_to_type(arrays[name].dtype)
    return f32
