"""--merge-dimensions: merges dimensions that a device's kernel treats equally, as rows and columns.

    linalg.generic (d0, d1, d2, d3, d4) ->         %u = memref.collapse_shape %x [[0], [1], [2, 3]]
        ins(%x[d0, d4, d2, d3], %w[d1, d4])   ->   linalg.generic (d0, d1, d2, d3) ->
        outs(%y[d0, d1, d2, d3])                       ins(%u[d0, d3, d2], %w[d1, d3]) ..

A convolution with a window of one element is a product then, whose tiles need not end where a row
of the image does, and which groups can keep in memory of their own: a copy is a box of dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..dialects import func, linalg, memref
from ..dialects.linalg.generic import iterators_attribute, maps_attribute
from ..dialects.marks import KERNEL, ON_HOST
from ..dialects.memref.layouts import collapsed_strides
from ..ir.affine import AffineConstant, AffineDim, AffineExpr, AffineMap
from ..ir.builder import Builder
from ..ir.core import Block, Operation, Value
from ..ir.passes import Pass, PassContext, option
from ..ir.types import MemRefType
from ..targets.attribute import target_of


@dataclass(frozen=True)
class MergeDimensions(
    Pass,
    name="merge-dimensions",
    anchor="builtin.module",
    statistics={"dimensions": "Number of dimensions of buffers that were merged with the next"},
):
    """Merge adjacent dimensions of a buffer that all operations of a kernel treat equally.

    Each operation that accesses the buffer must have one loop for each of the two dimensions, one
    directly inside the other, and must not use the two loops in any other way. Their extents are
    constant. This is for devices whose threads run in lockstep; kernels of the host stay as they
    are.
    """

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        machine = target_of(op, self.target).machine
        if machine.together == 1:
            return
        for function in op.body_block:
            if not isinstance(function, func.FuncOp) or KERNEL not in function.attributes:
                continue
            if ON_HOST not in function.attributes and len(function.body.blocks) == 1:
                context.statistic("dimensions", merge(function))


def merge(function: func.FuncOp) -> int:
    """Merge the dimensions of a kernel's buffers. Returns how many are gone."""
    kernel = _Kernel(function)
    kernel.narrow()
    return kernel.rewrite()


class _Kernel:
    """The pairs of adjacent dimensions that a kernel can merge, each named by its first one."""

    def __init__(self, function: func.FuncOp) -> None:
        self.block = function.body.blocks[0]
        made = [op.memref for op in self.block if isinstance(op, memref.Alloc)]
        self.ops = [op for op in self.block if isinstance(op, linalg.Generic)]
        self.copies = [op for op in self.block if isinstance(op, linalg.Copy)]
        self.exprs = {op: [_without_single_steps(op, m) for m in op.maps] for op in self.ops}
        self.loops = {op: _pairs_of_loops(op) for op in self.ops}
        values: list[Value] = [*self.block.args, *made]
        self.buffers = {value: _pairs_of_buffer(value, self.block) for value in values}

    def pairs(self, value: Value) -> set[int]:
        """The pairs of a buffer."""
        return self.buffers.get(value, set())

    def narrow(self) -> None:
        """Drop pairs that some operation treats differently, until all agree."""
        before = -1
        while (count := self._count()) != before:
            before = count
            for op in self.ops:
                for d in list(self.loops[op]):
                    if not all(self._is_one(op, number, d) for number in range(len(op.operands))):
                        self.loops[op].discard(d)
                for value, exprs in zip(op.operands, self.exprs[op], strict=True):
                    for p in list(self.pairs(value)):
                        first, second = exprs[p], exprs[p + 1]
                        if not _follows(first, second) or first.position not in self.loops[op]:  # type: ignore[attr-defined]
                            self.buffers[value].discard(p)
            for op in self.copies:
                source, target = op.operands
                for value, other in ((source, target), (target, source)):
                    if value in self.buffers:
                        self.buffers[value] &= self.pairs(other)

    def _count(self) -> int:
        return sum(map(len, (*self.loops.values(), *self.buffers.values())))

    def _is_one(self, op: linalg.Generic, number: int, d: int) -> bool:
        """Whether loops d and d + 1 index a pair of an operand's dimensions, or none of them."""
        exprs = self.exprs[op][number]
        used = [p for p, expr in enumerate(exprs) if expr.dims_used() & {d, d + 1}]
        if not used:
            return True
        first, second = used[0], used[-1]
        return (
            len(used) == 2
            and second == first + 1
            and exprs[first] == AffineDim(d)
            and exprs[second] == AffineDim(d + 1)
            and first in self.pairs(op.operands[number])
        )

    # -- rewriting -----------------------------------------------------------------------------

    def rewrite(self) -> int:
        """Merge the pairs. Returns how many dimensions are gone."""
        builder = Builder.before_op(next(iter(self.block)))
        for op in self.ops:
            self._rewrite_loops(op)
        gone = 0
        for value, pairs in self.buffers.items():
            if not pairs:
                continue
            gone += len(pairs)
            type = value.type
            assert isinstance(type, MemRefType)
            groups = _groups(type.rank, pairs)
            op = value.defining_op
            users = list(value.uses)
            collapsed = memref.CollapseShape.of(value, groups)
            if op is None:
                merged = builder.insert(collapsed).result
            else:
                instead = memref.Alloc([], [], memref=collapsed.result.type, loc=op.loc)
                collapsed.drop_all_references()
                merged = Builder.before_op(op).insert(instead).memref
                merged.name_hint = value.name_hint
            for user, number in users:
                user.set_operand(number, merged)
            if op is not None:
                op.erase()
        return gone

    def _rewrite_loops(self, op: linalg.Generic) -> None:
        pairs = self.loops[op]
        if not pairs:
            return
        rank = len(op.iterators)
        groups = _groups(rank, pairs)
        number = {d: new for new, group in enumerate(groups) for d in group}
        names: list[AffineExpr] = [AffineDim(number[d]) for d in range(rank)]
        maps = []
        for value, exprs in zip(op.operands, self.exprs[op], strict=True):
            gone = {p + 1 for p in self.pairs(value)}
            left = tuple(e.replace(names) for p, e in enumerate(exprs) if p not in gone)
            maps.append(AffineMap(len(groups), 0, left))
        iterators = [op.iterators[group[0]] for group in groups]
        op.indexing_maps = maps_attribute(maps)
        op.iterator_types = iterators_attribute(iterators)
        for inner in op.walk():
            if isinstance(inner, linalg.Index):
                inner.dim = number[inner.dim]


