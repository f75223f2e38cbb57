"""Which buffers of unknown size are on the heap of an arena, and which on C's heap.

A buffer that lives only during a call of the entry comes from a heap at the start of the arena
(`runtime/heap.mlir`), whose memory the next call with this arena uses again. The functions that
allocate or free there take its address as their last argument.

    nnc_run:  nnc_heap_start(%arena)
              main(.., %arena + HEAP_BYTES, .., %arena)
                  nnc_heap_take(%arena, bytes), nnc_heap_give(%arena, block), nnc_heap_result(..)
              nnc_heap_end(%arena)

On C's heap are the outputs, which the caller of the entry frees or gives back for the next call,
and the buffers of functions that several threads may run at once or that run outside of any call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...dialects import arith, func, llvm, memref
from ...dialects.marks import ENTRY, MAKER, PARALLEL
from ...ir.builder import Builder
from ...ir.core import Operation, Value
from ...ir.traits import Terminator
from ...ir.types import MemRefType, Type
from ...runtime.abi import ALIGNMENT
from ...runtime.heap import heap_functions
from .conversion import FunctionLowering

TAKE, GIVE, RESULT = "nnc_heap_take", "nnc_heap_give", "nnc_heap_result"
_MAKING = (memref.Alloc, memref.Realloc)
_OWNING = (*_MAKING, memref.Dealloc)


class CallHeap:
    """Which functions of a module use the heap of a call: `users`.

    `given_away` are the allocations in them that do not use it, because the entry returns them.
    """

    def __init__(self, module: Operation) -> None:
        self.users: frozenset[str] = frozenset()
        self.given_away: frozenset[Operation] = frozenset()
        functions = func.functions_by_name(module)
        entries = [op for op in functions.values() if ENTRY in op.attributes]
        if len(entries) != 1 or entries[0].is_declaration:
            return
        (entry,) = entries
        apart = _reached(_roots_apart(module, entry), functions, parallel=True)
        inside = _reached([entry.sym_name], functions, parallel=False)
        if any(_moves_buffers(functions[name]) for name in apart & inside):
            return
        only_inside = [functions[name] for name in inside - apart]
        if entry.sym_name in apart or not all(map(_knows_its_buffers, only_inside)):
            return
        self.given_away = frozenset(_give_away(entry))
        self.users = self._users(only_inside)

    def _users(self, functions: list[func.FuncOp]) -> frozenset[str]:
        """The functions that allocate or free buffers, and their callers."""
        callers: dict[str, set[str]] = {}
        found: set[str] = set()
        waiting: list[str] = []
        for function in functions:
            for op in function.walk():
                if isinstance(op, func.Call):
                    callers.setdefault(op.callee, set()).add(function.sym_name)
                elif isinstance(op, _OWNING):
                    waiting.append(function.sym_name)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += callers.get(name, ())
        return frozenset(found)


def _roots_apart(module: Operation, entry: func.FuncOp) -> Iterator[str]:
    """The functions that run in several threads at once, or outside of a call of the entry."""
    for op in module.walk():
        match op:
            case func.Call() if PARALLEL in op.attributes:
                yield op.callee
            case func.Constant():
                yield op.value
            case func.FuncOp() if op is not entry:
                if op.sym_visibility not in ("private", "nested") or MAKER in op.attributes:
                    yield op.sym_name


def _reached(
    roots: Iterable[str], functions: dict[str, func.FuncOp], parallel: bool
) -> frozenset[str]:
    """The roots and all functions that they call, directly or not; with `parallel`
    calls if asked.
    """
    found: set[str] = set()
    waiting = [name for name in roots if name in functions]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        calls = (op for op in functions[name].walk() if isinstance(op, func.Call))
        waiting += [
            op.callee
            for op in calls
            if op.callee in functions and (parallel or PARALLEL not in op.attributes)
        ]
    return frozenset(found)


def _moves_buffers(function: func.FuncOp) -> bool:
    """Whether a function may return a buffer to its caller, or free a buffer of its caller."""
    if function.is_declaration:
        return any(map(_is_memref, function.function_type.results))
    return any(map(_is_memref, function.function_type.results)) or any(
        isinstance(op, memref.Dealloc | memref.Realloc)
        and memref.base_buffer(op.operands[0]) in function.args
        for op in function.walk()
    )


def _knows_its_buffers(function: func.FuncOp) -> bool:
    """Whether all buffers of a function come from known code, and have the usual alignment."""
    for op in function.walk():
        match op:
            case memref.Alloc() | memref.Realloc():
                if (op.alignment or 0) > ALIGNMENT:
                    return False
            case func.CallIndirect():
                if any(_is_memref(type) for type in op.result_types):
                    return False
    return not function.is_declaration or not _moves_buffers(function)


def _is_memref(type: Type) -> bool:
    return isinstance(type, MemRefType)


def _give_away(entry: func.FuncOp) -> Iterator[Operation]:
    """The allocations that an entry returns. What it returns otherwise is copied into a new one."""
    found: set[Operation] = set()
    for last in [op for op in entry.walk() if isinstance(op, func.Return)]:
        for i, value in enumerate(last.operands):
            if not isinstance(value.type, MemRefType):
                continue
            made = memref.base_buffer(value).defined_by(memref.Alloc)
            if made is None or made in found or not _is_only_returned(made.memref):
                made = _copy_before(last, i)
            found.add(made)
            yield made


def _is_only_returned(buffer: Value) -> bool:
    """Whether a buffer is only returned, and not freed or passed to a branch, loop or function."""
    for user in buffer.users:
        viewed = user.results if user.has_trait(memref.ViewLike) else ()
        if isinstance(user, memref.Dealloc | memref.Realloc) or user.regions:
            return False
        if user.has_trait(Terminator) and not isinstance(user, func.Return):
            return False
        if not viewed and any(_is_memref(result.type) for result in user.results):
            return False
        if not all(_is_only_returned(view) for view in viewed):
            return False
    return True


def _copy_before(last: func.Return, i: int) -> memref.Alloc:
    """Let a return give a copy of its operand `i`; gives the copy's allocation."""
    value = last.operands[i]
    type = value.type
    assert isinstance(type, MemRefType)
    builder = Builder.before_op(last)
    extents = [
        builder.insert(memref.Dim(value, builder.insert(arith.Constant.index(axis)).result)).result
        for axis, extent in enumerate(type.shape)
        if extent is None
    ]
    source = memref.base_buffer(value).defining_op
    loc = last.loc if source is None else source.loc
    made = builder.insert(memref.Alloc(extents, memref=type, loc=loc))
    builder.insert(memref.Copy(value, made.memref))
    last.operands = [*last.operands[:i], made.memref, *last.operands[i + 1 :]]
    return made


