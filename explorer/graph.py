"""The graph of a model for drawing: its nodes, the values between them, its scopes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..dialects import func, nn
from ..ir.core import BlockArgument, Operation, OpResult, Value
from ..ir.location import CallSiteLoc, Location, node_names, node_scopes
from ..ir.visible import visible

MOST_NAME = 400
"""The most characters of a name that are shown; longer ones are cut in the middle."""

_KIND = re.compile(r"(.*) \(([^()]+)\)", re.DOTALL)
_WORD = re.compile(r"[\w-]+")
_DIALECTS = ("aten", "nn")
"""Prefixes that are omitted from the kinds of nodes."""
_OUTLINED = ("linalg.", "nn.", "func.")


@dataclass
class Node:
    """A node of the model, with the operations that it was imported as.

    `key` is its name in locations, `scopes` are the parts of its name before the last, `lines`
    those of the imported text, `types` those of its results.
    """

    key: str
    name: str
    kind: str
    scopes: tuple[str, ...]
    ops: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


@dataclass
class Graph:
    """Nodes in the order of the text, and distinct edges between their indices."""

    nodes: list[Node]
    edges: list[tuple[int, int]]


def graph_of(module: Operation, line_of: dict[Operation, int]) -> Graph:
    """The graph of a module; `line_of` has the lines of its operations in the text.

    Operations of one node of the model form one node. Constants, and operations that only structure
    the text, are no nodes; inputs and outputs are.
    """
    maker = _Maker(line_of)
    for op in module.walk():
        if isinstance(op, func.FuncOp):
            maker.inputs(op)
        elif not _is_structure(op):
            maker.add(op)
    for op in module.walk():
        if isinstance(op, func.Return):
            maker.outputs(op)
    return Graph(maker.nodes, list(maker.edges))


class _Maker:
    """Builds a graph."""

    def __init__(self, line_of: dict[Operation, int]) -> None:
        self.line_of = line_of
        self.nodes: list[Node] = []
        self.edges: dict[tuple[int, int], None] = {}
        self.makers: dict[Value, int] = {}
        self.writers: dict[Value, int] = {}
        """For each buffer, where there are no tensors: the last node that wrote it."""
        self.numbers: dict[tuple[str, tuple[str, ...]], int] = {}

    def inputs(self, function: func.FuncOp) -> None:
        if not function.body.blocks:
            return
        for i, arg in enumerate(function.body.blocks[0].args):
            names = node_names(arg.loc)
            name = names[0] if names else f"argument {i}"
            self.makers[arg] = self._new(f"input {name}", name, "input", (), str(arg.type))

    def outputs(self, op: func.Return) -> None:
        for i, value in enumerate(op.operands):
            maker = self._maker(value)
            number = self._new(f"output {i} of {id(op)}", f"output {i}", "output", (), "")
            self.nodes[number].types = [str(value.type)]
            self.nodes[number].lines = [self.line_of[op]] if op in self.line_of else []
            if maker is not None:
                self.edges[maker, number] = None

    def add(self, op: Operation) -> None:
        """Add an operation, to its existing node or to a new one."""
        key, called = _key_and_scopes(op.loc)
        place = (key, called)
        number = self.numbers.get(place) if key else None
        if number is None:
            found = _KIND.fullmatch(key)
            whole, kind = found.groups() if found else (key or _own_name(op), op.name)
            scopes, name = scopes_of(whole, called) if key else (called, whole)
            number = self._new(key, name, short_kind(kind), scopes)
            if key:
                self.numbers[place] = number
        node = self.nodes[number]
        node.ops.append(op.name)
        node.types = [str(one.type) for one in op.results]
        if op in self.line_of:
            node.lines.append(self.line_of[op])
        for value in dict.fromkeys(op.operands):
            maker = self._maker(value)
            if maker is not None and maker != number:
                self.edges[maker, number] = None
        if not op.results and op.operands:
            self.writers[op.operands[-1]] = number
        for result in op.results:
            self.makers[result] = number

    def _new(self, key: str, name: str, kind: str, scopes: tuple[str, ...], type: str = "") -> int:
        node = Node(key, shortened(name), kind, tuple(map(shortened, scopes)))
        node.types = [type] if type else []
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _maker(self, value: Value) -> int | None:
        """The node that makes a value; None for a constant."""
        if (found := self.writers.get(value)) is not None:
            return found
        if (found := self.makers.get(value)) is not None:
            return found
        match value:
            case BlockArgument():
                around = value.owner.parent_op
                for operand in around.operands if around is not None else ():
                    if (found := self._maker(operand)) is not None:
                        return found
            case OpResult() if _passes_on(value.owner):
                return self._maker(value.owner.operands[0])
        return None


def _is_structure(op: Operation) -> bool:
    """Whether an operation only structures the module, and is no step of the model."""
    if isinstance(op, nn.Constant | func.Return) or op.name.startswith(("builtin.", "schedule.")):
        return True
    parent = op.parent_op
    if parent is None or parent.name.startswith(("linalg.", "schedule.")):
        return True
    around: Operation | None = parent
    while around is not None and not isinstance(around, func.FuncOp):
        around = around.parent_op
    inner = isinstance(around, func.FuncOp) and around.sym_visibility == "private"
    return inner or not op.name.startswith(_OUTLINED) or op.name.endswith(".yield")


def _passes_on(op: Operation) -> bool:
    return bool(op.operands) and not op.name.startswith("nn.")


def _own_name(op: Operation) -> str:
    callee = getattr(op, "callee", None)
    return callee if isinstance(callee, str) else op.name


def _key_and_scopes(loc: Location) -> tuple[str, tuple[str, ...]]:
    """The name of a node in locations, and the enclosing scopes that its front end recorded."""
    names, inner = node_names(loc), loc
    while not names and isinstance(inner, CallSiteLoc):  # in the body of a function
        inner = inner.callee
        names = node_names(inner)
    return (names[0] if names else ""), node_scopes(loc)


def scopes_of(name: str, known: Sequence[str] = ()) -> tuple[tuple[str, ...], str]:
    """The scopes around a node of this name, outermost first, and the rest of its name.

    The scopes are the `known` ones, else those in the name: frameworks write
    `/layer1/layer1.0/conv1/Conv` or `layer1.0.conv1`. If a scope's name begins with that of its
    enclosing scope, this part is dropped: `layer1.0` in `layer1` becomes `0`.
    """
    if known:
        starts = (separator.join(known) + separator for separator in (".", "/"))
        found = next((start for start in starts if name.startswith(start)), "")
        return tuple(known), name[len(found) :] or name
    for separator in ("/", "::", "."):
        parts = [part for part in name.split(separator) if part]
        if len(parts) > 1 and (separator != "." or _is_path(parts)):
            return tuple(_relative(parts[:-1])), parts[-1]
    return (), name


def _is_path(parts: Iterable[str]) -> bool:
    """Whether the parts between dots are module names, rather than a decimal number."""
    return all(map(_WORD.fullmatch, parts)) and not all(map(str.isdigit, parts))


def short_kind(kind: str) -> str:
    """The short name of a node's kind: `conv2d` for `aten.conv2d.default` and `nn.conv2d`."""
    words = kind.split(".")
    return shortened(words[1] if len(words) > 1 and words[0] in _DIALECTS else kind)


def _relative(parts: Iterable[str]) -> Iterable[str]:
    before = ""
    for part in parts:
        yield part.removeprefix(f"{before}.") if before and part != before else part
        before = part


def shortened(name: str) -> str:
    """A name of at most `MOST_NAME` printable characters."""
    name = visible(name)
    if len(name) <= MOST_NAME:
        return name
    half = MOST_NAME // 2 - 2
    return f"{name[:half]} .. {name[-half:]}"
