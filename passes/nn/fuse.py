"""Fusion: ops that are computed together go into one `nn.kernel`.

A group grows from an anchor. First come the products (their epilogue is free: the result is
still in registers), then reductions, normalizations and poolings with what is elementwise
before and after, then chains of elementwise ops, last everything else alone.

    %0 = nn.conv %x, %w ..             %2 = nn.kernel %x, %w, %y .. {
    %1 = nn.add %0, %y ..         ->     %0 = nn.conv ..  %1 = nn.add ..  %2 = nn.relu ..
    %2 = nn.relu %1 ..                   nn.yield %2
                                       }

Every group has one result, from its last op; all other results of its ops are used inside
only. So no path leaves the group and comes back, and the kernel may stand where the last op
stood: its operands are defined before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod

from ...dialects import nn
from ...ir.attributes import DenseElements, UnitAttr
from ...ir.core import Block, IRMapping, Operation, Region, Value
from ...ir.location import fuse_locations
from ...ir.passes import Pass, PassContext, option
from ...ir.traits import ConstantLike
from ...ir.types import Dim, TensorType
from ...targets.attribute import target_of
from .choose_algorithms import Work
from .parts import prepare

VIEWS = (nn.Reshape, nn.ReshapeDynamic)
"""Ops that only rename elements; they stay outside of kernels."""

BLOCKED = (
    nn.BlockedConv,
    nn.BlockedDepthwiseConv,
    nn.BlockedGroupedConv,
    nn.BlockedNarrowConv,
    nn.BlockedPaddedConv,
)
PRODUCTS = (
    nn.WinogradOutput,
    nn.Matmul,
    nn.PackedMatmul,
    nn.BlockedMatmul,
    nn.Conv,
    nn.ConvTranspose,
    *BLOCKED,
)
REDUCTIONS = (
    nn.WinogradInput,
    nn.reductions.ReductionOp,
    nn.normalization.NormalizationOp,
    nn.pooling.PoolingOp,
    nn.reductions.ArgOp,
    nn.Resize,
)
MOVEMENTS = (nn.Transpose, nn.BroadcastTo, nn.Slice)
"""What a consumer may do while it reads."""


@dataclass(frozen=True)
class Fuse(
    Pass,
    name="fuse",
    anchor="func.func",
    statistics={
        "kernels": "Number of kernels made",
        "ops-fused": "Number of ops that share a kernel with another",
    },
):
    """Group ops into kernels: products with their epilogues, row-wise ops, elementwise chains.

    Constants, views (reshape, and slices and concatenations that need no copy) and whatever is
    in a kernel already stay as they are.
    """

    target: str = option("", help="a target's name (default: the module's)", alias="machine")
    limit: int = option(
        32, help="the most ops of one kernel; 1 makes one kernel of each op", least=1
    )

    def run(self, op: Operation, context: PassContext) -> None:
        """Fuse in each block of the function."""
        if isinstance(op.attributes.get("nn.kernel"), UnitAttr):
            return
        work = Work(target_of(op, self.target).machine)
        for block in op.regions[0].blocks:
            for group in Grouping(block, self.limit, prepare(block).ops, work).groups:
                make_kernel(group)
                context.statistic("kernels")
                context.statistic("ops-fused", len(group) - 1)


def is_elementwise(op: Operation) -> bool:
    """Whether a result element needs the operands' elements at that place only."""
    return isinstance(op, nn.elementwise.ElementwiseOp | nn.BatchNorm)


def is_padding(op: Operation) -> bool:
    """Whether an op puts a tensor into a larger one whose border holds one number."""
    return isinstance(op, nn.Pad) and op.mode == "constant" and min(op.pads, default=0) >= 0