# -- code ------------------------------------------------------------------------------------------


def take(f: FunctionLowering, bytes: Value, is_result: bool) -> Value:
    """Allocate a block on the call's heap, or on C's heap if it is a result of the entry."""
    assert f.call_heap is not None
    _need_heap(f)
    name = RESULT if is_result else TAKE
    return f.append(llvm.Call.of(name, [f.call_heap, bytes], llvm.ptr)).results[0]


def give(f: FunctionLowering, pointer: Value) -> None:
    """Free a block of the call's heap, or of C's heap if the function does not use the call's."""
    if f.call_heap is not None:
        _need_heap(f)
        f.append(llvm.Call.of(GIVE, [f.call_heap, pointer]))
    else:
        f.module.need_function("free", [llvm.ptr])
        f.append(llvm.Call.of("free", [pointer]))


def begin(f: FunctionLowering, heap: Value) -> None:
    """Start the heap of a call."""
    _need_heap(f)
    f.append(llvm.Call.of("nnc_heap_start", [heap]))


def end(f: FunctionLowering, heap: Value) -> None:
    """End the heap of a call; all blocks that are left are freed."""
    f.append(llvm.Call.of("nnc_heap_end", [heap]))


def _need_heap(f: FunctionLowering) -> None:
    """Put the heap's functions into the module, once."""
    needed = f.module.needed
    if TAKE not in needed:
        target = f.module.target
        for function in heap_functions(target.pointer_bits, target.system):
            needed.setdefault(function.sym_name, function)
