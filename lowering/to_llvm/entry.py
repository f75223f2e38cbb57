"""The C entry of a compiled model, and its description for the runtime.

    typedef struct { void *data; int64_t *shape; } nnc_tensor;
    int32_t nnc_run(const nnc_tensor *inputs, nnc_tensor *outputs,
                    void *arena, const void *weights, nnc_pool *pool);

Tensors are contiguous and row-major; `arguments.py` says how they are checked, and which status a
failed check gives. An output of static shape is written to the caller's `data`. For an output with
an unknown extent, `data` is set to a new buffer, which the caller frees with free(), and `shape` is
filled in. Without a pool, everything runs on the calling thread. The result is 0, the status of a
failed check of the arguments, or FIRST_FAILURE plus the number of a failed check of the program
(`checks.py`). After a failure the contents of outputs of static shape are unspecified, other
outputs are not touched, and the caller has nothing to free.

    const char *nnc_failure(int32_t status);

returns the text of a failed check, NULL for other results. Only programs with checks have it.

    void nnc_release(void *arena);
    void nnc_reuse(void *arena, void *data, size_t bytes);

Only programs that make buffers of unknown size have these. They keep memory in an arena from call
to call: its first HEAP_BYTES must be zero before the first call with it, `nnc_release` frees what
is kept, and `nnc_reuse` gives an output's memory, of so many bytes, to the next call.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from ...dialects import func, llvm
from ...dialects.marks import ARENA, PREPARED, WEIGHTS
from ...ir.attributes import Attribute
from ...ir.core import Value
from ...ir.types import i8, i32, i64
from ...runtime.abi import FIRST_FAILURE, RUN
from ...runtime.heap import BYTES
from ..entry_signature import HEADER, SPECIAL, signature_of
from .arguments import Arguments
from .calls import call_results
from .casts import resize_integer
from .failing import result_with_status
from .heap import begin, end


class _Entry(Arguments):
    """Emits `nnc_run`."""

    def __init__(self, module: Any, op: func.FuncOp) -> None:
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
        pointers = [self.special[name] for name, bytes in needed.items() if bytes]
        self.check_arguments(given.inputs, given.outputs, pointers)
        if self.heap_bytes:
            self.call_heap = self.special[ARENA]
            self.special[ARENA] = self._behind(self.call_heap, self.heap_bytes)
        if self.signature.prepared is not None:
            block = self.special[WEIGHTS]
            self.special[WEIGHTS] = self.load(block, llvm.ptr)
            self.special[PREPARED] = self._behind(block, HEADER)

    def emit_all(self) -> llvm.Func:
        """Emit the whole function."""
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
        """Emit code that returns FIRST_FAILURE + status - 1 if `status` is not 0."""
        failed = self.branch(self.icmp("ne", status, self.integer(0, i32)))
        onward, self.block = self.block, failed
        number = llvm.Add(status, self.integer(FIRST_FAILURE - 1, i32))
        self.append(llvm.Return(self.append(number).results[0]))
        self.block = onward

    def _return_results(self, values: list[Value], numbers: list[int]) -> None:
        """Store the pointers and extents of the outputs that the function has allocated.

        `numbers` are the indices of these outputs among all.
        """
        rest = iter(values)
        for type, number in zip(self.op.function_type.results, numbers, strict=True):
            memref = self.memref_from(type, list(islice(rest, len(self.types.flat(type)))))
            field = self.field(self.outputs, number, 0)
            self.emit(llvm.Store, [memref.pointer, field], None, self.alignment(llvm.ptr))
            shape = self.load(self.field(self.outputs, number, 1), llvm.ptr)
            for i, size in enumerate(memref.sizes):
                extent = resize_integer(self, self.size_value(size), i64, signed=True)
                self.emit(llvm.Store, [extent, self.extent(shape, i)], None, self.alignment(i64))


def make_entry(module: Any, op: func.FuncOp) -> tuple[llvm.Func, dict[str, Attribute]]:
    """`nnc_run` for an entry function, and the module attributes that describe it."""
    entry = _Entry(module, op)
    return entry.emit_all(), entry.signature.attributes(entry.heap_bytes)
