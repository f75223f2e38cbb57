"""PaddlePaddle 3's form: a PIR program as JSON.

Dialects of operators are numbers (0 builtin, 1 pd_op, 2 cf), and so are values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...ir.types import (
    ComplexType,
    IntegerType,
    TensorType,
    Type,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..common.source import Source

_DIALECTS = {"0": "builtin", "1": "pd_op", "2": "cf"}

ELEMENTS: Mapping[str, Type] = {
    "t_bool": i1,
    "t_i8": i8,
    "t_ui8": IntegerType(8, "u"),
    "t_i16": i16,
    "t_i32": i32,
    "t_i64": i64,
    "t_f16": f16,
    "t_bf16": bf16,
    "t_f32": f32,
    "t_f64": f64,
    "t_c64": ComplexType(f32),
    "t_c128": ComplexType(f64),
}


_WRITES = {"pd_op.array_write_": 0, "pd_op.increment_": 0, "pd_op.assign_out_": 1}
"""Operators whose result is the new content of an operand, by the operand's index."""

_ARRAY = "1.t_dense_tensor_array"


def read_pir(source: Source) -> tuple[Graph, list[str]]:
    """The graph, and the names of its parameters. Raises NncError."""
    try:
        document = json.loads(source.text)
        reader = _Reader(source)
        version = document.get("base_code", {}).get("version", 1)
        (region,) = document["program"]["regions"]
        (block,) = region["blocks"]
        graph = reader.graph(block)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        what = f"{type(error).__name__}: {error}"
        raise source.error(f"no program of PaddlePaddle's PIR: {what}") from None
    graph.inputs, graph.outputs = reader.inputs, reader.outputs
    graph.producer = f"PIR version {version}"
    return graph, reader.stored


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.inputs: list[Input] = []
        self.outputs: list[tuple[str, str]] = []
        self.stored: list[str] = []
        self.names: dict[int, str] = {}
        """The names of parameters and inputs, by the numbers of their values."""
        self.counts: dict[str, int] = {}
        self.defined: set[int] = set()
        """The numbers of the values that are defined so far."""

    def graph(self, block: dict[str, Any]) -> Graph:
        arguments = [
            Input(self.name(one), _type(one["TT"])) for one in block.get("args", []) if one
        ]
        graph = Graph(arguments, [], [])
        nodes: list[Node] = []
        for op in block["ops"]:
            self.operator(op, graph, nodes)
        graph.nodes = nodes
        return graph

    def operator(self, op: dict[str, Any], graph: Graph, nodes: list[Node]) -> None:
        kind = _kind(op["#"])
        if kind in ("builtin.parameter", "p"):
            name = _name(op["A"][3] if kind == "p" else _attributes(op["A"])["parameter_name"])
            is_stored = kind != "p" or bool(op["OA"][0])
            # What is not stored is only there for training.
            number = op["O"]["%"] if kind == "p" else op["O"][0]["%"]
            self.names[number] = name if is_stored else ""
            self.defined.add(number)
            if is_stored:
                self.stored.append(name)
            return
        attributes = _attributes(op.get("A", []))
        inputs = [self.name(one) if one["%"] else "" for one in op.get("I") or []]
        if kind == "pd_op.data":
            name = _name(attributes["name"])
            self.names[op["O"][0]["%"]] = name
            self.defined.add(op["O"][0]["%"])
            self.inputs.append(Input(name, _type(op["O"][0]["TT"])))
            return
        if kind == "pd_op.fetch":
            self.outputs.append((_name(attributes["name"]), inputs[0]))
            return
        if kind == "cf.yield":
            graph.outputs = [(name, name) for name in inputs]
            return
        blocks = [block for region in op.get("regions", []) for block in region["blocks"]]
        written = sorted({v for block in blocks for v in _written(block)} & self.defined)
        names = {number: self.name({"%": number}) for number in written}
        if kind == "pd_op.while":
            inputs += names.values()
        graphs = {}
        for i, block in enumerate(blocks):
            graphs[str(i)] = self.nested(block, names, kind == "pd_op.while")
        results = [one["%"] for one in op.get("O", [])]
        outputs = [self.name({"%": number}) for number in results]
        outputs += [self.renewed(number) for number in written]
        if op.get("O") and op["O"][0]["TT"]["#"] == _ARRAY:
            attributes["shape"] = op["O"][0]["TT"]["D"][1]
        if kind in _WRITES:
            self.names[op["I"][_WRITES[kind]]["%"]] = outputs[0]
        self.defined.update(results)
        label = attributes.get("struct_name", "").strip("/") or kind.removeprefix("pd_op.")
        count = self.counts.get(label, 0)
        self.counts[label] = count + 1
        label = f"{label}.{count}" if count else label
        nodes.append(Node(kind.removeprefix("pd_op."), label, inputs, outputs, attributes, graphs))

    def nested(self, block: dict[str, Any], names: Mapping[int, str], is_loop: bool) -> Graph:
        """A block's graph, whose last outputs are the values of outer scopes that it writes.

        In a loop's body, they are the last inputs, too.
        """
        defined = set(self.defined)
        self.defined.update(one["#"] for one in block.get("args", []) if one)
        self.names |= names
        inputs = [self.renewed(number) for number in names] if is_loop else []
        graph = self.graph(block)
        graph.inputs = [*graph.inputs, *(Input(name, TensorType((), f32)) for name in inputs)]
        graph.outputs = [*graph.outputs, *((self.names[v], self.names[v]) for v in names)]
        self.defined = defined
        self.names |= names
        return graph

    def renewed(self, number: int) -> str:
        """A new name for a value, which has a new content."""
        count = self.counts[f"%{number}"] = self.counts.get(f"%{number}", 0) + 1
        self.names[number] = f"%{number}@{count}"
        return self.names[number]

    def name(self, value: dict[str, Any]) -> str:
        number = value.get("%", value.get("#"))
        return self.names.get(number, f"%{number}")  # type: ignore[arg-type]


def _written(block: dict[str, Any]) -> Iterator[int]:
    """The numbers of the values that operators of a block, and of blocks in it, write."""
    for op in block["ops"]:
        kind = _kind(op["#"])
        if kind in _WRITES:
            yield op["I"][_WRITES[kind]]["%"]
        for region in op.get("regions", []):
            for inner in region["blocks"]:
                yield from _written(inner)


def _kind(text: str) -> str:
    dialect, dot, name = text.partition(".")
    return f"{_DIALECTS.get(dialect, dialect)}.{name}" if dot else text


def _name(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a value's name is {value!r}")
    return value


def _attributes(given: list[dict[str, Any]]) -> dict[str, Any]:
    return {one["N"]: _value(one["AT"]) for one in given}


def _value(attribute: dict[str, Any]) -> Any:
    value = attribute.get("D", attribute.get("VD"))
    if attribute["#"] == "0.a_array":
        return [_value(one) for one in value or ()]
    if attribute["#"] in ("0.a_f64", "0.a_double") and isinstance(value, str):
        return float(value)
    if attribute["#"] == "0.a_f32" and isinstance(value, str | int | float):
        return float(np.float32(value))
    return value


def _type(text: dict[str, Any]) -> TensorType:
    if text["#"] != "0.t_dtensor":
        raise ValueError(f"a value of type {text['#']}, expected a tensor")
    element = ELEMENTS.get(text["D"][0]["#"].partition(".")[2])
    if element is None:
        raise ValueError(f"elements of type {text['D'][0]['#']}")
    return TensorType(tuple(None if d < 0 else int(d) for d in text["D"][1]), element)
