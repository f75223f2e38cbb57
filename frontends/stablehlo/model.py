"""From StableHLO in any form to a graph of nodes, one for each operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from ...dialects import func
from ...ir.attributes import ArrayAttr, DenseElements, SymbolRefAttr
from ...ir.core import Block, BlockArgument, Operation, Value
from ...ir.diagnostics import NncError
from ...ir.location import FileLineColLoc, NameLoc
from ..common.complexes import caller_type, is_complex
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..common.source import Source
from .forms import module_of, platform
from .quantized import expressed, quantized, stored, works_on_integers

DEEPEST_CALLS = 64

NAMES = ("jax.arg_name", "nn.name")
"""The attributes with the name of an argument."""

PLATFORM = "_platform_index"
"""The name of an argument that selects the platform in programs exported for several."""


def read(source: Source) -> Graph:
    """The graph of the public function. Raises NncError."""
    reader, function = _public(source)
    return reader.main(function)


def read_inner(source: Source, platform: int | None) -> Graph:
    """The public function as a graph inside of another model, where complex numbers are pairs.

    `platform` is the value of the function's first argument, which selects a platform; None if it
    has no such argument.
    """
    reader, function = _public(source)
    graph = reader.block(function.body.blocks[0])
    if platform is None:
        return graph
    if not graph.inputs:
        raise source.error("the module's function has no argument for the platform")
    constants = {graph.inputs[0].name: np.array(platform, np.int32)}
    return replace(graph, inputs=graph.inputs[1:], constants=constants)


def _public(source: Source) -> tuple[_Reader, Any]:
    """The public function that is imported as the model: `main`, or else the first one."""
    module = module_of(source)
    functions = func.functions_by_name(module)
    public = [f for f in functions.values() if f.sym_visibility != "private" and f.body.blocks]
    chosen = [f for f in public if f.sym_name == "main"] or public[:1]
    if not chosen:
        raise source.error("the module has no public function with a body")
    return _Reader(functions, source), chosen[0]


class _Reader:
    """Makes graphs of functions and regions, each function once."""

    def __init__(self, functions: Mapping[str, Any], source: Source) -> None:
        self.functions = functions
        self.source = source
        self.names: dict[Value, str] = {}
        self.graphs: dict[str, Graph] = {}
        self.open: list[str] = []
        self.numbers = count()
        self.within_numbers = False

    def name(self, value: Value) -> str:
        """The name of a value, unique in the module."""
        if value not in self.names:
            self.names[value] = f"{value.name_hint or ''}%{next(self.numbers)}"
        return self.names[value]

    def main(self, function: Any) -> Graph:
        """The graph of the function that is the model."""
        block = function.body.blocks[0]
        inputs, nodes, constants = [], [], {}
        for i, (arg, name) in enumerate(zip(block.args, self.names_of(function), strict=True)):
            if _name_of(function.arg_attrs, i, ("jax.global_constant",)) == PLATFORM:
                constants[self.name(arg)] = np.array(platform(self.source), np.int32)
                continue
            inputs.append(Input(name, caller_type(stored(arg.type))))
            self.names[arg] = name
            if is_complex(arg.type):
                inner = self.names[arg] = f"{name}%complex"
                nodes.append(Node("complex input", name, [name], [inner]))
        body, returned = self.nodes(block)
        outputs, pairs = [], []
        for i, value in enumerate(returned):
            name = _name_of(function.res_attrs, i, ("jax.result_info",)) or f"result{i}"
            inner = self.name(value)
            name = _unique(name, [known for known, _ in outputs])
            if is_complex(value.type):
                pairs.append(name)
                real = f"%output{i}"
                body.append(Node("complex output", name, [inner], [real]))
                inner = real
            outputs.append((name, inner))
        whole = [*nodes, *body]
        return Graph(inputs, whole, outputs, constants, producer="JAX", complex_outputs=pairs)

    def names_of(self, function: Any) -> list[str]:
        """The names of arguments: from attributes, else from `origin`, else as in the text."""
        args = function.body.blocks[0].args
        own = [_name_of(function.arg_attrs, i, NAMES) for i in range(len(args))]
        hints = [arg.name_hint or f"arg{i}" for i, arg in enumerate(args)]
        names = [one or self.origin(arg) or h for one, arg, h in zip(own, args, hints, strict=True)]
        return names if len(set(names)) == len(names) else hints

    def origin(self, arg: BlockArgument) -> str:
        """The name in an argument's location; `jax.export` has it in a function that is called."""
        if isinstance(arg.loc, NameLoc):
            return arg.loc.name
        for call in arg.users:
            called = self.functions.get(call.callee) if isinstance(call, func.Call) else None
            if called is not None and called.body.blocks:
                inner = called.body.blocks[0].args
                at = list(call.operands).index(arg)
                if at < len(inner) and isinstance(inner[at].loc, NameLoc):
                    return inner[at].loc.name
        return ""

    def function(self, name: str, op: Operation) -> Graph:
        """The graph of a function that is called."""
        if name in self.graphs:
            return self.graphs[name]
        called = self.functions.get(name)
        if called is None or not called.body.blocks:
            raise NncError(f"function '@{name}' is not in the module", op.loc)
        if name in self.open:
            raise NncError(f"function '@{name}' calls itself", op.loc)
        if len(self.open) > DEEPEST_CALLS:
            raise NncError(f"functions call each other more than {DEEPEST_CALLS} deep", op.loc)
        self.open.append(name)
        self.graphs[name] = self.block(called.body.blocks[0])
        self.open.pop()
        return self.graphs[name]

    def block(self, block: Block) -> Graph:
        """The graph of a region, or of a function that is called."""
        type = expressed if self.within_numbers else stored
        inputs = [Input(self.name(arg), type(arg.type)) for arg in block.args]
        nodes, returned = self.nodes(block)
        return Graph(inputs, nodes, [(str(i), self.name(v)) for i, v in enumerate(returned)])

    def nodes(self, block: Block) -> tuple[list[Node], Sequence[Value]]:
        """The nodes of a block, and the values that it returns."""
        *ops, last = block.ops
        return [node for op in ops for node in self.nodes_of(op)], last.operands

    def nodes_of(self, op: Operation) -> list[Node]:
        """An operation as a node; if it is quantized but not computed on integers, with nodes that
        dequantize its operands before it and quantize its results after it.
        """
        is_quantized = any(quantized(type) for type in (*op.operand_types, *op.result_types))
        if not is_quantized or works_on_integers(op) != self.within_numbers:
            return [self.node(op)]
        if self.within_numbers:
            raise NncError(f"'{op.name}' op of quantized tensors in a region of numbers", op.loc)
        self.within_numbers = True
        node = self.node(op)
        self.within_numbers = False
        before, after = [], []
        for at, value in enumerate(op.operands):
            if (kind := quantized(value.type)) is not None:
                name = f"{self.name(op.results[0])}%operand{at}"
                before.append(Node("dequantize", node.name, [node.inputs[at]], [name], kind))
                node.inputs = [*node.inputs[:at], name, *node.inputs[at + 1 :]]
        for at, value in enumerate(op.results):
            if (kind := quantized(value.type)) is not None:
                name = f"{node.outputs[at]}%number"
                after.append(Node("quantize", node.name, [name], [node.outputs[at]], kind))
                node.outputs = [*node.outputs[:at], name, *node.outputs[at + 1 :]]
        return [*before, node, *after]

    def node(self, op: Operation) -> Node:
        """An operation as a node; what it calls and its regions are graphs inside of it."""
        kind, graphs = op.name, {}
        if isinstance(op, func.Call):
            graphs["body"] = self.function(op.callee, op)
        elif op.name == "stablehlo.composite":
            graphs["body"] = self.function(op.decomposition, op)  # type: ignore[attr-defined]
        elif op.name == "stablehlo.custom_call":
            kind = f"custom_call @{op.call_target_name}"  # type: ignore[attr-defined]
            names = [name for name in _called(op) if name in self.functions]
            graphs = {str(i): self.function(name, op) for i, name in enumerate(names)}
        for i, region in enumerate(op.regions):
            if len(region.blocks) != 1:
                raise NncError(f"'{op.name}' op has a region of several blocks", op.loc)
            graphs[str(i)] = self.block(region.blocks[0])
        shapes = _shape_operands(op)
        inputs = [self.name(v) for i, v in enumerate(op.operands) if i not in shapes]
        outputs = [self.name(v) for v in op.results]
        return Node(kind, _place(op), inputs, outputs, op, graphs)


def _called(op: Operation) -> list[str]:
    """The functions that a custom call names."""
    names = op.attributes.get("called_computations")
    found = names if isinstance(names, ArrayAttr) else ()
    return [name.root for name in found if isinstance(name, SymbolRefAttr)]


def _shape_operands(op: Operation) -> frozenset[int]:
    """The operands of a custom call that only tell the unknown extents of its results, by position.

    Source: jax, jax/_src/interpreters/mlir.py, `custom_call`
    """
    places = op.attributes.get("indices_of_shape_operands")
    return frozenset(places.to_numpy().flat if isinstance(places, DenseElements) else ())


def _place(op: Operation) -> str:
    """How messages name an operation: as JAX does, or by the line of its text."""
    match op.loc:
        case NameLoc(name):
            return name
        case FileLineColLoc() as place:
            return f"line {place.line}"
    return op.name


def _name_of(attrs: Any, i: int, keys: Sequence[str]) -> str:
    """A name that an argument or result is given by its attributes."""
    entries = dict(attrs[i].items()) if attrs is not None else {}
    return next((entries[key].value for key in keys if key in entries), "")


def _unique(name: str, taken: Sequence[str]) -> str:
    return next(n for i in count() if (n := f"{name}_{i}" if i else name) not in taken)
