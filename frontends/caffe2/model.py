"""From the two nets of a model to its graph."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...ir.diagnostics import NncError
from ...ir.location import FileLineColLoc
from ...ir.numpy_types import numpy_to_type
from ...ir.types import TensorType, Type, UnrankedTensorType, f32, i1, i32, i64
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..common.source import Source
from ..wire.protobuf import Record, WireError
from ..wire.protobuf_text import TextError, read_text
from .schema import SCHEMA

_FILLS = {
    "GivenTensorFill": np.float32,
    "GivenTensorDoubleFill": np.float64,
    "GivenTensorIntFill": np.int32,
    "GivenTensorInt64Fill": np.int64,
    "GivenTensorBoolFill": np.bool_,
}
_KINDS = {1: np.float32, 2: np.int32, 5: np.bool_, 10: np.int64, 13: np.float64}
"""Element types by their numbers in Caffe2."""

_TYPES = {
    **{(kind, i): i1 for kind in ("And", "Or", "Xor") for i in range(2)},
    **dict.fromkeys((("Not", 0), ("Where", 0)), i1),
    **dict.fromkeys((("Gather", 1), ("BatchGather", 1), ("OneHot", 0)), i64),
    **{(f"SparseLengths{kind}", 1): i64 for kind in ("Sum", "Mean")},
    **{(f"SparseLengths{kind}", 2): i32 for kind in ("Sum", "Mean")},
    ("SparseLengthsWeightedSum", 2): i64,
    ("SparseLengthsWeightedSum", 3): i32,
    **{(f"Lengths{kind}", 1): i32 for kind in ("Sum", "Mean", "Max")},
}
"""The element types of operands that are no floats, by operator and place."""

MOST_FILLED = 1 << 31
_SHAPES = "value_info.json"


def read_model(source: Source) -> Graph:
    """The graph of a model. Raises NncError."""
    predict, init = _files(source)
    net = _read(predict)
    if not net.op:
        raise predict.error("no net of Caffe2: it has no operators")
    constants = {} if init is None else _constants(init)
    return _Reader(predict, net, constants).graph()


def model_files(path: Path) -> Sequence[Path]:
    """The files of both nets."""
    try:
        found = _files(Source(path))
    except NncError:
        return [path]
    return [one.path for one in found if one is not None and one.path is not None]


def _files(source: Source) -> tuple[Source, Source | None]:
    """The net that predicts and the one that makes weights; each file name implies the other."""
    path = source.path
    if path is None:
        return source, None
    if source.is_folder:
        found = sorted(path.glob("*predict_net.pb*"))
        if len(found) != 1:
            raise source.error(f"the folder has {len(found)} nets *predict_net.pb, expected one")
        path = found[0]
    if "init" in path.name:
        other = path.with_name(path.name.replace("init", "predict"))
        if not other.is_file():
            raise source.error(f"makes weights; the net that uses them, '{other.name}', is missing")
        return Source(other), Source(path)
    others = [path.with_name(path.name.replace("predict", "init"))]
    others += [others[0].with_suffix(suffix) for suffix in (".pb", ".pbtxt")]
    found = [one for one in others if one != path and one.is_file()]
    return Source(path), Source(found[0]) if found else None


def _read(source: Source) -> Record:
    """A net, text or binary."""
    try:
        if all(c >= 32 or c in b"\t\n\r\f\v" for c in source.head):
            net = read_text(SCHEMA, "Net", source.text)
        else:
            net = SCHEMA.read("Net", source.data)
    except TextError as error:
        raise NncError(str(error), FileLineColLoc(source.name, error.line, error.column)) from None
    except WireError as error:
        raise source.error(f"no net of Caffe2: {error}") from None
    return net


def _arguments(op: Record) -> dict[str, Record]:
    return {one.name: one for one in op.arg}


def _constants(source: Source) -> dict[str, np.ndarray]:
    """The tensors that the init net makes; views of the file for packed floats."""
    found: dict[str, np.ndarray] = {}
    for op in _read(source).op:
        name = op.output[0] if op.output else ""
        if not _is_fill(op):
            raise source.error(f"'{name}' is made by {op.type}: these weights are not in the file")
        found[name] = _filled(source, op, name)
    return found


def _is_fill(op: Record) -> bool:
    """Whether an operator fills a tensor from its arguments."""
    return not op.input and (op.type in _FILLS or op.type == "ConstantFill")


def _filled(source: Source, op: Record, name: str) -> np.ndarray:
    """The tensor that a fill operator makes."""
    given = _arguments(op)
    shape = tuple(given["shape"].ints) if "shape" in given else ()
    count = math.prod(shape)
    if min(shape, default=0) < 0 or count > MOST_FILLED:
        raise source.error(f"'{name}' has the shape {list(shape)}")
    if op.type == "ConstantFill":
        value, kind = given.get("value"), given["dtype"].i if "dtype" in given else 1
        if kind not in _KINDS:
            raise source.error(f"'{name}' has elements of the unknown kind {kind}")
        number: Any = 0 if value is None else value.f if value.has("f") else value.i
        return np.broadcast_to(np.asarray(number, _KINDS[kind]), shape)
    values = given.get("values")
    numbers: Any = () if values is None else values.floats if len(values.floats) else values.ints
    array = np.asarray(numbers, _FILLS[op.type])
    if array.size != count:
        raise source.error(f"'{name}' of shape {list(shape)} has {array.size} elements")
    return array.reshape(shape)


class _Reader:
    def __init__(self, source: Source, net: Record, constants: dict[str, np.ndarray]) -> None:
        self.source = source
        self.net = net
        self.constants = constants
        self.names: dict[str, str] = {}
        self.written: set[str] = set()

    def graph(self) -> Graph:
        """The graph; a blob that is written again becomes a new value."""
        inputs = self.inputs()
        self.names = {name: name for name in [*self.constants, *inputs]}
        self.written = set(self.names)
        nodes = []
        for op in self.net.op:
            for name in op.input:
                if name not in self.names:
                    raise self.source.error(
                        f"operator '{op.name or op.type}' uses '{name}', which nothing makes; "
                        "weights are in the net with 'init' in its name beside this one"
                    )
            sources = [self.names[name] for name in op.input]
            outputs = [self.bind(name) for name in op.output]
            if _is_fill(op) and outputs:
                self.constants[outputs[0]] = _filled(self.source, op, op.output[0])
                continue
            nodes.append(Node(op.type, op.name, sources, outputs, _arguments(op)))
        outputs = list(self.net.external_output)
        if not outputs:
            used = {name for node in nodes for name in node.inputs}
            outputs = [name for name, value in self.names.items() if value not in used]
        for name in outputs:
            if name not in self.names:
                raise self.source.error(f"output '{name}' is made by no operator")
        shapes = self.shapes()
        return Graph(
            [Input(name, self.type(name, shapes), assumed=name not in shapes) for name in inputs],
            nodes,
            [(name, self.names[name]) for name in outputs],
            {name: array for name, array in self.constants.items() if name not in inputs},
            producer=f"net '{self.net.name}'" if self.net.name else "",
        )

    def inputs(self) -> list[str]:
        """The inputs: values that no operator makes; some have default values instead."""
        made: set[str] = set()
        needed: dict[str, None] = {}
        for op in self.net.op:
            needed |= dict.fromkeys(name for name in op.input if name not in made)
            made |= set(op.output)
        first = next(iter(self.net.external_input), "")
        array = self.constants.get(first)
        stands_in = array is not None and array.shape in ((), (1,))
        return [
            name
            for name in needed
            if (name in self.net.external_input or not self.net.external_input)
            and (name not in self.constants or (name == first and stands_in))
        ]

    def bind(self, name: str) -> str:
        value, count = name, 1
        while value in self.written:
            count += 1
            value = f"{name}#{count}"
        self.written.add(value)
        self.names[name] = value
        return value

    def shapes(self) -> dict[str, TensorType]:
        """The inputs' types, from a file beside the net; empty without one."""
        if not self.source.has_beside(_SHAPES):
            return {}
        beside = self.source.beside(_SHAPES)
        try:
            found = json.loads(beside.text)
            return {
                str(name): TensorType(
                    tuple(int(d) for d in shape), numpy_to_type(np.dtype(_KINDS[int(kind)]))
                )
                for name, (kind, shape) in found.items()
            }
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise beside.error("no shapes of inputs by name") from None

    def type(self, name: str, shapes: dict[str, TensorType]) -> Type:
        """The type of an input: nets lack it, but the first operators imply the rank."""
        if name in shapes:
            return shapes[name]
        uses = [(op.type, i) for op in self.net.op for i, one in enumerate(op.input) if one == name]
        if uses and all(use in _TYPES for use in uses):
            return UnrankedTensorType(_TYPES[uses[0]])
        for op in self.net.op:
            if name not in op.input[:1] or len(op.input) < 2:
                continue
            weight = self.constants.get(op.input[1])
            if weight is not None and op.type == "Conv":
                given = _arguments(op)
                groups = given["group"].i if "group" in given else 1
                channels = weight.shape[1] * groups if weight.ndim > 2 else None
                return TensorType((None, channels, *(None,) * (weight.ndim - 2)), f32)
            if weight is not None and op.type == "FC" and weight.ndim == 2:
                return TensorType((None, weight.shape[1]), f32)
        return UnrankedTensorType(f32)
