"""Traces values back through identities, function arguments, and variables that are set once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..wire.numerals import whole_number
from ..wire.protobuf import Record, WireError
from .functions import CALLS, Functions, FunctionValues, GraphValues
from .schema import array_of

ASSIGNMENTS = ("AssignVariableOp", "Assign")
_DEEPEST = 10
_LONGEST = 100


@dataclass(frozen=True)
class Origin:
    """An output of a node; the node is None if nothing makes the value."""

    node: Record | None
    output: int
    scope: Scope

    @property
    def kind(self) -> str:
        """The node's operator."""
        return self.node.op if self.node is not None else ""

    def array(self) -> Any:
        """The value of a constant; None for others. Raises WireError."""
        value = self.node.attr.get("value") if self.node and self.kind == "Const" else None
        return None if value is None or value.tensor is None else array_of(value.tensor)

    def key(self) -> str | None:
        """The checkpoint key that the value is read from; None if no checkpoint has it."""
        if self.node is None or self.kind != "RestoreV2" or len(self.node.input) < 2:
            return None
        keys = self.scope.origin(self.node.input[1]).array()
        if keys is None or not self.output < keys.size:
            return None
        return str(keys.reshape(-1)[self.output])


class Scope:
    """The nodes of a graph or function; `arguments` come from an outer scope."""

    def __init__(
        self,
        records: Sequence[Record],
        values: GraphValues,
        arguments: Mapping[str, tuple[Scope, str]] | None = None,
        depth: int = 0,
    ) -> None:
        self.nodes = {record.name: record for record in records}
        self.values = values
        self.arguments = arguments or {}
        self.depth = depth

    def origin(self, text: str) -> Origin:
        """The origin of a value. Raises WireError if identities are cyclic."""
        scope: Scope = self
        for _ in range(_LONGEST):
            node, _, number = scope.values.name(text).partition(":")
            record = scope.nodes.get(node)
            if record is None and node in scope.arguments:
                scope, text = scope.arguments[node]
            elif record is not None and record.op in ("Identity", "IdentityN") and record.input:
                place = whole_number(number) or 0
                text = record.input[place if place < len(record.input) else 0]
            elif record is not None and record.op == "ReadVariableOp" and record.input:
                assigned = scope.assigned(record.input[0])
                if assigned is None:
                    return Origin(record, 0, scope)
                text = assigned
            else:
                return Origin(record, whole_number(number) or 0, scope)
        raise WireError("Identity nodes form a cycle")

    def assigned(self, handle: str) -> str | None:
        """The value that a variable of this scope is set to."""
        variable = self.values.maker(handle)
        for record in self.nodes.values():
            writes = record.op in ASSIGNMENTS and len(record.input) > 1
            if writes and self.values.maker(record.input[0]) == variable:
                return record.input[1]
        return None

    def called(self, record: Record, functions: Functions) -> Scope | None:
        """The function that a node calls, as a scope; None if it is no call."""
        called = record.attr.get("f") if record.op in CALLS else None
        if called is None or called.func is None or self.depth > _DEEPEST:
            return None
        function = functions.record(called.func.name)
        names = (arg.name for arg in function.signature.input_arg)
        data = (text for text in record.input if not text.startswith("^"))
        arguments = {name: (self, text) for name, text in zip(names, data, strict=False)}
        return Scope(function.node_def, FunctionValues(function), arguments, self.depth + 1)

    def inner(self, functions: Functions) -> Iterator[Scope]:
        """This scope and those of all functions called from it."""
        yield self
        for record in self.nodes.values():
            if (scope := self.called(record, functions)) is not None:
                yield from scope.inner(functions)