def _without_single_steps(op: linalg.Generic, map: AffineMap) -> list[AffineExpr]:
    """The subscripts of an operand, with index 0 for loops of one step, such as a
    1 x 1 window's.
    """
    steps: list[AffineExpr] = [
        AffineConstant(0) if extent == 1 else AffineDim(d) for d, extent in enumerate(op.ranges)
    ]
    return [e if isinstance(e, AffineDim) else e.replace(steps) for e in map.results]


def _pairs_of_loops(op: linalg.Generic) -> set[int]:
    """The loops d that may be merged with loop d + 1.

    Both are of one kind, parallel or reduction, their extents are constant and more than 1, and
    the body does not use their index.
    """
    ranges, kinds = op.ranges, op.iterators
    counted = {inner.dim for inner in op.walk() if isinstance(inner, linalg.Index)}
    return {
        d
        for d in range(len(kinds) - 1)
        if kinds[d] == kinds[d + 1]
        and not counted & {d, d + 1}
        and all(isinstance(n, int) and n > 1 for n in ranges[d : d + 2])
    }


def _pairs_of_buffer(value: Value, block: Block) -> set[int]:
    """The dimensions of a buffer that are contiguous with the next one; none if the buffer has
    views, or users outside of the block.
    """
    type = value.type
    if not isinstance(type, MemRefType) or not type.has_static_shape:
        return set()
    plain = linalg.Generic | linalg.Fill | linalg.Copy | memref.Dealloc
    if not all(isinstance(user, plain) and user.parent is block for user, _ in value.uses):
        return set()
    shape: list[int] = list(type.shape)  # type: ignore[arg-type]
    return {
        p
        for p in range(type.rank - 1)
        if min(shape[p : p + 2]) > 1
        and collapsed_strides(type, _groups(type.rank, {p})) is not None
    }


def _follows(first: AffineExpr, second: AffineExpr) -> bool:
    """Whether two subscripts are loops, one right inside the other."""
    return isinstance(first, AffineDim) and second == AffineDim(first.position + 1)


def _groups(rank: int, pairs: set[int]) -> list[list[int]]:
    """The dimensions, those of pairs together."""
    found: list[list[int]] = []
    for d in range(rank):
        if d - 1 in pairs:
            found[-1].append(d)
        else:
            found.append([d])
    return found
