"""The signature of a compiled model's entry, as module attributes for its callers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..dialects import func
from ..dialects.marks import (
    ARENA,
    ARENA_BYTES,
    COMPLEX_OUTPUTS,
    ENTRY,
    HEAP_BYTES,
    INPUT_DIMS,
    INPUT_NAMES,
    INPUT_STARTS,
    INPUTS,
    LIVE_BYTES,
    OUTPUT_DIMS,
    OUTPUT_NAMES,
    OUTPUTS,
    POOL,
    PREPARED,
    PREPARED_BYTES,
    WEIGHTS,
    WEIGHTS_BYTES,
)
from ..ir.attributes import ArrayAttr, Attribute, I64Attr, StringAttr
from ..ir.core import Operation
from ..ir.diagnostics import PassError
from ..ir.types import MemRefType, TensorType, Type

SPECIAL = (ARENA, WEIGHTS, POOL)
"""The attributes that mark arguments which are neither inputs nor outputs, in the order in which
nnc_run takes them.
"""
HEADER = 64
"""Bytes before the prepared weights; they begin with the address of the stored weights."""


@dataclass(frozen=True)
class EntrySignature:
    """The inputs and outputs of an entry as the model has them, and the memory that a run needs."""

    inputs: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    arena: MemRefType | None
    weights: MemRefType | None
    prepared: MemRefType | None
    live_bytes: Attribute | None
    dims: dict[str, Attribute]
    """Attributes that not every entry has: names of unknown dimensions, initial values of inputs,
    and which outputs are complex.
    """

    def attributes(self, heap_bytes: int) -> dict[str, Attribute]:
        """The module attributes that the runtime reads. `heap_bytes` are the arena's bytes for a
        heap.
        """

        def strings(names: Sequence[str]) -> ArrayAttr:
            return ArrayAttr(tuple(map(StringAttr, names)))

        made: dict[str, Attribute] = {}
        if self.prepared is not None:
            made[PREPARED_BYTES] = I64Attr(HEADER + self.prepared.num_bytes)
        if heap_bytes:
            made[HEAP_BYTES] = I64Attr(heap_bytes)
        arena_bytes = self.arena.num_bytes if self.arena else 0
        return (
            {
                INPUTS: ArrayAttr(self.inputs),
                OUTPUTS: ArrayAttr(self.outputs),
                INPUT_NAMES: strings(self.input_names),
                OUTPUT_NAMES: strings(self.output_names),
                ARENA_BYTES: I64Attr(heap_bytes + arena_bytes),
                LIVE_BYTES: I64Attr(arena_bytes) if self.live_bytes is None else self.live_bytes,
                WEIGHTS_BYTES: I64Attr(self.weights.num_bytes if self.weights else 0),
            }
            | self.dims
            | made
        )


def signature_of(op: func.FuncOp) -> EntrySignature:
    """The signature of an entry function. Raises PassError if its attributes are inconsistent."""
    types = list(op.function_type.inputs)
    special: dict[str, Any] = dict.fromkeys((*SPECIAL, PREPARED))
    for i in reversed(range(len(types))):
        for name in special:
            if op.arg_attribute(i, name) is not None:
                special[name] = _of_default_space(types.pop(i), op)
                break
    if not all(isinstance(t, MemRefType) for t in (*types, *op.function_type.results)):
        raise PassError("arguments and results of an entry function must be memrefs", op.loc)
    inputs, outputs = _tensors(op, types)
    return EntrySignature(
        inputs,
        outputs,
        _names(op, INPUT_NAMES, len(inputs), "input"),
        _names(op, OUTPUT_NAMES, len(outputs), "output"),
        special[ARENA],
        special[WEIGHTS],
        special[PREPARED],
        op.attributes.get(LIVE_BYTES),
        _dims(op, inputs, outputs),
    )


def _of_default_space(type: Type, op: func.FuncOp) -> Type:
    """The type of memory that the entry's caller provides. Raises PassError for a memory space."""
    space = type.memory_space if isinstance(type, MemRefType) else None
    if space is not None:
        raise PassError(
            f"the entry needs memory of space {space}, which its caller has not", op.loc
        )
    return type


def _dims(
    op: func.FuncOp, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> dict[str, Attribute]:
    """The value of `EntrySignature.dims`. Initial values must have the inputs' types."""
    found: dict[str, Attribute] = {}
    for key, types in ((INPUT_DIMS, inputs), (OUTPUT_DIMS, outputs)):
        given = op.attributes.get(key)
        if isinstance(given, ArrayAttr) and [t.rank for t in types] == [
            len(dims) if isinstance(dims, ArrayAttr) else -1 for dims in given
        ]:
            found[key] = given
    starts = op.attributes.get(INPUT_STARTS)
    if isinstance(starts, ArrayAttr) and len(starts.elements) == len(inputs):
        found[INPUT_STARTS] = starts
    if (pairs := op.attributes.get(COMPLEX_OUTPUTS)) is not None:
        found[COMPLEX_OUTPUTS] = pairs
    return found


def _tensors(
    op: func.FuncOp, types: list[Type]
) -> tuple[tuple[TensorType, ...], tuple[TensorType, ...]]:
    """The types of inputs and outputs: from attributes, or divided by the number of input names."""
    given = [op.attributes.get(name) for name in (INPUTS, OUTPUTS)]
    if all(isinstance(a, ArrayAttr) for a in given):
        inputs, outputs = (tuple(a.elements) for a in given)  # type: ignore[union-attr]
    else:
        names = op.attributes.get(OUTPUT_NAMES)
        if not isinstance(names, ArrayAttr):
            raise PassError("an entry function needs 'nn.inputs' and 'nn.outputs'", op.loc)
        results = [_tensor(t) for t in op.function_type.results]
        static = len(names) - len(results)
        tensors = [_tensor(t) for t in types]
        split = len(tensors) - max(0, static)
        inputs, outputs = tuple(tensors[:split]), (*tensors[split:], *results)
    static_count = sum(t.has_static_shape for t in outputs)
    if len(inputs) + static_count != len(types):
        raise PassError(
            f"an entry function with {len(inputs)} inputs and {static_count} outputs of static "
            f"shape takes {len(inputs) + static_count} memrefs, not {len(types)}",
            op.loc,
        )
    return inputs, outputs


def _tensor(type: Type) -> TensorType:
    return TensorType(type.shape, type.element_type)  # type: ignore[attr-defined]


def _names(op: func.FuncOp, key: str, count: int, word: str) -> tuple[str, ...]:
    given = op.attributes.get(key)
    if isinstance(given, ArrayAttr) and len(given) == count:
        return tuple(a.value for a in given)  # type: ignore[attr-defined]
    return tuple(f"{word}{i}" for i in range(count))


def entry_of(module: Operation) -> func.FuncOp | None:
    """The entry function, or None. Raises PassError if there are several."""
    marked = [op for op in module.body_block if isinstance(op, func.FuncOp) and is_entry(op)]
    if len(marked) > 1:
        names = ", ".join(f"@{op.sym_name}" for op in marked)
        raise PassError(f"several functions are marked nn.entry: {names}", marked[1].loc)
    return marked[0] if marked else None


def is_entry(function: func.FuncOp) -> bool:
    """Whether a function is marked as the entry."""
    return ENTRY in function.attributes
