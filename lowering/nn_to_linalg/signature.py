"""The type that a function on tensors has on buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...dialects import func
from ...dialects.marks import INPUT_DIMS, KERNEL
from ...dialects.nn.dimension_names import names_of
from ...dialects.nn.symbolic_shapes import Shape, SymbolicShapes
from ...ir.polynomial import Poly
from ...ir.types import FunctionType, TensorType, Type
from .emitter import buffer_type


@dataclass(frozen=True)
class Extents:
    """A result's extents as polynomials, and the (argument, axis) whose extent each symbol is."""

    shape: Shape
    sources: Mapping[Any, tuple[int, int]]


@dataclass(frozen=True)
class Signature:
    """A function's type on buffers, and which of its results became arguments.

    Those have static shapes, or `extents` that follow from the arguments.
    """

    inputs: tuple[Type, ...]
    outputs: tuple[Type, ...]
    by_argument: tuple[bool, ...]
    extents: tuple[Extents | None, ...]
    tensors: FunctionType
    """The function's type on tensors."""

    @staticmethod
    def of(type: FunctionType, extents: Sequence[Extents | None] = ()) -> Signature:
        extents = tuple(extents) or (None,) * len(type.results)
        by_argument = tuple(
            isinstance(t, TensorType) and (t.has_static_shape or known is not None)
            for t, known in zip(type.results, extents, strict=True)
        )
        pairs = list(zip(type.results, by_argument, strict=True))
        inputs = [converted(t) for t in (*type.inputs, *(t for t, out in pairs if out))]
        outputs = tuple(converted(t) for t, out in pairs if not out)
        return Signature(tuple(inputs), outputs, by_argument, extents, type)

    @staticmethod
    def of_function(function: func.FuncOp) -> Signature:
        """The signature of a function that has not been converted yet."""
        return Signature.of(function.function_type, _result_extents(function))

    @property
    def type(self) -> FunctionType:
        return FunctionType(self.inputs, self.outputs)


def converted(type: Type) -> Type:
    """The memref type for a tensor type; any other type stays as it is."""
    return buffer_type(type) if isinstance(type, TensorType) else type


def _result_extents(function: func.FuncOp) -> list[Extents | None]:
    """The extents of each result of a kernel that its caller can compute; None for
    other results.
    """
    type = function.function_type
    unknown = [isinstance(t, TensorType) and not t.has_static_shape for t in type.results]
    if KERNEL not in function.attributes or not any(unknown) or len(function.body.blocks) != 1:
        return [None] * len(unknown)
    block = function.body.block
    shapes = SymbolicShapes(block, names_of(function.attributes.get(INPUT_DIMS)))
    sources = shapes.sources(block.args)
    last = block.last
    assert isinstance(last, func.Return)
    found: list[Extents | None] = []
    for value, wanted in zip(last.values, unknown, strict=True):
        shape = shapes.of(value) if wanted else ()
        # In order, so that the same code comes out each time.
        symbols = dict.fromkeys(s for d in shape if isinstance(d, Poly) for t in d.terms for s in t)
        places = {s: (sources[s][0].index, sources[s][1]) for s in symbols if s in sources}
        found.append(Extents(shape, places) if wanted and len(places) == len(symbols) else None)
    return found
