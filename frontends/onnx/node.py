"""What a converter sees: one node with its inputs and attributes, and a place for new ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import AttributeProto

from ...dialects import nn
from ...ir.conversions import is_small_float
from ...ir.core import Operation, Value
from ...ir.diagnostics import NncError
from ...ir.location import CallSiteLoc, Location, NameLoc
from ...ir.numpy_types import type_to_numpy
from ...ir.types import Dim, TensorType, Type
from .schema import attribute_kind

if TYPE_CHECKING:
    from .importer import Importer, Scope

A: Any = AttributeProto
_FIELDS = {
    A.INT: "i",
    A.FLOAT: "f",
    A.STRING: "s",
    A.TENSOR: "t",
    A.GRAPH: "g",
    A.INTS: "ints",
    A.FLOATS: "floats",
    A.STRINGS: "strings",
    A.SPARSE_TENSOR: "sparse_tensor",
    A.TYPE_PROTO: "tp",
}


class Node:
    """A node that is being imported. Called with an nn op, it inserts it and gives its value."""

    def __init__(self, importer: Importer, proto: Any, scope: Scope) -> None:
        self.importer = importer
        self.proto = proto
        self.scope = scope
        self.op_type: str = proto.op_type
        self.attributes = scope.resolve_attributes(proto)
        self.opset = scope.opset_of(proto)
        self.schema = scope.schema_of(proto)
        self.inputs: list[Any] = []
        self.outputs: list[str] = list(proto.output)

    # -- saying where and what --------------------------------------------------------------

    @property
    def label(self) -> str:
        """`node 'conv_1' (Conv)`, or by its first output where it has no name."""
        return node_label(self.proto)

    @property
    def loc(self) -> Location:
        """The node's place in the model; below it, the call that it was inlined from."""
        first = next((name for name in self.outputs if name), "")
        own = NameLoc(f"{self.proto.name or first} ({self.op_type})", self.importer.model.loc)
        return own if self.scope.caller is None else CallSiteLoc(own, self.scope.caller)

    def error(self, message: str) -> NncError:
        """An error that names the model and the node (and the call it was inlined from)."""
        label = self.label
        if self.scope.call_label:
            label = f"{self.scope.call_label}, in its body {label}"
        return NncError(f"{label}: {message}", self.importer.model.loc)

    # -- attributes ---------------------------------------------------------------------------

    def attribute(self, name: str, kind: int) -> Any:
        """The attribute's value, else the operator's default, else None."""
        proto = self.attributes.get(name)
        if proto is None:
            declared = self.schema.attributes.get(name) if self.schema is not None else None
            if declared is None or not declared.default_value.type:
                return None
            proto = declared.default_value
        if proto.type != kind:
            raise self.error(
                f"attribute '{name}' is of type {attribute_kind(proto.type)}, "
                f"expected {attribute_kind(kind)}"
            )
        return getattr(proto, _FIELDS[kind])

    def int(self, name: str, default: int = 0) -> int:
        value = self.attribute(name, A.INT)
        return default if value is None else value

    def float(self, name: str, default: float = 0.0) -> float:
        value = self.attribute(name, A.FLOAT)
        return default if value is None else value

    def string(self, name: str, default: str = "", choices: Sequence[str] = ()) -> str:
        """The text; one of `choices` where they are given."""
        value = self.attribute(name, A.STRING)
        text = default if value is None else value.decode("utf-8", "replace")
        if choices and text not in choices:
            raise self.error(f"attribute '{name}' is '{text}', expected {' or '.join(choices)}")
        return text

    def ints(self, name: str) -> tuple[int, ...] | None:
        value = self.attribute(name, A.INTS)
        return None if value is None else tuple(value)

    def floats(self, name: str) -> tuple[float, ...] | None:
        value = self.attribute(name, A.FLOATS)
        return None if value is None else tuple(value)

    def strings(self, name: str) -> tuple[str, ...] | None:
        value = self.attribute(name, A.STRINGS)
        return None if value is None else tuple(v.decode("utf-8", "replace") for v in value)

    def tensor(self, name: str) -> np.ndarray | None:
        value = self.attribute(name, A.TENSOR)
        return None if value is None else self.importer.read_tensor(value, self)

    def has(self, name: str) -> bool:
        return name in self.attributes

    def wants(self, output: int) -> bool:
        """Whether the output is there and named, so that somebody may use it."""
        return output < len(self.outputs) and bool(self.outputs[output])

    def declared_rank(self, output: int) -> int | None:
        """The rank that the model declares for an output of a node of its main graph, if any.

        In the body of a function, that of the call's output, where it is one.
        """
        if self.scope.caller is not None:
            return self.scope.declared_ranks.get(self.outputs[output])
        if self.scope.parent is not None:
            return None
        graph = self.importer.model.proto.graph
        for declared in (*graph.output, *graph.value_info):
            type = declared.type.tensor_type
            if declared.name == self.outputs[output] and type.HasField("shape"):
                return len(type.shape.dim)
        return None

    # -- building -----------------------------------------------------------------------------

    def __call__(self, op: Operation) -> Any:
        """Insert the op; its result, or the tuple of several. Constants are folded."""
        values = self.importer.emit(op, self.loc)
        return values[0] if len(values) == 1 else tuple(values)

    def constant(self, value: Any, type: Type | None = None) -> Value:
        """A constant of an array or number; `type` is its element type."""
        dtype = None if type is None else type_to_numpy(type)
        try:
            array = np.asarray(value, dtype)
        except (OverflowError, ValueError):
            raise self.error(f"{value} is no number of type {type}") from None
        return self.importer.constant(array, self.loc)

    def scalar(self, value: Any, like: Value) -> Value:
        """A 0-d constant of the same element type as another value."""
        return self.constant(value, like.type.element_type)

    def cast(self, x: Value, element: Type, saturate: bool = True, round_mode: str = "up") -> Value:
        """The value with another element type; itself where it has that already.

        The rules are those of nn.cast, for floats of 8 bits and less.
        """
        if x.type.element_type is element:
            return x
        out = TensorType(x.type.shape, element)
        if not is_small_float(element):
            return self(nn.Cast(x, out=out))
        return self(nn.Cast(x, out=out, saturate=saturate, round_mode=round_mode))

    # -- what is known at import --------------------------------------------------------------

    def known(self, value: Value | None) -> np.ndarray | None:
        """The elements of a small constant, or of what has none; else None."""
        if isinstance(value, Value) and 0 in getattr(value.type, "shape", ()):
            shape = tuple(d or 0 for d in value.type.shape)
            return np.zeros(shape, type_to_numpy(value.type.element_type))
        return None if value is None else self.importer.known.array(value)

    def array(self, value: Value | None) -> np.ndarray | None:
        """The elements of a constant of any size, else None."""
        if value is None:
            return None
        found = self.importer.known.array(value)
        if found is None and (op := value.defined_by(nn.Constant)) is not None:
            found = op.value.to_numpy()
        return found

    def known_ints(self, value: Value, what: str) -> tuple[int, ...]:
        """The elements of an operand that must be known. Raises NncError where it is not."""
        found = self.known(value)
        if found is None:
            raise self.error(f"{what} must be known at import, but it is computed at run time")
        return tuple(int(v) for v in found.reshape(-1))

    def known_int(self, value: Value, what: str) -> int:
        """The only element of an operand that must be known. Raises NncError where it is not."""
        found = self.known_ints(value, what)
        if len(found) != 1:
            raise self.error(f"{what} must be one number, but has {len(found)} elements")
        return found[0]

    def extents(self, value: Value) -> tuple[Dim, ...] | None:
        """A 1-D integer tensor that holds a shape, unknown elements as None.

        None where not even the number of elements is known.
        """
        return self.importer.extents(value)


def node_label(proto: Any) -> str:
    """How messages name a node."""
    if proto.name:
        return f"node '{proto.name}' ({proto.op_type})"
    first = next((name for name in proto.output if name), "")
    return f"node of output '{first}' ({proto.op_type})"
