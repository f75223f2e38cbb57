"""The C entry of a compiled model, and what the runtime has to know of it.

    typedef struct { void *data; int64_t *shape; } nnc_tensor;
    int32_t nnc_run(const nnc_tensor *inputs, nnc_tensor *outputs,
                    void *arena, const void *weights, nnc_pool *pool);

Tensors are contiguous and row-major; `arguments.py` says what is checked of them, and which status
tells. An output of static shape is written in place; for one with an unknown extent `data` is set
to a buffer that the caller frees with free(), and its `shape` is filled in. Without a pool,
everything runs on the calling thread. The result is 0, or such a status, or
FIRST_FAILURE and more where a check of the program fails (`checks.py`): then outputs of static
shape hold anything, no other one is touched, and the caller has nothing to free.

    const char *nnc_failure(int32_t status);

says what such a result means, NULL for others. Only in programs that have checks.

    void nnc_release(void *arena);
    void nnc_reuse(void *arena, void *data, size_t bytes);

Only in programs that make buffers of unknown size, which keep memory in an arena from call to call:
its first HEAP_BYTES are zero before the first call with it, `nnc_release` frees what is kept, and
`nnc_reuse` hands over the memory of an output, of so many bytes, for the next call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...dialects import func, llvm
from ...dialects.marks import (
    ARENA,
    ARENA_BYTES,
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
from ...ir.attributes import ArrayAttr, Attribute, I64Attr, StringAttr
from ...ir.core import Value
from ...ir.diagnostics import PassError
from ...ir.types import MemRefType, TensorType, Type, i8, i32, i64
from ...runtime.abi import FIRST_FAILURE, RUN
from ...runtime.heap import BYTES
from .arguments import Arguments
from .calls import call_results
from .casts import resize_integer
from .failing import result_with_status
from .heap import begin, end

if TYPE_CHECKING:
    from .module import ModuleLowering

SPECIAL = (ARENA, WEIGHTS, POOL)
"""Marks of the arguments that are neither inputs nor outputs, in the order of nnc_run's."""
HEADER = 64
"""Bytes before the prepared weights; the first of them are the address of the stored ones."""


@dataclass(frozen=True)
class EntrySignature:
    """What an entry function takes and gives, in the model's terms."""

    inputs: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    arena: MemRefType | None
    weights: MemRefType | None
    prepared: MemRefType | None
    live_bytes: Attribute | None
    dims: dict[str, Attribute]
    """The names of unknown dimensions, and what inputs start as, if there are any."""

    def attributes(self, heap_bytes: int) -> dict[str, Attribute]:
        """The module attributes by which the runtime knows the entry, whose arena has a heap."""

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
    """The signature of an entry function. Raises PassError where its attributes do not fit."""
    types = list(op.function_type.inputs)
    special: dict[str, Any] = dict.fromkeys((*SPECIAL, PREPARED))
    for i in reversed(range(len(types))):
        for name in special:
            if op.arg_attribute(i, name) is not None:
                special[name] = types.pop(i)
                break
    if not all(isinstance(t, MemRefType) for t in (*types, *op.function_type.results)):
        raise PassError("an entry function takes and gives memrefs only", op.loc)
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


