"""From a model to a module: `func.func @main` with one nn op or a few for every node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from ...dialects.builtin import ModuleOp
from ...ir.core import Value
from ...ir.diagnostics import NncError
from ...ir.location import NameLoc
from ..common.builder import Builder, identifier
from ..common.importer import errors_of
from ..common.inputs import InputChoices, constant_arrays, input_types
from ..common.rows import fault_of_call, fault_of_ranks
from ..common.source import Source
from .calls import check_calls, expand_call
from .inputs import declared_inputs, dimensions, initializers
from .model import Model, read_model
from .node import Node
from .order import needed_nodes
from .registry import takes_any_rank
from .schema import (
    fault_of_attributes,
    fault_of_kinds,
    fault_of_presence,
    fault_of_signature,
    fault_of_types,
)
from .scope import Scope
from .survey import Survey
from .unread import check_read

Progress = Callable[[str], None]


def import_model(
    source: str | Path | bytes | onnx.ModelProto | Source,
    *,
    shapes: Mapping[str, Sequence[int | None]] | None = None,
    dims: Mapping[str, int] | None = None,
    constants: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> ModuleOp:
    """The module of an ONNX model, on the `nn` level; not verified.

    `shapes` gives the shapes of inputs by name, `dims` the extents of symbolic dimensions by
    theirs (`{"batch": 1}`); dimensions that stay unknown are `?`. `constants` gives inputs
    a value for good, which are no arguments then: axes, sizes and the like, on which shapes
    depend. Weights are mapped where they lie in files beside the model.

    Raises:
        NncError: the model cannot be read, is not valid, or has operators that nnc does not
            know; all of those are listed at once.
    """
    model = read_model(source)
    if progress is not None:
        count = len(model.proto.graph.node)
        progress(f"import {model.name}: {count} nodes")
    return Importer(model).run(InputChoices.of(shapes, dims, constants))


def constant_values(source: Any, constants: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The values of inputs as arrays of their types, as `import_model` takes them.

    Raises:
        NncError: an input has another type, or there is none of the name.
    """
    if not constants:
        return {}
    model = read_model(source)
    choices = InputChoices.of(constants=constants)
    types = input_types(model, declared_inputs(model, choices), choices)
    return constant_arrays(model, types, constants)


@dataclass(frozen=True)
class Unavailable:
    """An optional output that a converter does not provide: what to say to who uses it."""

    node: Node
    message: str

    def error(self) -> NncError:
        return self.node.error(self.message)


