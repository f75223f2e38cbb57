"""A kernel rewritten for one thread, which has its share of each vector in place of the vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ....dialects import arith, gpu, memref, scf, vector
from ....ir.builder import Builder
from ....ir.core import Block, IRMapping, Operation, Region, Value
from ....ir.traits import Terminator
from ....ir.types import MemRefType, VectorType
from .layouts import LAYOUT, Along, Layout, layouts_of, share_type

Rule = Callable[["Shares", Any, Builder], None]
"""How an operation is written for one thread, at the place of a builder."""


class Shares:
    """Rewrites a kernel for one thread, and maps each of its values to the thread's share.

    Everything that depends on the thread alone is computed once, at the start of the kernel. `rule`
    rewrites operations without regions.
    """

    def __init__(self, kernel: gpu.GPUFuncOp, rule: Rule) -> None:
        assert kernel.known_block_size is not None
        self.kernel = kernel
        self._rule = rule
        self.threads = int(kernel.known_block_size[0])
        self.subgroup = min(gpu.subgroup_size(kernel), self.threads)
        self.mapping = IRMapping()
        self.layouts: dict[Value, Layout] = {}
        self._offsets: dict[Along, Value] = {}
        self._numbers: dict[int, Value] = {}
        self._buffers: dict[MemRefType, Value] = {}
        self._pieces: dict[Value, Mapping[tuple[int, ...], Value]] = {}

    def distribute(self) -> None:
        """Replace the kernel's body by the code of one thread."""
        old = self.kernel.body.blocks[0]
        new = Block([arg.type for arg in old.args])
        for before, after in zip(old.args, new.args, strict=True):
            self.mapping[before] = after
            after.name_hint = before.name_hint
        self.start: Operation = gpu.ThreadId("x", loc=self.kernel.loc)
        new.append(self.start)
        self.thread = self.start.results[0]
        self._ops(old, new)
        region = Region([new])
        for op in reversed(list(old)):
            op.erase()
        self.kernel.regions = (region,)
        region.parent = self.kernel

    def _ops(self, old: Block, new: Block) -> None:
        for op in old:
            at = Builder.at_end(new, op.loc)
            if op.has_trait(Terminator):
                at.insert(op.clone(self.mapping))
            elif op.regions:
                self._structured(op, at)
            else:
                self._rule(self, op, at)

    def _structured(self, op: Operation, at: Builder) -> None:
        layouts = layouts_of(op)
        types = [self._type(v, layout) for v, layout in zip(op.results, layouts, strict=True)]
        regions = []
        for region in op.regions:
            regions.append(Region())
            for block in region.blocks:
                new = regions[-1].append(Block())
                first = len(block.args) - len(types)
                for i, arg in enumerate(block.args):
                    carried = isinstance(op, scf.For) and i >= first
                    twin = new.add_arg(types[i - first] if carried else arg.type, arg.loc)
                    twin.name_hint = arg.name_hint
                    self.mapping[arg] = twin
                    if carried and layouts[i - first] is not None:
                        self.layouts[arg] = layouts[i - first]  # type: ignore[assignment]
                self._ops(block, new)
        self.put(op, at, types, regions)

    @staticmethod
    def _type(value: Value, layout: Layout | None) -> Any:
        type = value.type
        return (
            share_type(type, layout)
            if layout is not None and isinstance(type, VectorType)
            else type
        )

    # -- what the rules for operations use -----------------------------------------------------

    def layout(self, value: Value) -> Layout:
        """The layout of a vector."""
        return self.layouts[value]

    def of(self, value: Value) -> Value:
        """The share that stands for a value."""
        return self.mapping[value]

    def set(self, value: Value, share: Value) -> None:
        """Set the share that stands for a value."""
        self.mapping[value] = share
        share.name_hint = share.name_hint or value.name_hint

    def put(
        self, op: Operation, at: Builder, types: Sequence[Any], regions: Sequence[Region] = ()
    ) -> Operation:
        """Insert the operation with shares as operands."""
        attributes = {k: v for k, v in op.attributes.items() if k != LAYOUT}
        operands = [self.of(v) for v in op.operands]
        made = op.create(operands, types, attributes, op.properties, regions, [], op.loc)
        at.insert(made)
        for before, after, layout in zip(op.results, made.results, layouts_of(op), strict=True):
            self.set(before, after)
            if layout is not None:
                self.layouts[before] = layout
        return made

    def result_types(self, op: Operation) -> list[Any]:
        """The types of the shares of an operation's results."""
        return [self._type(v, layout) for v, layout in zip(op.results, layouts_of(op), strict=True)]

    def piece(self, share: Value, layout: Layout, place: tuple[int, ...], at: Builder) -> Value:
        """One piece of a share: elements that are contiguous in the whole vector."""
        if layout.runs == layout.share:
            return share
        if share in self._pieces:
            return self._pieces[share][place]
        return at.insert(vector.ExtractStridedSlice.of(share, place, layout.runs)).results[0]

    def join(self, pieces: Mapping[tuple[int, ...], Value], type: VectorType, at: Builder) -> Value:
        """The share that consists of these pieces, given by their first index in it."""
        if len(pieces) == 1:
            return next(iter(pieces.values()))
        share = at.insert(arith.Constant.of(0, type)).result
        for place, piece in pieces.items():
            share = at.insert(vector.InsertStridedSlice.of(piece, share, place)).results[0]
        self._pieces[share] = pieces
        return share

    def number(self, value: int) -> Value:
        """A constant of type index."""
        if value not in self._numbers:
            self._numbers[value] = self._at_start(arith.Constant.index(value, self.kernel.loc))
        return self._numbers[value]

    def offset(self, along: Along) -> Value | None:
        """Where the thread's share begins along a dimension; None at the beginning."""
        if along.threads == 1:
            return None
        along = Along(along.run, along.threads, along.stride)
        if along not in self._offsets:
            place = self._bits(along.stride, along.threads)
            by = self.number(along.run)
            self._offsets[along] = self._at_start(arith.MulI(place, by)) if along.run > 1 else place
        return self._offsets[along]

    def is_set(self, bit: int) -> Value:
        """Whether a bit is set in the thread's number."""
        return self._at_start(arith.CmpI("ne", self._bits(bit, 2), self.number(0)))

    def _bits(self, stride: int, count: int) -> Value:
        """The bits of the thread's number from `stride` on, as its index among `count` threads."""
        value = self.thread
        if stride > 1:
            value = self._at_start(arith.DivUI(value, self.number(stride)))
        if stride * count < self.threads:
            value = self._at_start(arith.RemUI(value, self.number(count)))
        return value

    def _at_start(self, op: Operation) -> Value:
        block = self.start.parent
        assert block is not None
        op.loc = self.kernel.loc
        block.insert_after(op, self.start)
        self.start = op
        return op.results[0]

    def is_first_of(self, bits: int) -> Value | None:
        """Whether all bits of the thread's number outside `bits` are 0; None if always true."""
        condition: Value | None = None
        for stride, count in runs(self.threads - 1 & ~bits):
            place = self._bits(stride, count)
            here = self._at_start(arith.CmpI("eq", place, self.number(0)))
            condition = here if condition is None else self._at_start(arith.AndI(condition, here))
        return condition

    def buffer(self, type: MemRefType) -> Value:
        """A buffer of the group through which its threads exchange values."""
        if type not in self._buffers:
            self._buffers[type] = self._at_start(memref.Alloca([], [], memref=type))
        return self._buffers[type]

    def without(self, bits: int) -> Value:
        """The thread's number with these bits cleared."""
        value = self.thread
        for stride, count in runs(bits):
            place = self._bits(stride, count)
            if stride > 1:
                place = self._at_start(arith.MulI(place, self.number(stride)))
            value = self._at_start(arith.SubI(value, place))
        return value


def runs(bits: int) -> Iterator[tuple[int, int]]:
    """(value of the lowest bit, 2 to the number of bits) of each run of adjacent bits."""
    at = 1
    while at <= bits:
        if bits & at:
            count = 1
            while bits & (at * count):
                count *= 2
            yield at, count
            at *= count
        else:
            at *= 2
