"""--lower-tiles: n-dimensional vectors become the target's vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ....dialects import gpu, scf, vector
from ....ir.core import Block, Operation, Region, Value
from ....ir.passes import Pass, PassContext, option
from ....ir.traits import Terminator
from ....ir.types import MemRefType, Type, VectorType
from ....targets.processor import Processor, processor_of
from ..addresses.linear import Forms
from ..addresses.walk import Walk, erase_unused
from ..code import make
from . import products, rearrangements, transfers
from .expansion import Expansion
from .lanes import LANES, Widths, fits_any
from .masking import take_off_masks

EXPANDER_MODULES = (products, rearrangements, transfers)
"""The modules that register how pieces of operations' results are made."""


@dataclass(frozen=True)
class LowerTiles(
    Pass,
    name="lower-tiles",
    anchor="builtin.module",
    statistics={"functions": "Number of functions that had vectors"},
):
    """Cut n-dimensional vectors in pieces that the target's registers hold.

        %a = vector.transfer_read %A[%i, %k] : vector<2x1xf32>      two scalars
        %b = vector.transfer_read %B[%k, %j] : vector<1x32xf32>     two vectors of 16
        %d = vector.contract %a, %b, %c                             four multiply-adds

    The innermost dimension of a vector is the lanes, the others are copies. Loads and stores stand
    where the tiles were read and written; `--forward-stores` finds those that registers replace.
    """

    numerics = "rounding"

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        processor_of(op, self.target)
        for function in gpu.functions_with_code(op):
            take_off_masks(function)
            ops = list(function.walk())
            types = {v.type for o in ops for v in (*o.results, *o._operands)}
            vectors = [t for t in types if isinstance(t, VectorType)]
            if vectors and not any(t.scalable for t in vectors):
                _Lowering(function, processor_of(function), ops).run()
                context.statistic("functions")