class Grouping:
    """Partitions the ops of a block; `groups` holds each group's ops in their order."""

    def __init__(self, block: Block, limit: int, views: set[Operation], work: Work) -> None:
        self.limit = limit
        self.work = work
        self.order = {op: i for i, op in enumerate(block)}
        self.taken: set[Operation] = set(views)
        self.found: list[list[Operation]] = []
        ops = [op for op in self.order if _is_fusable(op) and op not in views]
        for op in ops:
            if isinstance(op, nn.Matmul) and (chain := self.rows_between(op)):
                self.start(op, self._is_product_epilogue(op), _is_movement, chain)
        for op in ops:
            if isinstance(op, nn.WinogradOutput) and (chain := self.transforms_around(op)):
                self.start(op, self._is_product_epilogue(op), lambda o: False, chain)
        for op in ops:
            if isinstance(op, PRODUCTS):
                follows = self._is_product_epilogue(op)
                before = (*MOVEMENTS, nn.Pad) if isinstance(op, BLOCKED) else MOVEMENTS
                self.start(op, follows, lambda o, before=before: isinstance(o, before))
        # What no kernel before them writes into a padded tensor, they pad themselves.
        for i, members in enumerate(self.found):
            if any(isinstance(op, nn.WinogradInput) for op in members):
                group = set(members)
                self.grow_backward(group, lambda o: isinstance(o, nn.Pad))
                self.found[i] = sorted(group, key=self.order.__getitem__)
        for op in ops:
            if isinstance(op, REDUCTIONS) and not is_elementwise(op):
                self.start(op, self._is_row_wise(op), self._is_prologue(op))
        for op in ops:
            if is_elementwise(op):
                shape = _shape(op.results[0])
                self.start(
                    op,
                    self._is_epilogue(op),
                    lambda o, s=shape: (
                        isinstance(o, MOVEMENTS)
                        or (is_elementwise(o) and _shape(o.results[0]) == s)
                    ),
                )
        for op in ops:
            if op not in self.taken:
                self.found.append([op])
        # A kernel stands where its last op stood; later ones may use earlier ones.
        self.groups = sorted(self.found, key=lambda group: self.order[group[-1]])

    # -- what may join ---------------------------------------------------------------------

    def _is_epilogue(self, anchor: Operation) -> Callable[[Operation], bool]:
        shape = _shape(anchor.results[0])
        return lambda op: is_elementwise(op) and _shape(op.results[0]) == shape

    def _is_product_epilogue(self, anchor: Operation) -> Callable[[Operation], bool]:
        """Elementwise, and what writes results elsewhere as they are: a transpose that keeps
        rows, or the middle of a padded tensor.
        """
        shape, elementwise = _shape(anchor.results[0]), self._is_epilogue(anchor)

        def joins(op: Operation) -> bool:
            if isinstance(anchor, nn.WinogradOutput):
                cut = isinstance(op, nn.Slice) and op.x is anchor.out
                return cut or elementwise(op) or self._is_on_cut(anchor, op)
            if is_padding(op):
                return _shape(op.operands[0]) == shape
            if isinstance(op, nn.Transpose):
                last = len(op.permutation) - 1
                return _shape(op.x) == shape and op.permutation[last] == last
            return elementwise(op)

        return joins

    @staticmethod
    def _is_on_cut(anchor: nn.WinogradOutput, op: Operation) -> bool:
        """Elementwise on the part of the tiles that are results."""
        cuts = [u for u in anchor.out.users if isinstance(u, nn.Slice)]
        value = op.operands[0] if is_padding(op) else op.results[0]
        fits = any(_shape(value) == _shape(c.results[0]) for c in cuts or [anchor])
        return fits and (is_elementwise(op) or is_padding(op))

    def _is_row_wise(self, anchor: Operation) -> Callable[[Operation], bool]:
        """Elementwise on the rows or on what they are reduced to, and like reductions of them."""
        if not isinstance(anchor, nn.reductions.ReductionOp) or not anchor.keep_dims:
            return self._is_epilogue(anchor)
        rows, axes = _shape(anchor.x), anchor.axes
        shapes = (rows, _shape(anchor.out))

        def joins(op: Operation) -> bool:
            if isinstance(op, nn.reductions.ReductionOp):
                return op.keep_dims and op.axes == axes and _shape(op.x) == rows
            return is_elementwise(op) and _shape(op.results[0]) in shapes

        return joins

    def _is_prologue(self, anchor: Operation) -> Callable[[Operation], bool]:
        if isinstance(anchor, nn.WinogradInput | nn.pooling.PoolingOp):
            return lambda op: isinstance(op, nn.Pad)
        if not isinstance(anchor, nn.reductions.ReductionOp | nn.normalization.NormalizationOp):
            return lambda op: False
        shape = _shape(anchor.operands[0])
        return lambda op: is_elementwise(op) and _shape(op.results[0]) == shape

    def rows_between(self, product: nn.Matmul) -> set[Operation]:
        """A product whose rows are normalized and multiplied by another one, and all between.

        That is attention. Each row of scores is needed for a row of the result only, so that
        few of them need be there at a time.
        """
        rows = _shape(product.lhs)
        definer = product.lhs.defining_op
        if not _has_known_broadcasts(product, rows):
            return set()
        members: set[Operation] = set()
        first: Operation | None = None
        waiting = {definer} if definer is not None else set[Operation]()
        while waiting:
            op = max(waiting, key=lambda o: self.order.get(o, -1))
            waiting.remove(op)
            free = op in self.order and op not in self.taken and _is_fusable(op)
            if not free or any(u is not product and u not in members for u in op.results[0].users):
                continue
            if not _has_known_broadcasts(op, rows):
                continue
            if isinstance(op, nn.Matmul) and first is None and _shape(op.out) == rows:
                first = op
                members.add(op)
            elif _is_along_rows(op, rows):
                members.add(op)
                waiting.update(v.defining_op for v in op.operands if v.defining_op is not None)
        # What the first product does not lead to can be computed elsewhere.
        needed: set[Operation] = set()
        for op in sorted(members, key=self.order.__getitem__):
            if op is first or any(v.defining_op in needed for v in op.operands):
                needed.add(op)
        normalized = any(not is_elementwise(op) for op in needed if op is not first)
        return needed if normalized and len(needed) < self.limit else set()

    def transforms_around(self, output: nn.WinogradOutput) -> set[Operation]:
        """The product and the transform before Winograd's last one, if blocks of tiles pay."""
        product = output.x.defined_by(nn.BlockedMatmul)
        values = product.lhs.defined_by(nn.WinogradInput) if product is not None else None
        if product is None or values is None:
            return set()
        chain: set[Operation] = {values, product}
        if any(op in self.taken or op not in self.order for op in chain):
            return set()
        if _escapes(values.out, {product}) or _escapes(product.out, {output}):
            return set()
        between = _count(values.out) + _count(product.out)
        return chain if self.work.is_blocked(between, _count(product.rhs)) else set()

    # -- growing -----------------------------------------------------------------------------

    def start(
        self,
        anchor: Operation,
        follows: Callable[[Operation], bool],
        precedes: Callable[[Operation], bool],
        known: Iterable[Operation] = (),
    ) -> None:
        """A group from the anchor and what is known to be in it, with what may follow and
        precede them.
        """
        if anchor in self.taken:
            return
        group = {anchor, *known}
        self.taken |= group
        if len(anchor.results) == 1:
            self.grow_forward(group, follows)
            self.grow_backward(group, precedes)
        self.found.append(sorted(group, key=self.order.__getitem__))

    def grow_forward(self, group: set[Operation], joins: Callable[[Operation], bool]) -> None:
        """Add users, in order, as far as the group then has one result again."""
        trial = set(group)
        while len(trial) < self.limit:
            users = {
                user
                for op in trial
                for result in op.results
                for user in result.users
                if user not in trial
            }
            if not users or any(user not in self.order for user in users):
                break
            first = min(users, key=self.order.__getitem__)
            if first in self.taken or not _is_fusable(first) or not joins(first):
                break
            trial.add(first)
            if sum(_escapes(result, trial) for op in trial for result in op.results) == 1:
                group |= trial
                self.taken |= trial

    def grow_backward(self, group: set[Operation], joins: Callable[[Operation], bool]) -> None:
        """Add ops of which the group is the only user."""
        pending = sorted(group, key=self.order.__getitem__)
        while pending and len(group) < self.limit:
            for operand in pending.pop().operands:
                op = operand.defining_op
                if op is None or op in self.taken or op not in self.order:
                    continue
                if not _is_fusable(op) or not joins(op) or len(op.results) != 1:
                    continue
                if _escapes(operand, group) or len(group) >= self.limit:
                    continue
                group.add(op)
                self.taken.add(op)
                pending.append(op)


