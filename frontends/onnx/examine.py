"""Examines a model without stopping: its operators, and every node that cannot be imported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import onnx

from ...dialects.builtin import ModuleOp
from ...ir.diagnostics import NncError
from ...ir.location import NameLoc
from ...ir.types import TensorType
from ..common.front_end import Examination, OperatorUse
from ..common.graph import Node as GraphNode
from ..common.inputs import InputChoices
from .context import Context
from .graph import subgraphs
from .importer import OnnxImporter
from .model import Model, domain, read_model
from .survey import Survey
from .tensors import element_type


def examine_model(
    source: Any,
    *,
    shapes: Mapping[str, Any] | None = None,
    constants: Mapping[str, Any] | None = None,
) -> Examination:
    """Import a model as far as possible.

    Raises:
        NncError: it is no valid model, or the given shapes or values do not fit its inputs.
    """
    model = read_model(source)
    choices = InputChoices.of(shapes, None, constants)
    examiner = _Examiner(model, choices)
    try:
        module = examiner.run(choices)
        module.verify()
    except _UnknownError:
        module = None
    except NncError as error:
        if not examiner.faults and not _names_node(error, model):
            raise
        examiner.faults.setdefault(error.message, ("", ""))
        module = None
    uses = Counter(_operators(model))
    bad = Counter(examiner.faults.values())
    ordered = sorted(uses.items(), key=lambda use: (-use[1], use[0]))
    operators = [OperatorUse(*key, count, bad[key]) for key, count in ordered]
    proto = model.proto
    return Examination(
        tuple(operators),
        tuple(examiner.faults),
        len(examiner.unexamined),
        module,
        f"ONNX, {proto.producer_name or 'unknown'} {proto.producer_version}".rstrip(),
        {entry.key: entry.value for entry in proto.metadata_props},
        tuple(examiner.warnings),
    )


def _names_node(error: NncError, model: Model) -> bool:
    return error.location != model.loc or error.message.startswith("node ")


class _UnknownError(NncError):
    """A value depends on a node that cannot be imported."""


class _Patient(Survey):
    """A survey that refuses nothing, as the examiner checks each node by itself."""

    def check(self, nodes: Iterable[GraphNode], context: Context) -> None:
        """Accept all nodes."""


class _Examiner(OnnxImporter):
    """An import that continues after a node that it cannot import.

    The results of such a node become arguments of the function if the model declares their types.
    """

    def __init__(self, model: Model, choices: InputChoices) -> None:
        super().__init__(model, choices)
        self.survey = _Patient(model)
        self.faults: dict[str, tuple[str, str]] = {}
        """Messages, each with the operator's domain and name."""
        self.unexamined: dict[str, None] = {}

    def import_node(self, node: GraphNode) -> None:
        """Import a node; if that fails, record why and insert substitutes for its results."""
        context, proto = self.scope.context, node.attributes
        lacking = self.survey.fault_of(proto, context)
        try:
            if lacking is not None:
                text = f"{context.place_of(node)}: not supported: {lacking}"
                raise NncError(text, self.loc)
            super().import_node(node)
            return
        except _UnknownError:
            self.unexamined[f"{context.call_label} {node.label}"] = None
        except NncError as error:
            if context.may_fail and lacking is None:
                raise
            self.faults[error.message] = domain(proto.domain), proto.op_type
        for name in filter(None, node.outputs):
            self.scope.values[name] = self._stand_in(name)

    def may_leave_out(self, error: NncError) -> bool:
        """Whether a branch may be left out: not if it depends on a node that was not imported."""
        return not isinstance(error, _UnknownError)

    def module(self, *arguments: Any) -> ModuleOp:
        """The module, unless a node could not be imported."""
        if self.faults:
            raise _UnknownError("the model cannot be imported", self.loc)
        return super().module(*arguments)

    def _stand_in(self, name: str) -> Any:
        is_main = self.scope.parent is None and self.scope.context.caller is None
        type = self._types.get(name) if is_main else None
        if type is None:
            return _UnknownError(f"'{name}' is not known", self.loc)
        return self.entry.add_arg(type, NameLoc(name, self.loc))

    @cached_property
    def _types(self) -> dict[str, TensorType]:
        """The types of the main graph's tensors, as far as ONNX infers them."""
        try:
            graph = onnx.shape_inference.infer_shapes(self.model.proto).graph
        except Exception:  # the binding raises several kinds
            graph = self.model.proto.graph
        found = {}
        for value in (*graph.value_info, *graph.output):
            tensor = value.type.tensor_type
            if not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
                continue
            try:
                element = element_type(tensor.elem_type)
            except NncError:
                continue
            shape = (d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim)
            found[value.name] = TensorType(tuple(shape), element)
        return found


def _operators(model: Model) -> Iterator[tuple[str, str]]:
    """Domain and name of each node, also in nested graphs and in the model's functions."""
    nodes = [*model.proto.graph.node]
    nodes += (node for function in model.proto.functions for node in function.node)
    while nodes:
        node = nodes.pop()
        yield domain(node.domain), node.op_type
        for attribute in node.attribute:
            nodes += (inner for graph in subgraphs(attribute) for inner in graph.node)
