"""Rewrites operations without layout rules: loads as transfers, parallel loops as nested loops."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import arith, gpu, memref, scf, ub, vector
from ....dialects.arith import Constant
from ....ir.builder import Builder
from ....ir.core import IRMapping, Operation, Value
from ....ir.types import MemRefType, VectorType, row_major_strides


def make_plain(kernel: gpu.GPUFuncOp) -> None:
    """Rewrite a kernel's row loads and stores, shape casts, and parallel loops without results."""
    for op in list(kernel.walk()):
        match op:
            case vector.Load():
                _replace(op, _read(op))
            case vector.MaskedLoad():
                row = Builder.before_op(op).insert(_read(op, op.mask)).results[0]
                _replace(op, arith.Select(op.mask, row, op.pass_thru))
            case vector.Store():
                _replace(op, vector.TransferWrite.of(op.valueToStore, op.base, op.indices))
            case vector.MaskedStore():
                write = vector.TransferWrite.of(op.valueToStore, op.base, op.indices, mask=op.mask)
                _replace(op, write)
            case vector.ShapeCast() if not _keeps_dimensions(op):
                at = Builder.before_op(op)
                op.replace_with(through_memory(kernel, at, op.source, op.result.type.shape))
    loops = [o for o in kernel.walk() if isinstance(o, scf.Parallel) and not o.results]
    for op in reversed(loops):  # Inner ones first: outer ones are copied with them.
        _as_loops(op)


def _read(op: vector.Load | vector.MaskedLoad, mask: Value | None = None) -> Operation:
    element = op.result.type.element_type  # type: ignore[attr-defined]
    padding = Builder.before_op(op).insert(ub.Poison(out=element)).results[0]
    return vector.TransferRead.of(op.base, op.indices, padding, op.result.type, mask=mask)  # type: ignore[arg-type]


def through_memory(
    kernel: gpu.GPUFuncOp, at: Builder, value: Value, shape: Sequence[int], padding: int = 0
) -> Value:
    """A vector in another layout or shape: written to a workgroup buffer and read back.

    Rows of the buffer are `padding` elements longer.
    """
    element = value.type.element_type  # type: ignore[attr-defined]
    *outer, last = value.type.shape  # type: ignore[attr-defined]
    entry = Builder.before_op(kernel.body.blocks[0].first)  # type: ignore[arg-type]
    memory = MemRefType((*outer, last + padding), element)
    buffer = entry.insert(memref.Alloca([], [], memref=memory)).results[0]
    zero = at.insert(Constant.index(0)).result
    at.insert(vector.TransferWrite.of(value, buffer, [zero] * memory.rank))
    if tuple(shape) != (*outer, last):
        strides = row_major_strides(shape)
        buffer = at.insert(memref.ReinterpretCast.of(buffer, 0, shape, strides)).results[0]
    beyond = at.insert(Constant.of(0, element)).result
    type = VectorType(tuple(shape), element)
    return at.insert(vector.TransferRead.of(buffer, [zero] * len(shape), beyond, type)).results[0]


def _keeps_dimensions(op: vector.ShapeCast) -> bool:
    """Whether a cast only adds or drops dimensions of extent 1."""
    source, result = (
        [extent for extent in type.shape if extent > 1] for type in (op.source.type, op.result.type)
    )
    return source == result or not (op.source.type.rank and op.result.type.rank)


def _replace(op: Operation, new: Operation) -> None:
    Builder.before_op(op).insert(new).loc = op.loc
    op.replace_with(*new.results)


def _as_loops(loop: scf.Parallel) -> None:
    """Replace a parallel loop by nested loops."""
    rank = len(loop.body_block.args)
    at = Builder.before_op(loop)
    mapping = IRMapping()
    for d, arg in enumerate(loop.body_block.args):
        lower, upper, step = (loop.operands[d + i * rank] for i in range(3))
        inner = at.insert(scf.For.of(lower, upper, step, loc=loop.loc))
        mapping[arg] = inner.induction_var
        inner.induction_var.name_hint = arg.name_hint
        inner.body_block.append(scf.Yield(loc=loop.loc))
        last = inner.body_block.last
        assert last is not None
        at = Builder.before_op(last)
    for op in loop.body_block:
        if not isinstance(op, scf.Reduce):
            at.insert(op.clone(mapping))
    loop.erase()
