"""What layouts need not know of, as what they do: rows as transfers, parallel loops as loops."""

from __future__ import annotations

from ....dialects import gpu, scf, ub, vector
from ....ir.builder import Builder
from ....ir.core import IRMapping, Operation


def make_plain(kernel: gpu.GPUFuncOp) -> None:
    """Rewrite loads and stores of rows, and parallel loops that one group runs."""
    for op in list(kernel.walk()):
        match op:
            case vector.Load():
                at = Builder.before_op(op)
                padding = at.insert(ub.Poison(out=op.base.type.element_type)).results[0]  # type: ignore[attr-defined]
                read = vector.TransferRead.of(op.base, op.indices, padding, op.result.type)  # type: ignore[arg-type]
                _replace(op, read)
            case vector.Store():
                _replace(op, vector.TransferWrite.of(op.valueToStore, op.base, op.indices))
    loops = [o for o in kernel.walk() if isinstance(o, scf.Parallel) and not o.results]
    for op in reversed(loops):  # Inner ones first: outer ones are copied with them.
        _as_loops(op)


def _replace(op: Operation, new: Operation) -> None:
    Builder.before_op(op).insert(new).loc = op.loc
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()


def _as_loops(loop: scf.Parallel) -> None:
    """A parallel loop as loops in one another."""
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
