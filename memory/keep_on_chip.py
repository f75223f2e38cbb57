"""Buffers become arrays of their functions, because hardware has no memory allocator."""

from __future__ import annotations

from dataclasses import dataclass

from ..dialects import func, memref
from ..dialects.marks import ENTRY
from ..ir.core import Operation
from ..ir.diagnostics import PassError
from ..ir.passes import Pass, PassContext
from ..ir.types import FloatType, MemRefType, Type


@dataclass(frozen=True)
class KeepOnChip(
    Pass,
    name="keep-on-chip",
    anchor="builtin.module",
    statistics={"buffers": "Number of buffers that became arrays"},
):
    """Turn all buffers into arrays of constant size in their functions.

    Hardware has the memory that it is built with. So a buffer or an input of unknown shape is an
    error, and so are elements of f64, for which there is no multiplier.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        for function in op.body_block:
            if isinstance(function, func.FuncOp) and ENTRY in function.attributes:
                for type in (*function.function_type.inputs, *function.function_type.results):
                    _check(type, function)
        for one in list(op.walk()):
            match one:
                case memref.Alloc():
                    _check(one.results[0].type, one)
                    made = memref.Alloca([], [], memref=one.results[0].type)
                    made.loc = one.loc
                    one.parent.insert_before(made, one)  # type: ignore[union-attr]
                    one.replace_with(*made.results)
                    context.statistic("buffers")
                case memref.Dealloc():
                    one.erase()


def _check(type: Type, op: Operation) -> None:
    """Raise PassError for a buffer that hardware of fixed size cannot hold."""
    if not isinstance(type, MemRefType):
        return
    if not type.has_static_shape:
        raise PassError(
            f"{type} has a dynamic shape, but hardware needs static ones: fix the inputs' shapes "
            "(--shape), or use another target if the shape depends on values",
            op.loc,
        )
    if isinstance(type.element_type, FloatType) and type.element_type.kind == "f64":
        raise PassError("f64 is not supported in hardware; convert the model to f32", op.loc)