def _is_movement(op: Operation) -> bool:
    return isinstance(op, MOVEMENTS)


def _is_along_rows(op: Operation, rows: tuple[Dim, ...] | None) -> bool:
    """Whether each row of an op's result needs only the same row of operands of that shape."""
    if rows is None:
        return False
    last = len(rows) - 1
    if isinstance(op, nn.reductions.ReductionOp):
        return _shape(op.x) == rows and op.keep_dims and tuple(op.axes) == (last,)
    if isinstance(op, nn.Softmax | nn.LogSoftmax):
        return _shape(op.x) == rows and op.axis == last
    return is_elementwise(op) and _shape(op.results[0]) in (rows, (*rows[:-1], 1))


def _has_known_broadcasts(op: Operation, rows: tuple[Dim, ...] | None) -> bool:
    """Whether it is known which dimensions an op repeats, so that loops can be shared.

    An unknown extent beside another one may turn out to be 1.
    """
    shapes = [_shape(v) or () for v in op.operands]
    if isinstance(op, nn.Matmul):
        return None not in [d for s in shapes for d in s[:-2]]
    return len(shapes) == 1 or not any(None in s for s in shapes if s != rows)


def _is_fusable(op: Operation) -> bool:
    return isinstance(op, nn.NnOp) and not isinstance(op, VIEWS) and not op.has_trait(ConstantLike)


