"""From a model to a module: `func.func @main` with one nn op or a few for every node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from ...dialects.builtin import ModuleOp
from ...ir.diagnostics import NncError
from ..common.graph import Graph
from ..common.graph import Node as GraphNode
from ..common.importer import Importer
from ..common.inputs import InputChoices, constant_arrays, input_types
from ..common.rows import Convert
from ..common.scope import Scope
from ..common.source import Source
from .calls import check_calls, expand_call
from .context import Context
from .graph import function_of, graph_of
from .inputs import declared_inputs
from .model import Model, read_model
from .node import Node
from .registry import rows
from .survey import Survey

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
    choices = InputChoices.of(shapes, dims, constants)
    return OnnxImporter(model, choices).run(choices)


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


class OnnxImporter(Importer):
    """The import of one model, whose operators have versions, declarations and function bodies."""

    scope: Scope

    def __init__(self, model: Model, choices: InputChoices) -> None:
        check_calls(model)
        graph = graph_of(model, model.proto.graph, declared_inputs(model, choices))
        super().__init__(graph, rows, model.loc, Node, Context(model.opsets))
        self.model = model
        self.survey = Survey(model)
        self._functions: dict[int, Graph] = {}
        """Bodies of the model's own functions, by the identity of their protos, which it holds."""

    def check_operators(self) -> None:
        """Only those that are needed are, in `ordered`."""

    def ordered(self, scope: Scope, given: Iterable[str]) -> list[GraphNode]:
        """The nodes that are needed, operands first, all of which nnc has."""
        nodes = super().ordered(scope, given)
        self.survey.check(nodes, scope.context)
        return nodes

    def converter(self, n: Node) -> Convert:
        """The operator's function; else its definition or the model's own function is imported."""
        found = None if n.local is not None else self.survey.converter(n.proto, n.context)
        return found or expand_call

    def function(self, n: Node, body: Any) -> Graph:
        """The body of the function that a node calls; the model's own ones are read once."""
        if n.local is None:
            return function_of(self.model, body)
        if id(body) not in self._functions:
            self._functions[id(body)] = function_of(self.model, body)
        return self._functions[id(body)]

    def may_leave_out(self, error: NncError) -> bool:
        """Whether a branch that this happens in may be left out, and fail where it is taken."""
        return True
