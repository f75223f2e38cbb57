"""--flatten-addresses: subscripts become a base, computed in outer loops, plus a constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....dialects import gpu, memref, vector
from ....ir.core import Block, Operation, Value
from ....ir.passes import Pass, PassContext
from ....ir.types import MemRefType
from .linear import Forms
from .walk import Walk, erase_unused


@dataclass(frozen=True)
class FlattenAddresses(
    Pass,
    name="flatten-addresses",
    anchor="builtin.module",
    statistics={"accesses": "Number of accesses that were given a flat address"},
):
    """Read and write buffers as one dimension, at a base plus a constant.

        %x = vector.load %A[%i, %k]     (8 x 32)        %b = %i * 32  (outside the loop of k)
        %y = vector.load %A[%i + 1, %k]            ->   %c = %b + %k
                                                        %x = vector.load %flat[%c]
                                                        %y = vector.load %flat[%c + 32]

    Each part of the base is computed in the outermost loop where its operands are defined. Views
    and index arithmetic without uses are erased.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        for function in gpu.functions_with_code(op):
            context.statistic("accesses", flatten(function))


def flatten(function: gpu.FunctionWithCode) -> int:
    """Give the accesses of a function flat addresses; gives their number."""
    return _Flattening(function).run()


class _Flattening:
    """One function whose accesses become flat, block by block."""

    def __init__(self, function: gpu.FunctionWithCode) -> None:
        self.function = function
        self.code = Walk(function.body.blocks[0], Forms())
        self.count = 0
        self.old: dict[Value, None] = {}
        """Subscripts and views that accesses no longer need."""

    def run(self) -> int:
        for block in self.function.body.blocks:
            self.block(block)
        erase_unused(self.old)
        return self.count

    def block(self, block: Block) -> None:
        scope = self.code.enter(block)
        for op in block:
            scope.anchor = op
            self.code.loc = op.loc
            number = _BUFFERS.get(type(op))
            if number is not None:
                self.access(op, number)
            for region in op.regions:
                for inner in region.blocks:
                    self.block(inner)
        self.code.leave()

    def access(self, op: Operation, number: int) -> None:
        """Make one access flat; operand `number` of `op` is its memref."""
        source = op._operands[number]
        type: MemRefType = source.type
        forms = self.code.forms
        view = forms.view(source)
        if view is None or type.rank == 0 or self._is_flat(op, source, view.root):
            return
        end = number + 1 + type.rank
        last = view.strides[-1]
        if isinstance(op, vector.Gather | vector.Scatter) and last != 1:
            return
        indices: Sequence[Value] = op._operands[number + 1 : end]
        at = self.code.as_value(self.code.at(*forms.flat(view, indices)))
        flat = self.code.flat(view.root)
        for value in (source, *indices):
            self.old[value] = None
        op.operands = [*op._operands[:number], flat, at, *op._operands[end:]]
        self.count += 1

    @staticmethod
    def _is_flat(op: Operation, source: Value, root: Value) -> bool:
        """Whether an access stays: its buffer has one dimension already, or its vector several."""
        type = source.type
        if any(
            getattr(v.type, "rank", 0) > 1 for v in (*op.results, *op._operands) if v is not source
        ):
            return True  # a vector of several dimensions runs along several of the memref
        if type.rank != 1 or type.layout is not None:
            return False
        made = source.defined_by(memref.ReinterpretCast)
        return source is root or (made is not None and made.source is root)


_BUFFERS: dict[type[Operation], int] = {
    memref.Load: 0,
    memref.Store: 1,
    memref.Prefetch: 0,
    vector.Load: 0,
    vector.Store: 1,
    vector.MaskedLoad: 0,
    vector.MaskedStore: 0,
    vector.Gather: 0,
    vector.Scatter: 0,
}
"""The operations that access memory, and which operand is the memref."""