def _dims(
    op: func.FuncOp, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> dict[str, Attribute]:
    """The attributes that name dimensions and tell first values, where they fit the types."""
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
    return found


def _tensors(
    op: func.FuncOp, types: list[Type]
) -> tuple[tuple[TensorType, ...], tuple[TensorType, ...]]:
    """Inputs and outputs, from the attributes or, without them, from the names' number."""
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


class _Entry(Arguments):
    """Emits `nnc_run`."""

    def __init__(self, module: ModuleLowering, op: func.FuncOp) -> None:
        type = llvm.function_type((llvm.ptr,) * 5, i32)
        made = llvm.Func.define(RUN, type, loc=op.loc)
        super().__init__(module, made)
        self.op = op
        self.signature = signature_of(op)
        self.inputs, self.outputs, *rest = made.regions[0].blocks[0].args
        self.special: dict[str, Value] = dict(zip(SPECIAL, rest, strict=True))
        self.heap_bytes = BYTES if op.sym_name in module.heap.users else 0
        given, weights = self.signature, self.signature.weights
        needed = {ARENA: self.heap_bytes + (given.arena.num_bytes if given.arena else 0)}
        needed[WEIGHTS] = weights.num_bytes if weights else 0
        own = [self.special[name] for name, bytes in needed.items() if bytes]
        self.check_arguments(given.inputs, given.outputs, own)
        if self.heap_bytes:
            self.call_heap = self.special[ARENA]
            self.special[ARENA] = self._behind(self.call_heap, self.heap_bytes)
        if self.signature.prepared is not None:
            block = self.special[WEIGHTS]
            self.special[WEIGHTS] = self.load(block, llvm.ptr)
            self.special[PREPARED] = self._behind(block, HEADER)

    def emit_all(self) -> llvm.Func:
        """The whole function."""
        op, signature = self.op, self.signature
        static = [i for i, t in enumerate(signature.outputs) if t.has_static_shape]
        tensors = [(self.inputs, i) for i in range(len(signature.inputs))]
        tensors += [(self.outputs, i) for i in static]
        rest = iter(tensors)
        arguments: list[Value] = []
        for i, type in enumerate(op.function_type.inputs):
            special = [v for key, v in self.special.items() if op.arg_attribute(i, key) is not None]
            arguments += special or self.tensor_argument(*next(rest), type)
        result = result_with_status(self, op.sym_name, op.function_type.results)
        if self.call_heap is not None:
            begin(self, self.call_heap)
            arguments.append(self.call_heap)
        call = llvm.Call.of(op.sym_name, arguments, result)
        self.append(call)
        values = call_results(self, call)
        if self.call_heap is not None:
            end(self, self.call_heap)
        if self.module.checks.of(op.sym_name):
            self._return_failure(values.pop(0))
        dynamic = [i for i, t in enumerate(signature.outputs) if not t.has_static_shape]
        if dynamic:
            self._return_results(values, dynamic)
        self.append(llvm.Return(self.integer(0, i32)))
        self.place_constants()
        return self.func

    def _behind(self, block: Value, bytes: int) -> Value:
        return self.append(llvm.GetElementPtr.of(block, [bytes], i8, "inbounds")).results[0]

    def _return_failure(self, status: Value) -> None:
        """Return here if a check failed."""
        failed = self.branch(self.icmp("ne", status, self.integer(0, i32)))
        onward, self.block = self.block, failed
        number = llvm.Add(status, self.integer(FIRST_FAILURE - 1, i32))
        self.append(llvm.Return(self.append(number).results[0]))
        self.block = onward

    def _return_results(self, values: list[Value], numbers: list[int]) -> None:
        """Hand over buffers that the function made."""
        rest = iter(values)
        for type, number in zip(self.op.function_type.results, numbers, strict=True):
            memref = self.memref_from(type, list(islice(rest, len(self.types.flat(type)))))
            field = self.field(self.outputs, number, 0)
            self.emit(llvm.Store, [memref.pointer, field], None, self.alignment(llvm.ptr))
            shape = self.load(self.field(self.outputs, number, 1), llvm.ptr)
            for i, size in enumerate(memref.sizes):
                extent = resize_integer(self, self.size_value(size), i64, signed=True)
                self.emit(llvm.Store, [extent, self.extent(shape, i)], None, self.alignment(i64))


def make_entry(module: ModuleLowering, op: func.FuncOp) -> tuple[llvm.Func, dict[str, Attribute]]:
    """`nnc_run` for an entry function, and the module attributes that describe it."""
    entry = _Entry(module, op)
    return entry.emit_all(), entry.signature.attributes(entry.heap_bytes)
