"""The type that a function on tensors has on buffers."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.types import FunctionType, TensorType, Type
from .emitter import buffer_type


@dataclass(frozen=True)
class Signature:
    """A function's type on buffers, and which results became arguments."""

    inputs: tuple[Type, ...]
    outputs: tuple[Type, ...]
    by_argument: tuple[bool, ...]

    @staticmethod
    def of(type: FunctionType) -> Signature:
        by_argument = tuple(isinstance(t, TensorType) and t.has_static_shape for t in type.results)
        pairs = list(zip(type.results, by_argument, strict=True))
        inputs = [converted(t) for t in (*type.inputs, *(t for t, out in pairs if out))]
        return Signature(
            tuple(inputs), tuple(converted(t) for t, out in pairs if not out), by_argument
        )

    @property
    def type(self) -> FunctionType:
        return FunctionType(self.inputs, self.outputs)


def converted(type: Type) -> Type:
    """The type that holds a tensor, and any other type itself."""
    return buffer_type(type) if isinstance(type, TensorType) else type
