"""Code for failing checks: it frees the function's buffers and returns the check's number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...dialects import func, llvm, memref, scf
from ...ir.builder import Builder
from ...ir.core import Block, Operation, Value
from ...ir.types import Type, i32
from .conversion import FunctionLowering

LIKELY = (1 << 20, 1)
"""Branch weights for a check that hardly ever fails."""


def result_with_status(f: FunctionLowering, name: str, types: Sequence[Type]) -> Type | None:
    """The LLVM result type of a function: `types`, after a status if a check in it can fail."""
    return f.types.function_results([i32, *types] if f.module.checks.of(name) else types)


def require(f: FunctionLowering, ok: Value, op: Operation) -> None:
    """Emit a check: if the condition is false, `op` fails, which ends the function."""
    before = f.module.checks.before(op)
    if before is None:
        _branch(f, ok, _ending(f))
    else:
        failed = Block()
        _branch(f, ok, failed)
        number = f.integer(before + 1, i32)
        failed.append(llvm.Br([number], dest=_cleanup(f, tuple(f.heap))))


def require_success(f: FunctionLowering, status: Value, op: Operation) -> None:
    """Emit a check of a call's status: if it is not 0, this function fails too."""
    before = f.module.checks.before(op)
    ok = f.append(llvm.ICmp("eq", status, f.integer(0, i32))).results[0]
    if before is None:
        _branch(f, ok, _ending(f))
        return
    failed = Block()
    _branch(f, ok, failed)
    number = status
    if before:
        number = Builder.at_end(failed, f.loc).insert(llvm.Add(status, f.integer(before, i32))).res
    failed.append(llvm.Br([number], dest=_cleanup(f, tuple(f.heap))))


def _branch(f: FunctionLowering, ok: Value, failed: Block) -> None:
    """Branch to `failed` unless `ok`, where emission goes on in a new block."""
    onward = Block()
    branch = llvm.CondBr.of(ok, onward, [], failed, [])
    branch.branch_weights = LIKELY
    f.append(branch)
    if failed.parent is None:
        f.func.regions[0].append(failed)
    f.func.regions[0].append(onward)
    f.block = onward


def _ending(f: FunctionLowering) -> Block:
    """A block that ends the process, as upstream does: no caller takes a status."""
    failed = Block()
    f.module.need_function("abort", [])
    failed.append(llvm.Call.of("abort", []))
    failed.append(llvm.Unreachable())
    return failed


def _cleanup(f: FunctionLowering, heap: tuple[Value, ...]) -> Block:
    """The block that frees these buffers, the last one first, and returns its
    argument as status.
    """
    known = f.cleanups.get(heap)
    if known is not None:
        return known
    block = f.cleanups[heap] = f.new_block([i32])
    b, number = Builder.at_end(block, f.loc), block.args[0]
    output = f.func.function_type.output
    if heap:
        f.module.need_function("free", [llvm.ptr])
        b.insert(llvm.Call.of("free", [heap[-1]]))
        b.insert(llvm.Br([number], dest=_cleanup(f, heap[:-1])))
    elif isinstance(output, llvm.StructType):
        struct = llvm.InsertValue(f.poison(output), number, (0,))
        b.insert(llvm.Return(b.insert(struct).res))
    else:
        b.insert(llvm.Return(number))
    return block


# -- buffers on the heap ---------------------------------------------------------------------------


def is_freed_here(buffer: Value) -> bool:
    """Whether the block that makes a buffer also frees it or returns it.

    It may instead make it the result of an `scf.if` or `scf.while` of which the same is true.
    """
    block = buffer.parent_block
    assert block is not None
    freeing = [user for user in buffer.users if isinstance(user, memref.Dealloc | memref.Realloc)]
    if freeing:
        return len(freeing) == 1 and freeing[0].parent is block
    last = block.last
    returned = last.operands if isinstance(last, func.Return) else ()
    if any(memref.base_buffer(value) is buffer for value in returned):
        return True
    return any(is_freed_here(result) for result in _becomes(buffer, block))


def _becomes(buffer: Value, block: Block) -> Iterator[Value]:
    """The results of `scf.if` and `scf.while` as which the buffer may come out of them."""
    for loop in block:
        if isinstance(loop, scf.While):
            for i, value in enumerate(loop.inits):
                if memref.base_buffer(value) is buffer:
                    yield from _results_of(loop, i)
    last, parent = block.last, block.parent_op
    for i, value in enumerate(last.operands if last is not None else ()):
        if memref.base_buffer(value) is not buffer:
            continue
        match last, parent:
            case scf.Yield(), scf.If():
                yield parent.results[i]
            case scf.Yield(), scf.While():
                yield from _results_of(parent, i)
            case scf.Condition(), scf.While():
                yield parent.results[i - 1]


def _results_of(loop: scf.While, i: int) -> Iterator[Value]:
    """The results as which the carried value with index `i` leaves a loop."""
    carried, condition = loop.before.block.args[i], loop.before.block.last
    assert isinstance(condition, scf.Condition)
    for result, value in zip(loop.results, condition.args, strict=True):
        if memref.base_buffer(value) is carried:
            yield result


def owned_by(loop: scf.While) -> tuple[list[bool], list[bool]]:
    """For each carried value and each result of a loop, whether `is_freed_here` is true of it."""
    results = [memref.is_buffer(v) and is_freed_here(v) for v in loop.results]
    owned = {v for v, own in zip(loop.results, results, strict=True) if own}
    carried = [
        memref.is_buffer(v) and any(r in owned for r in _results_of(loop, i))
        for i, v in enumerate(loop.inits)
    ]
    return carried, results


def pointers(f: FunctionLowering, values: Sequence[Value], owned: Sequence[bool]) -> list[Value]:
    """The addresses of the values that are owned; none if buffers are on the call's heap."""
    if f.call_heap is not None:
        return []
    return [f.memref(v).pointer for v, own in zip(values, owned, strict=True) if own]


def owned_results(op: Operation) -> list[bool]:
    """For each result of an operation, whether it is a buffer that `is_freed_here`."""
    return [memref.is_buffer(v) and is_freed_here(v) for v in op.results]


def made_on_heap(f: FunctionLowering, buffer: Value, pointer: Value) -> None:
    """Note a buffer of C's heap, which must be freed if a later check fails."""
    given_away = buffer.defining_op in f.module.heap.given_away
    if given_away or (f.call_heap is None and is_freed_here(buffer)):
        f.heap.append(pointer)


def freed(f: FunctionLowering, pointer: Value) -> None:
    """Note that a buffer was freed."""
    if pointer in f.heap:
        f.heap.remove(pointer)
