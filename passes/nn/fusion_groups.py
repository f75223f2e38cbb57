"""Divides the ops of a graph into groups, each of which becomes one kernel.

A group grows from an anchor. Anchors are first the products, whose epilogue (elementwise ops after
them) is free because the result is still in registers; then reductions, normalizations and
poolings, with elementwise ops before and after; then chains of elementwise ops; last, all ops that
are left, each alone.

Every group has one result, that of its last op; the other results are used inside of it only. So no
path leaves the group and comes back, and the kernel can stand where the last op stood: its operands
are defined before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any, TypeGuard

from ...dialects import nn
from ...dialects.nn.traits import Fusion
from ...ir.core import Block, Operation, Value
from ...ir.traits import ConstantLike
from ...ir.types import Dim, TensorType
from .fusion_costs import Told
from .kernel_maker import escapes, is_scalar
from .work import Work

Joins = Callable[[nn.NnOp], bool]


class Grouping:
    """Divides the ops of a block into groups; `groups` has each group's ops in order."""

    def __init__(
        self,
        block: Block,
        limit: int,
        views: set[Operation],
        work: Work,
        told: Told | None = None,
    ) -> None:
        self.limit, self.told = limit, told or Told()
        self.most_buffers = work.machine.most_buffers
        self.work = work
        self.shapes = work.shapes
        self.order = {op: i for i, op in enumerate(block)}
        self.taken: set[Operation] = set(views)
        self.found: list[list[nn.NnOp]] = []
        self.anchors: list[nn.NnOp] = []
        """The op that each group has grown from."""
        self.chains: dict[nn.NnOp, tuple[set[Any], bool]] = {}
        """By the last op of several that may share a kernel: the other ops, and whether a rule
        always joins them."""
        ops: list[nn.NnOp] = [op for op in self.order if _is_fusable(op) and op not in views]
        self._start_chains(ops)
        self._start_all(ops, (Fusion.PRODUCT,), self._is_product_epilogue)
        self._adjust_products()
        self._start_all(ops, (Fusion.REDUCTION, Fusion.NORMALIZATION), self._is_row_wise)
        self._start_all(ops, (Fusion.ELEMENTWISE,), self._is_epilogue)
        for op in reversed(ops):
            if op.fusion is Fusion.CHECK and op.prologue:
                self.start_check(op)
        for op in ops:
            if op not in self.taken:
                self.found.append([op])
                self.anchors.append(op)
        # A kernel stands where its last op stood; later ones may use earlier ones.
        self.groups = sorted(self.found, key=lambda group: self.order[group[-1]])

    # -- in which order groups are made ----------------------------------------------------

    def _start_chains(self, ops: Sequence[nn.NnOp]) -> None:
        """Make the groups of attention, then those of algorithms of several steps."""
        for op in ops:
            if isinstance(op, nn.Matmul) and (chain := self.rows_between(op)):
                self.start_chain(op, chain, True)
        for op in ops:
            if op.algorithm and (steps := self.steps_before(op)):
                self.start_chain(op, *steps)

    def _start_all(
        self,
        ops: Sequence[nn.NnOp],
        kinds: Sequence[Fusion],
        follows: Callable[[nn.NnOp], Joins],
    ) -> None:
        """Make a group of each op of these kinds, with the ops after it that `follows` accepts."""
        for op in ops:
            if op.fusion in kinds:
                self.start(op, follows(op), self._is_prologue(op))

    def _adjust_products(self) -> None:
        """Drop ops that make a product's result larger; add what its epilogue and its padding read.

        What no kernel before it writes into a padded tensor, an algorithm's first step pads.
        """
        for i, members in enumerate(self.found):
            self.found[i] = self.with_operands_of_epilogue(self.until_narrowest(members))
        for i, members in enumerate(self.found):
            if members[0].fusion is Fusion.REDUCTION and members[0] not in self.told.alone:
                group = set(members)
                self.grow_backward(group, self._is_prologue(members[0]))
                self.found[i] = sorted(group, key=self.order.__getitem__)

    # -- what may join ---------------------------------------------------------------------

    @staticmethod
    def _is_epilogue(anchor: nn.NnOp) -> Joins:
        shape = _shape(anchor.results[0])
        return lambda op: op.fusion is Fusion.ELEMENTWISE and _shape(op.results[0]) == shape

    def _is_product_epilogue(self, anchor: nn.NnOp) -> Joins:
        """Accepts elementwise ops, and ops that only write the result elsewhere.

        The latter are a transpose that keeps rows, and a padding whose reader does not pad by
        itself.
        """
        if anchor.has_whole_tiles:
            return self._is_on_tiles(anchor)
        shape, elementwise = _shape(anchor.results[0]), self._is_epilogue(anchor)
        elsewhere = self.work.is_padded_by_reader
        return lambda op: (
            elementwise(op)
            or (op.places_rows and _shape(op.operands[0]) == shape and not elsewhere(op))
        )

    def _is_on_tiles(self, anchor: nn.NnOp) -> Joins:
        """Accepts slices of the tiles, and elementwise ops on the tiles or on such slices."""
        tiles, elementwise = anchor.results[0], self._is_epilogue(anchor)
        cuts = [u.results[0] for u in tiles.users if isinstance(u, nn.Slice)]
        shapes = [_shape(value) for value in cuts or [tiles]]

        def joins(op: nn.NnOp) -> bool:
            match op.fusion:
                case Fusion.MOVEMENT:
                    return op.results[0] in cuts
                case Fusion.PADDING:
                    return op.places_rows and _shape(op.operands[0]) in shapes
                case Fusion.ELEMENTWISE:
                    return elementwise(op) or _shape(op.results[0]) in shapes
            return False

        return joins

    def _is_row_wise(self, anchor: nn.NnOp) -> Joins:
        """Accepts elementwise ops on the rows or on what they are reduced to, and reductions of the
        same rows.
        """
        axes = anchor.row_axes
        if axes is None or anchor.fusion is not Fusion.REDUCTION:
            return self._is_epilogue(anchor)
        rows = _shape(anchor.operands[0])
        shapes = (rows, _shape(anchor.results[0]))

        def joins(op: nn.NnOp) -> bool:
            if op.fusion is Fusion.REDUCTION:
                return op.row_axes == axes and _shape(op.operands[0]) == rows
            return op.fusion is Fusion.ELEMENTWISE and _shape(op.results[0]) in shapes

        return joins

    @staticmethod
    def _is_prologue(anchor: nn.NnOp) -> Joins:
        """Accepts the ops that may come before the anchor by its class; elementwise ones on its
        rows only.
        """
        rows = anchor.results[0] if anchor.fusion is Fusion.ELEMENTWISE else anchor.operands[0]
        shape = _shape(rows)
        return lambda op: (
            op.fusion in anchor.prologue
            and (op.fusion is not Fusion.ELEMENTWISE or _shape(op.results[0]) == shape)
        )

    def rows_between(self, product: nn.Matmul) -> set[nn.NnOp]:
        """The ops of attention before its second `product`: the first product, softmax, and those
        between.

        A row of the result needs only one row of scores, so that few rows of these are in memory at
        a time.
        """
        rows = _shape(product.lhs)
        definer = product.lhs.defining_op
        if not self.has_known_broadcasts(product):
            return set()
        members: set[nn.NnOp] = set()
        first: nn.Matmul | None = None
        waiting = {definer} if definer is not None else set[Operation]()
        while waiting:
            op = max(waiting, key=lambda o: self.order.get(o, -1))
            waiting.remove(op)
            if op in self.taken or op not in self.order or not _is_fusable(op):
                continue
            if any(u is not product and u not in members for u in op.results[0].users):
                continue
            if not self.has_known_broadcasts(op):
                continue
            if isinstance(op, nn.Matmul) and first is None and _shape(op.out) == rows:
                first = op
                members.add(op)
            elif _is_along_rows(op, rows):
                members.add(op)
                waiting.update(v.defining_op for v in op.operands if v.defining_op is not None)
        # What the first product does not lead to can be computed elsewhere.
        needed: set[nn.NnOp] = set()
        for op in sorted(members, key=self.order.__getitem__):
            if op is first or any(v.defining_op in needed for v in op.operands):
                needed.add(op)
        normalized = any(op.fusion is not Fusion.ELEMENTWISE for op in needed if op is not first)
        return needed if normalized and len(needed) < self.limit else set()

    def has_known_broadcasts(self, op: Operation) -> bool:
        """Whether it is known which dimensions an op broadcasts, so that loops can be shared.

        An unknown extent that meets another extent may turn out to be 1.
        """
        count = 2 if isinstance(op, nn.Matmul) else 0
        result = self.shapes.of(op.results[0])
        result = result[: len(result) - count]
        if count == 0 and len(op.operands) == 1:
            return True
        for value in op.operands:
            own = self.shapes.of(value)
            own = own[: len(own) - count]
            pairs = zip(reversed(own), reversed(result), strict=False)
            if any(size != wanted and size != 1 for size, wanted in pairs):
                return False
        return True

    def steps_before(self, last: nn.NnOp) -> tuple[set[Operation], bool] | None:
        """The steps of an algorithm before its last one, and whether it pays to do all block by
        block.

        A block is some tiles. None if the steps cannot share a kernel.
        """
        steps: set[Operation] = set()
        between = weights = 0
        for cls in reversed(last.algorithm):
            value = last.operands[0]
            step = value.defined_by(cls)
            if step is None or step in self.taken or step not in self.order:
                return None
            if escapes(value, {last}):
                return None
            steps.add(step)
            between += self.work.elements_of_tiles(value)
            if step.weight_operand is not None:
                weights += prod(d or 1 for d in _shape(step.operands[step.weight_operand]) or ())
            last = step
        return steps, self.work.is_blocked(between, weights)

    # -- growing -----------------------------------------------------------------------------

    def start_chain(self, last: nn.NnOp, steps: set[Any], by_rule: bool) -> None:
        """Put an operation and the steps before it into one group, by rule or as users asked."""
        self.chains[last] = (steps, by_rule)
        if self.told.chains.get(last, by_rule):
            self.start(last, self._is_product_epilogue(last), self._is_prologue(last), steps)

    def start_check(self, last: nn.NnOp) -> None:
        """Group a check with the ops of its condition and the checks whose result it passes on.

        If nothing but the checks reads the value that they pass on, the group that computes that
        value takes them in.
        """
        if last in self.taken:
            return
        self.start(last, lambda op: False, lambda op: op.fusion in last.prologue)
        checks = self.found[-1]
        passed = last.operands[0]
        while passed.defining_op in checks:
            passed = passed.defining_op.operands[0]
        if last in self.told.alone or passed.defining_op is None or escapes(passed, {*checks}):
            return
        for i, (anchor, group) in enumerate(zip(self.anchors, self.found, strict=True)):
            joined = [*group, *checks]
            if passed.defining_op is group[-1] and anchor not in self.told.alone:
                if len(joined) <= self.limit and self.fits({*joined}):
                    self.found[i] = joined
                    del self.found[-1], self.anchors[-1]
                return

    def start(
        self,
        anchor: nn.NnOp,
        follows: Joins,
        precedes: Joins,
        known: Iterable[Operation] = (),
    ) -> None:
        """Make a group of the anchor and the `known` ops, and of ops before and after them.

        `follows(op)` and `precedes(op)` say whether an op may join.
        """
        if anchor in self.taken:
            return
        group: set[Any] = {anchor, *known}
        self.taken |= group
        if len(anchor.results) == 1 and anchor not in self.told.alone:
            self.grow_forward(group, follows)
            self.grow_backward(group, precedes)
        self.found.append(sorted(group, key=self.order.__getitem__))
        self.anchors.append(anchor)

    def grow_forward(self, group: set[Any], joins: Joins) -> None:
        """Add users in order, as long as the group has a single result."""
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
            if not self.fits(trial):
                break
            if sum(escapes(result, trial) for op in trial for result in op.results) == 1:
                group |= trial
                self.taken |= trial

    def fits(self, group: set[Any]) -> bool:
        """Whether a kernel of the machine can have as many buffers as the group
        reads and writes.
        """
        if not self.most_buffers:
            return True
        read = {v for op in group for v in op.operands if v.defining_op not in group}
        buffers = [v for v in read if v.defining_op is None or not is_scalar(v.defining_op)]
        return len(buffers) < self.most_buffers

    def until_narrowest(self, members: list[nn.NnOp]) -> list[nn.NnOp]:
        """A product's group without the elementwise ops at its end that make its result larger.

        A reduction that follows computes them as it reads: sums of dequantized numbers then read 8
        bits.
        """
        users = {*members[-1].results[0].users}
        reduction = next(iter(users)) if len(users) == 1 else None
        if not isinstance(reduction, nn.NnOp) or reduction.fusion is not Fusion.REDUCTION:
            return members
        if reduction in self.taken or not self._is_prologue(reduction)(members[-1]):
            return members
        end, narrowest = len(members), len(members)
        while end > 1 and self._is_chained(members[end - 1], members[end - 2]):
            end -= 1
            if _width(members[end - 1]) < _width(members[narrowest - 1]):
                narrowest = end
        self.taken.difference_update(members[narrowest:])
        return members[:narrowest]

    @staticmethod
    def _is_chained(op: nn.NnOp, before: nn.NnOp) -> bool:
        """Whether an elementwise op reads only the result of the op before it, and constants."""
        rest = [v for v in op.operands if v is not before.results[0]]
        numbers = all(v.defined_by(nn.Constant) is not None for v in rest)
        return op.fusion is Fusion.ELEMENTWISE and len(rest) < len(op.operands) and numbers

    def with_operands_of_epilogue(self, members: list[nn.NnOp]) -> list[nn.NnOp]:
        """A product's group with the elementwise ops that only its epilogue reads.

        Each of their elements is read once, so it can be computed there: a shortcut that is
        dequantized, say, is then never stored as floats.
        """
        products = [op for op in members if op.fusion is Fusion.PRODUCT]
        if len(products) != 1 or products[0].has_whole_tiles:
            return members
        group, (product,) = set(members), products
        joins, own = self._is_epilogue(product), set(product.operands)
        for op in members:
            if op.fusion is Fusion.ELEMENTWISE:
                self.grow_backward(group, lambda op: joins(op) and op.results[0] not in own, (op,))
        before = group.difference(members)
        place = dict(self.order)
        for op in sorted(before, key=self.order.__getitem__, reverse=True):
            place[op] = min(place[user] for user in op.results[0].users)
        return sorted(group, key=lambda op: (place[op], op not in before, self.order[op]))

    def grow_backward(self, group: set[Any], joins: Joins, last: Iterable[Any] = ()) -> None:
        """Add ops that only the group uses, before any of it or only before its `last` ops."""
        pending = sorted(last or group, key=self.order.__getitem__)
        while pending and len(group) < self.limit:
            for operand in pending.pop().operands:
                op = operand.defining_op
                if op is None or op in self.taken or op not in self.order:
                    continue
                if not _is_fusable(op) or not joins(op) or len(op.results) != 1:
                    continue
                if escapes(operand, group) or len(group) >= self.limit:
                    continue
                if not self.fits({*group, op}):
                    continue
                group.add(op)
                self.taken.add(op)
                pending.append(op)


def _is_along_rows(op: nn.NnOp, rows: tuple[Dim, ...] | None) -> bool:
    """Whether each row of an op's result needs only the same row of its operands of this shape."""
    if rows is None:
        return False
    if op.fusion is Fusion.ELEMENTWISE:
        return _shape(op.results[0]) in (rows, (*rows[:-1], 1))
    return op.row_axes == (len(rows) - 1,) and _shape(op.operands[0]) == rows


def _is_fusable(op: Operation) -> TypeGuard[nn.NnOp]:
    if not isinstance(op, nn.NnOp) or op.has_trait(ConstantLike) or nn.is_on_host(op):
        return False
    return op.fusion is not Fusion.VIEW


def _shape(value: Value) -> tuple[Dim, ...] | None:
    return value.type.shape if isinstance(value.type, TensorType) else None


def _width(op: nn.NnOp) -> int:
    """The bytes of an element of the op's result."""
    type = op.results[0].type
    return type.element_type.byte_width if isinstance(type, TensorType) else 0