class Importer(Builder):
    """The import of one model."""

    def __init__(self, model: Model) -> None:
        super().__init__(model.loc)
        self.model = model
        self.survey = Survey(model)

    def run(self, choices: InputChoices) -> ModuleOp:
        """The module."""
        check_calls(self.model)
        graph = self.model.proto.graph
        scope = Scope(self.model.opsets)
        types = input_types(self, declared_inputs(self.model, choices), choices)
        nodes = self._prepare(graph, scope, list(types))
        self.survey.check(nodes, scope)
        for name, array in constant_arrays(self, types, choices.constants).items():
            del types[name]
            scope.values[name] = self.constant(array, NameLoc(name, self.loc), key=name)
        for name, type in types.items():
            scope.values[name] = self.argument(name, type)
        for node in nodes:
            self.import_node(node, scope)
        outputs = [(value.name, self.output(value.name, scope)) for value in graph.output]
        dims = dimensions([*graph.input, *graph.output])
        return self.module(list(types), outputs, dims)

    def _prepare(self, graph: Any, scope: Scope, inputs: list[str]) -> list[Any]:
        """Enter the initializers into the scope; the nodes that are needed, in order."""
        for name, tensor in initializers(graph):
            if name in scope.initializers:
                raise self.error(f"initializer '{name}' is defined twice")
            scope.initializers[name] = tensor
        given = {*inputs, *scope.initializers}
        outputs = [value.name for value in graph.output]
        try:
            return needed_nodes(graph.node, given, outputs, lambda n: is_visible(n, scope.parent))
        except NncError as error:
            raise self.error(error.message) from None

    # -- nodes ------------------------------------------------------------------------------

    def import_node(self, proto: Any, scope: Scope) -> None:
        """Insert what a node stands for and bind its outputs."""
        node = Node(self, proto, scope)
        local = self.survey.local_function(proto)
        if node.schema is not None and local is None:
            fault = fault_of_signature(node.schema, len(proto.input), len(proto.output))
            fault = fault or fault_of_attributes(node.schema, node.given)
            if fault:
                raise node.error(fault)
        node.inputs = [self.lookup(name, scope, node) if name else None for name in proto.input]
        if node.schema is not None and local is None:
            types = [getattr(v, "type", None) for v in node.inputs]
            fault = fault_of_presence(node.schema, node.inputs)
            fault = fault or fault_of_kinds(node.schema, node.inputs)
            if fault := fault or fault_of_types(node.schema, types):
                raise node.error(fault)
        self._bind(node, self._convert(node, local), scope)

    def _convert(self, node: Node, local: Any) -> list[Any]:
        convert = None if local is not None else self.survey.converter(node.proto, node.scope)
        if convert is None:
            return expand_call(node, local)
        if node.schema is None and (fault := fault_of_call(convert, node.inputs)):
            raise node.error(fault)
        declared = node.schema is not None
        if not takes_any_rank(convert) and (fault := fault_of_ranks(node.inputs, declared)):
            raise node.error(fault)
        with errors_of(node):
            results = convert(node, *node.inputs)
            check_read(node)
        return list(results) if isinstance(results, list | tuple) else [results]

    def _bind(self, node: Node, results: list[Any], scope: Scope) -> None:
        for i, name in enumerate(node.outputs):
            if not name:
                continue
            result = results[i] if i < len(results) else None
            if result is None:
                result = Unavailable(node, f"output {i} ('{name}') is not supported")
            scope.values[name] = result
            if isinstance(result, Value) and result.name_hint is None:
                result.name_hint = identifier(name)

    def lookup(self, name: str, scope: Scope, node: Node | None = None) -> Any:
        """The value of a name, which an initializer becomes when it is first used."""
        at: Scope | None = scope
        while at is not None:
            if name in at.values:
                found = at.values[name]
                if isinstance(found, Unavailable):
                    raise found.error()
                return found
            if name in at.initializers:
                loc = NameLoc(name, self.loc)
                array = self.read_tensor(at.initializers[name], node)
                value = self.constant(array, loc, key=name)
                at.values[name] = value
                return value
            at = at.parent
        raise self.error(f"'{name}' is not defined")

    def output(self, name: str, scope: Scope) -> Value:
        """The value of a graph's output."""
        return self.as_value(self.lookup(name, scope), self.loc)

    def may_leave_out(self, error: NncError) -> bool:
        """Whether a branch that this happens in may be left out, and fail where it is taken."""
        return True

    def import_body(self, graph: Any, scope: Scope, *, may_fail: bool = False) -> Body:
        """A graph inside a node, checked, to be imported in place as often as needed."""
        frame = scope.nested(may_fail=may_fail)
        if frame.depth > 100:
            raise self.error("graphs are nested more than 100 deep")
        inputs = [value.name for value in graph.input]
        nodes = self._prepare(graph, frame, inputs)
        self.survey.check(nodes, frame)
        return Body(self, frame, inputs, nodes, [value.name for value in graph.output])

    def read_tensor(self, proto: Any, node: Node | None) -> np.ndarray:
        try:
            return self.model.tensors.array(proto)
        except NncError as error:
            raise (node or self.model).error(error.message) from None


@dataclass
class Body:
    """A graph inside a node. Called with its inputs, it imports the nodes; its outputs."""

    importer: Importer
    frame: Scope
    inputs: list[str]
    nodes: list[Any]
    outputs: list[str]

    def __call__(self, *arguments: Any) -> list[Any]:
        scope = self.frame.nested()
        scope.values.update(zip(self.inputs, arguments, strict=True))
        for node in self.nodes:
            self.importer.import_node(node, scope)
        return [self.importer.lookup(name, scope) for name in self.outputs]


def is_visible(name: str, scope: Scope | None) -> bool:
    """Whether a graph inside the scope may use the name."""
    while scope is not None:
        if name in scope.values or name in scope.initializers:
            return True
        scope = scope.parent
    return False
