"""The C function that makes weights when a model is loaded, one in each call.

    int64_t nnc_prepare(const void *weights, void *prepared, void *arena, nnc_pool *pool,
                        int32_t step);

Steps 0, 1, .. each make one weight. The result is the number of bytes at the start of `weights`
that no later step reads, so that only running the model needs them; -1 if there is no such step.
After the last step, `prepared` is what `nnc_run` takes as its weights; it begins with the address
of the other weights.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import func, llvm
from ...dialects.marks import ARENA, OFFSET, POOL, PREPARE_ARENA_BYTES, USED_WEIGHTS, WEIGHTS
from ...ir.attributes import Attribute, I64Attr
from ...ir.builder import Builder
from ...ir.core import Block, Value
from ...ir.types import i8, i32, i64
from ...runtime.abi import PREPARE
from ..entry_signature import HEADER


def make_prepare(makers: Sequence[func.FuncOp]) -> tuple[llvm.Func, dict[str, Attribute]]:
    """`nnc_prepare` for the functions that make weights, and what memory it needs."""
    made = llvm.Func.define(PREPARE, llvm.function_type((llvm.ptr,) * 4 + (i32,), i64))
    region = made.regions[0]
    weights, block, arena, pool, step = region.blocks[0].args
    b = Builder.at_end(region.blocks[0])
    b.insert(llvm.Store(weights, block))
    special = {WEIGHTS: weights, ARENA: arena, POOL: pool}
    cases: list[tuple[int, Block, tuple[()]]] = []
    arena_bytes = 0
    for number, op in enumerate(makers):
        case = _returning(op.attributes[USED_WEIGHTS])
        at = HEADER + op.arg_attribute(0, OFFSET).value  # type: ignore[union-attr]
        address = llvm.GetElementPtr.of(block, [at], i8, "inbounds")
        arguments: list[Value] = [address.results[0]]
        for i, type in list(enumerate(op.function_type.inputs))[1:]:
            mark = next(key for key in special if op.arg_attribute(i, key) is not None)
            arguments.append(special[mark])
            if mark == ARENA:
                arena_bytes = max(arena_bytes, type.num_bytes)
        case.prepend(llvm.Call.of(op.sym_name, arguments))
        case.prepend(address)
        cases.append((number, case, ()))
    last = _returning(I64Attr(-1))
    b.insert(llvm.Switch.of(step, (last, ()), cases))
    for _, case, _ in cases:
        region.append(case)
    region.append(last)
    return made, {PREPARE_ARENA_BYTES: I64Attr(arena_bytes)}


def _returning(value: Attribute) -> Block:
    """A block that returns a number."""
    block = Block()
    b = Builder.at_end(block)
    b.insert(llvm.Return(b.insert(llvm.Constant(value, res=i64)).result))
    return block