def _count(value: Value) -> int:
    """Elements of a tensor; a dimension of unknown extent counts as one."""
    return prod(d or 1 for d in _shape(value) or ())


def _shape(value: Value) -> tuple[Dim, ...] | None:
    return value.type.shape if isinstance(value.type, TensorType) else None


def _escapes(value: Value, group: set[Operation]) -> bool:
    return any(user not in group for user in value.users)


# -- building --------------------------------------------------------------------------------


def make_kernel(ops: list[Operation]) -> nn.Kernel:
    """Move ops, given in order, into a kernel where the last one stands.

    Constants of one repeated element are copied inside, so that they become immediate values.
    """
    members = set(ops)
    outs = [r for op in ops for r in op.results if _escapes(r, members)]
    if not outs:
        outs = list(ops[-1].results)
    copied: dict[Value, Operation] = {}
    inputs: dict[Value, None] = {}
    for op in ops:
        for value in op.operands:
            definer = value.defining_op
            if definer in members:
                continue
            if definer is not None and _is_scalar(definer):
                copied[value] = definer
            else:
                inputs[value] = None
    body = Block([v.type for v in inputs])
    mapping = IRMapping()
    for value, arg in zip(inputs, body.args, strict=True):
        mapping[value] = arg
        arg.name_hint = value.name_hint
    for definer in copied.values():
        body.append(definer.clone(mapping))
    kernel = nn.Kernel(
        list(inputs),
        body=Region([body]),
        outs=[v.type for v in outs],
        loc=fuse_locations([op.loc for op in ops]),
    )
    block = ops[-1].parent
    assert block is not None
    block.insert_before(kernel, ops[-1])
    for op in ops:
        op.detach()
        body.append(op)
        for i, value in enumerate(op.operands):
            if value in mapping.values:
                op.set_operand(i, mapping[value])
    for old, new in zip(outs, kernel.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_uses_if(new, lambda user: user.parent is not body)
    body.append(nn.Yield(outs))
    for definer in copied.values():
        if not definer.results[0].has_uses:
            definer.erase()
    return kernel


def _is_scalar(op: Operation) -> bool:
    """Whether a constant holds one number, maybe repeated."""
    if not isinstance(op, nn.Constant):
        return False
    value = op.value
    return isinstance(value, DenseElements) and value.strings is None and value.is_splat
