"""Canonicalization of memref: unused buffers, casts that users do not need, constant offsets."""

from __future__ import annotations

from ...dialects import memref, vector
from ...dialects.slicing import bounds_fault
from ...ir.core import Operation, Value
from ...ir.rewriting import Rewriter, constant_int, rewrite
from ...ir.types import MemRefType


@rewrite(memref.Alloc, memref.Alloca)
def remove_unused_buffer(op: memref.Alloc | memref.Alloca, rewriter: Rewriter) -> None:
    """alloc that is only freed -> nothing"""
    users = op.memref.users
    if all(isinstance(user, memref.Dealloc) for user in users):
        for user in users:
            rewriter.erase(user)
        rewriter.erase(op)


@rewrite(memref.Copy)
def remove_copy_to_itself(op: memref.Copy, rewriter: Rewriter) -> None:
    """copy %a, %a -> nothing"""
    if op.source is op.target:
        rewriter.erase(op)


@rewrite(
    *(memref.Load, memref.Store, memref.Dim, memref.Dealloc, memref.Copy, memref.Rank),
    *(vector.Load, vector.Store, vector.TransferRead, vector.TransferWrite),
)
def look_through_cast(op: Operation, rewriter: Rewriter) -> None:
    """use(memref.cast %a), where the cast makes the type less precise -> use(%a)"""
    for i, value in enumerate(op.operands):
        cast = value.defined_by(memref.Cast)
        is_stored = isinstance(op, memref.Store) and i == 0
        if cast is not None and forgets(cast) and not is_stored:
            rewriter.set_operand(op, i, cast.source)


def forgets(cast: memref.Cast) -> bool:
    """Whether the cast adds no information: the operand's type is static wherever the result's
    is.
    """
    source, target = cast.source.type, cast.dest.type
    if not (isinstance(source, MemRefType) and isinstance(target, MemRefType)):
        return False
    before, after = source.strides_and_offset(), target.strides_and_offset()
    if before is None or after is None:
        return False
    pairs = [
        *zip(source.shape, target.shape, strict=True),
        *zip(before[0], after[0], strict=True),
        (before[1], after[1]),
    ]
    return all(new is None or old == new for old, new in pairs)


@rewrite(memref.SubView)
def make_subview_static(op: memref.SubView, rewriter: Rewriter) -> None:
    """subview %m[%c4] .. with constant operands -> subview %m[4] .., cast to the old type

    A subview that exceeds its buffer stays as it is: it is an error only if it is executed.
    """
    lists = [op.mixed_offsets, op.mixed_sizes, op.mixed_strides]
    known = [[_known(entry) for entry in part] for part in lists]
    if known == lists or op.result.type.rank != op.source.type.rank:
        return
    offsets, sizes, strides = (
        [entry if isinstance(entry, int) else None for entry in part] for part in known
    )
    if bounds_fault(op.source.type.shape, offsets, sizes, strides):
        return
    made = rewriter.insert(memref.SubView.of(op.source, known[0], known[1], known[2]))
    if made.result.type is op.result.type:
        rewriter.replace(op, made.result)
    else:
        rewriter.replace(op, memref.Cast(made.result, dest=op.result.type))


def _known(entry: int | Value) -> int | Value:
    if isinstance(entry, int):
        return entry
    constant = constant_int(entry)
    return entry if constant is None or constant < 0 else constant


@rewrite(memref.Alloc)
def make_allocation_static(op: memref.Alloc, rewriter: Rewriter) -> None:
    """alloc(%c4) : memref<?xf32> -> alloc() : memref<4xf32>, cast to the old type"""
    type = op.memref.type
    sizes = [constant_int(v) for v in op.dynamicSizes]
    if type.layout is not None or all(n is None or n < 0 for n in sizes):
        return
    known = iter(sizes)
    shape = tuple(next(known) if d is None else d for d in type.shape)
    kept = [v for v, n in zip(op.dynamicSizes, sizes, strict=True) if n is None]
    new_type = MemRefType(shape, type.element_type, None, type.memory_space)
    made = rewriter.insert(memref.Alloc(kept, alignment=op.alignment, memref=new_type))
    rewriter.replace(op, memref.Cast(made.memref, dest=type))


PATTERNS = [
    remove_unused_buffer,
    remove_copy_to_itself,
    look_through_cast,
    make_subview_static,
    make_allocation_static,
]