class _Lowering:
    """One function that is being lowered, block by block."""

    def __init__(
        self, function: gpu.FunctionWithCode, target: Processor, ops: Sequence[Operation]
    ) -> None:
        self.function = function
        widths = Widths(target)
        for op in ops:
            widths.visit(op)
        block = function.body.blocks[0]
        self.code = Walk(block, Forms(), target)
        self.e = Expansion(self.code, widths, target)
        self.waiting: list[Operation] = []
        """Operations of the current block that nothing has asked for yet, in order."""
        self.rewritten: dict[Operation, Sequence[Value]] = {}
        """For each loop or branch on pieces, the results of the one on vectors that it replaces."""
        self.done: list[Operation] = []
        """Operations that were expanded, to be erased."""

    def run(self) -> None:
        for block in self.function.body.blocks:
            self.block(block)
        for op in reversed(self.done):
            if not op.has_used_results:
                operands = list(op._operands)
                op.erase()
                erase_unused(operands)

    # -- blocks ------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        """All operations of a block, in order."""
        waiting, self.waiting = self.waiting, []
        scope = self.code.enter(block)
        for op in block:
            scope.anchor = op
            self.code.loc = op.loc
            if Terminator in type(op).traits:
                self.terminator(op)
            else:
                self.visit(op)
        self.code.leave()
        self.waiting = waiting

    def terminator(self, op: Operation) -> None:
        region = op.parent.parent if op.parent is not None else None
        if region is not None and len(region.blocks) > 1:
            self._expand_for_others(op.parent)  # type: ignore[arg-type]
        results = self.rewritten.get(op.parent_op)  # type: ignore[arg-type]
        if results is not None:
            op.operands = self._flattened(op._operands, results)
        else:
            self._keep(op)

    def _expand_for_others(self, block: Block) -> None:
        """Make the pieces that other blocks of the same region use."""
        for op in list(block):
            for result in op.results:
                if isinstance(result.type, VectorType) and any(
                    u.parent is not block for u in result.users
                ):
                    self.e.all_pieces(result)

    def visit(self, op: Operation) -> None:
        handler = _HANDLERS.get(type(op))
        if handler is not None:
            handler(self, op)
        elif op.regions:
            self.region_op(op)
        elif self.e.is_expanded(op) and any(isinstance(r.type, VectorType) for r in op.results):
            self._wait(op)
        else:
            self._keep(op)

    def _wait(self, op: Operation) -> None:
        """Delay an operation until its pieces are needed."""
        self.e.wait(op)
        self.waiting.append(op)
        self.done.append(op)

    # -- operations that stay as they are --------------------------------------------------------

    def _keep(self, op: Operation) -> None:
        """Keep an operation as it is; its operands are assembled from their pieces."""
        op.attributes.pop(LANES, None)
        for i, value in enumerate(op._operands):
            if isinstance(value.type, VectorType):
                whole = self.e.whole(value)
                if whole is not value:
                    op.set_operand(i, whole)

    # -- reads and writes ------------------------------------------------------------------------

    def read(self, op: Any) -> None:
        """Load all pieces of a vector."""
        is_transfer = isinstance(op, vector.TransferRead)
        is_kept = is_transfer and transfers.access_of(self.e, op) is None
        if is_kept or not isinstance(op.base.type, MemRefType):
            self._keep(op)
            return
        self.done.append(op)
        if op.results[0].has_uses:
            self.e.all_pieces(op.results[0])

    def transfer_write(self, op: vector.TransferWrite) -> None:
        if op.result is not None or transfers.access_of(self.e, op) is None:
            self._keep(op)
            return
        self._compute(op.valueToStore)
        transfers.write_pieces(self.e, op)
        self.done.append(op)

    def _compute(self, written: Value) -> None:
        """Make the pieces of `written` and of all waiting results of its shape, copy after copy.

        So a body with several results is computed as a whole for one copy, not result by result.
        """
        waiting, self.waiting = self.waiting, []
        alike = [
            result
            for op in waiting
            for result in op.results
            if self.e.widths.parts(result) == self.e.widths.parts(written)
            and result.type.shape == written.type.shape  # type: ignore[attr-defined]
            and not fits_any(result)
        ]
        if written not in alike:
            return
        for copies, part in self.e.places(written):
            for result in alike:
                self.e.piece(result, copies, part)

    def scatter(self, op: vector.Scatter) -> None:
        if op.result is not None or not isinstance(op.base.type, MemRefType):
            self._keep(op)
            return
        transfers.scatter_pieces(self.e, op)
        self.done.append(op)

    # -- elements --------------------------------------------------------------------------------

    def extract(self, op: vector.Extract) -> None:
        if isinstance(op.results[0].type, VectorType):
            if op.dynamic_position:
                self._keep(op)
            else:
                self._wait(op)
        elif op.dynamic_position or self.e.stays(op.source):
            self._keep(op)
        else:
            op.result.replace_all_uses_with(self.e.element(op.source, tuple(op.static_position)))
            self.done.append(op)

    def insert(self, op: vector.Insert) -> None:
        if op.dynamic_position:
            self._keep(op)
        else:
            self._wait(op)

    # -- products and reductions -----------------------------------------------------------------

    def eager(self, op: Operation, expand: Callable[[Expansion, Any], None]) -> None:
        """Expand an operation at once, all its pieces."""
        self.waiting.clear()
        self.done.append(op)
        if op.has_used_results:
            expand(self.e, op)

    # -- control flow ----------------------------------------------------------------------------

    def region_op(self, op: Operation) -> None:
        """Keep an operation with regions, and lower these."""
        self._before_regions(op)
        self._keep(op)
        self._regions(op)

    def _regions(self, op: Operation) -> None:
        for region in op.regions:
            for block in region.blocks:
                self.block(block)

    def _before_regions(self, op: Operation) -> None:
        """Make the pieces of vectors from outside that the regions use."""
        for value in _captured(op):
            self.e.all_pieces(value)

    def for_loop(self, op: scf.For) -> None:
        """Replace a loop by one that carries pieces instead of vectors."""
        if not any(isinstance(v.type, VectorType) for v in op.inits):
            self.region_op(op)
            return
        self._before_regions(op)
        inits = self._flattened(op.inits, op.results)
        types = [v.type for v in inits]
        old = op.body_block
        block = Block([old.args[0].type, *types])
        new = make(scf.For, (*op._operands[:3], *inits), types)
        new.properties, new.loc = op.properties, op.loc
        new.regions = (Region([block]),)
        new.regions[0].parent = new
        self._move(old, block)
        old.args[0].replace_all_uses_with(block.args[0])
        self._bind(op.iter_args, block.args[1:])
        self._replace_op(op, new)

    def if_op(self, op: scf.If) -> None:
        """Replace a branch by one that yields pieces instead of vectors."""
        if not any(isinstance(r.type, VectorType) for r in op.results):
            self.region_op(op)
            return
        self._before_regions(op)
        types = [t for r in op.results for t in self._piece_types(r)]
        blocks = []
        for region in op.regions:
            block = Block()
            self._move(region.block, block)
            blocks.append(block)
        new = make(scf.If, op._operands, types)
        new.properties, new.loc = op.properties, op.loc
        new.regions = tuple(Region([block]) for block in blocks)
        for region in new.regions:
            region.parent = new
        self._replace_op(op, new)

    def _replace_op(self, op: Operation, new: Operation) -> None:
        """Put the operation in place of the old one, lower its regions, and bind its results."""
        self.code.put(new)
        self.code.scope.anchor = new
        self.rewritten[new] = op.results
        self._regions(new)
        self.code.scope.anchor = op
        self._bind(op.results, new.results)
        self.done.append(op)

    @staticmethod
    def _move(source: Block, target: Block) -> None:
        for inner in source:
            inner.detach()
            target.append(inner)

    def _flattened(self, values: Sequence[Value], like: Sequence[Value]) -> list[Value]:
        """All scalars and pieces of vectors, cut as the values of `like` are."""
        found = []
        for value, one in zip(values, like, strict=True):
            if isinstance(value.type, VectorType):
                found += [self.e.vector(value, *place) for place in self.e.places(one)]
            else:
                found.append(value)
        return found

    def _piece_types(self, value: Value) -> Iterator[Type]:
        type = value.type
        if not isinstance(type, VectorType):
            yield type
            return
        for _, part in self.e.places(value):
            element = type.element_type
            yield VectorType((part.width,), element) if part.width > 1 else element

    def _bind(self, old: Sequence[Value], new: Sequence[Value]) -> None:
        """Record the new values that replace old ones: several pieces for a vector."""
        rest = iter(new)
        for value in old:
            if isinstance(value.type, VectorType):
                self.e.replaced.add(value)
                for copies, part in self.e.places(value):
                    self.e.set(value, copies, part, next(rest))
            else:
                value.replace_all_uses_with(next(rest))


def _captured(op: Operation) -> list[Value]:
    """The vectors from outside that the regions of an operation use."""
    inside = {block for inner in op.walk() for region in inner.regions for block in region.blocks}
    found: dict[Value, None] = {}
    for inner in op.walk():
        if inner is not op:
            for value in inner._operands:
                if isinstance(value.type, VectorType) and value.parent_block not in inside:
                    found[value] = None
    return list(found)


_HANDLERS: dict[type[Operation], Callable[[_Lowering, Any], None]] = {
    scf.For: _Lowering.for_loop,
    scf.If: _Lowering.if_op,
    vector.Contract: lambda s, op: s.eager(op, products.contract),
    vector.Extract: _Lowering.extract,
    vector.Gather: _Lowering.read,
    vector.Insert: _Lowering.insert,
    vector.MultiReduction: lambda s, op: s.eager(op, products.multi_reduction),
    vector.OuterProduct: lambda s, op: s.eager(op, products.outer_product),
    vector.Reduction: lambda s, op: s.eager(op, products.reduction),
    vector.Scan: lambda s, op: s.eager(op, products.scan),
    vector.Scatter: _Lowering.scatter,
    vector.TransferRead: _Lowering.read,
    vector.TransferWrite: _Lowering.transfer_write,
}
