"""From an ONNX model to a module: `func.func @main` with one or a few nn ops per node."""

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

    `shapes` gives the shapes of inputs by name, `dims` the extents of symbolic dimensions by name
    (`{"batch": 1}`); dimensions that stay unknown are `?`. `constants` fixes the values of inputs,
    which then are no arguments: axes, sizes and the like, on which shapes depend. Weights in files
    beside the model are mapped.

    Raises:
        NncError: the model cannot be read, is not valid, or has unsupported operators, which are
            all listed at once.
    """
    model = read_model(source)
    if progress is not None:
        count = len(model.proto.graph.node)
        progress(f"import {model.name}: {count} nodes")
    choices = InputChoices.of(shapes, dims, constants)
    return OnnxImporter(model, choices).run(choices)


def constant_values(source: Any, constants: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The values of inputs as arrays of their types, for `import_model`.

    Raises:
        NncError: a value does not fit the input's type, or there is no such input.
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
        """Bodies of the model's own functions, by `id` of their protos, which the model keeps."""

    def check_operators(self) -> None:
        """Do nothing: `ordered` checks the operators, only those that are needed."""

    def ordered(self, scope: Scope, given: Iterable[str]) -> list[GraphNode]:
        """The needed nodes, operands first. Raises NncError if one has an unsupported operator."""
        nodes = super().ordered(scope, given)
        self.survey.check(nodes, scope.context)
        return nodes

    def converter(self, n: Node) -> Convert:
        """The operator's converter, or one that imports its definition or local function."""
        found = None if n.local is not None else self.survey.converter(n.proto, n.context)
        return found or expand_call

    def function(self, n: Node, body: Any) -> Graph:
        """The body of the function that a node calls; the model's own functions are read once."""
        if n.local is None:
            return function_of(self.model, body)
        if id(body) not in self._functions:
            self._functions[id(body)] = function_of(self.model, body)
        return self._functions[id(body)]

    def may_leave_out(self, error: NncError) -> bool:
        """Whether a branch with this error may be left out; the program fails if it takes it."""
        return True
