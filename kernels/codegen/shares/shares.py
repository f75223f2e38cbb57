"""A kernel written anew for one thread: its share of each vector, in place of the vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ....dialects import arith, gpu, memref, scf, ub, vector
from ....dialects.vector.attributes import CombiningKind
from ....ir.affine import AffineDim
from ....ir.attributes import DenseElements
from ....ir.builder import Builder
from ....ir.core import Block, IRMapping, Operation, Region, Value
from ....ir.traits import ConstantLike, Terminator, WritesMemory
from ....ir.types import MemRefType, VectorType, i1, i32, index
from ..combining import combiner_op, identity
from .layouts import LAYOUT, Along, Layout, layouts_of, share_type
from .links import is_elementwise, is_vector, steps_of


class Shares:
    """What each value of a kernel is for one thread.

    Everything that depends on the thread alone is computed once, at the start of the kernel.
    """

    def __init__(self, kernel: gpu.GPUFuncOp) -> None:
        assert kernel.known_block_size is not None
        self.kernel = kernel
        self.threads = int(kernel.known_block_size[0])
        self.subgroup = min(gpu.subgroup_size(kernel), self.threads)
        self.mapping = IRMapping()
        self.layouts: dict[Value, Layout] = {}
        self._offsets: dict[Along, Value] = {}
        self._numbers: dict[int, Value] = {}
        self._buffers: dict[MemRefType, Value] = {}

    def distribute(self) -> None:
        """Replace the kernel's body by that of a thread."""
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
                deal(self, op, at)

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
        """What the thread has of a value."""
        return self.mapping[value]

    def set(self, value: Value, share: Value) -> None:
        """Say what the thread has of a value."""
        self.mapping[value] = share
        share.name_hint = share.name_hint or value.name_hint

    def put(
        self, op: Operation, at: Builder, types: Sequence[Any], regions: Sequence[Region] = ()
    ) -> Operation:
        """The operation on shares."""
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
        """The types of what the thread has of an operation's results."""
        return [self._type(v, layout) for v, layout in zip(op.results, layouts_of(op), strict=True)]

    def number(self, value: int) -> Value:
        """An index constant."""
        if value not in self._numbers:
            self._numbers[value] = self._at_start(arith.Constant.index(value, self.kernel.loc))
        return self._numbers[value]

    def offset(self, along: Along) -> Value | None:
        """Where the thread's share begins along a dimension; None at the beginning."""
        if along.threads == 1:
            return None
        if along not in self._offsets:
            place = self._bits(along.stride, along.threads)
            by = self.number(along.each)
            self._offsets[along] = (
                self._at_start(arith.MulI(place, by)) if along.each > 1 else place
            )
        return self._offsets[along]

    def _bits(self, stride: int, count: int) -> Value:
        """`count` values of the thread's number, from a stride on."""
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
        """Whether the thread is the first of those that differ in other bits; None for all."""
        condition: Value | None = None
        for stride, count in runs(self.threads - 1 & ~bits):
            place = self._bits(stride, count)
            here = self._at_start(arith.CmpI("eq", place, self.number(0)))
            condition = here if condition is None else self._at_start(arith.AndI(condition, here))
        return condition

    def buffer(self, type: MemRefType) -> Value:
        """A buffer of the group for what passes between its threads."""
        if type not in self._buffers:
            self._buffers[type] = self._at_start(memref.Alloca([], [], memref=type))
        return self._buffers[type]

    def without(self, bits: int) -> Value:
        """The thread's number with bits cleared."""
        value = self.thread
        for stride, count in runs(bits):
            place = self._bits(stride, count)
            if stride > 1:
                place = self._at_start(arith.MulI(place, self.number(stride)))
            value = self._at_start(arith.SubI(value, place))
        return value


def runs(bits: int) -> Iterator[tuple[int, int]]:
    """The runs of adjacent bits in a number: the lowest bit's value, and 2 to their count."""
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


# -- the rules -------------------------------------------------------------------------------------


def deal(shares: Shares, op: Operation, at: Builder) -> None:
    """Write an operation without regions for one thread."""
    rule = _RULES.get(type(op))
    touched = [v for v in (*op.operands, *op.results) if is_vector(v)]
    if rule is not None and touched:
        rule(shares, op, at)
    elif is_elementwise(op) and touched:
        shares.put(op, at, shares.result_types(op))
    elif op.has_trait(ConstantLike) and touched:
        _constant(shares, op, at)
    elif op.has_trait(WritesMemory) and not touched:
        _alone(shares, op, at)
    else:
        shares.put(op, at, op.result_types)


def _guarded(shares: Shares, bits: int, at: Builder, loc: Any) -> Builder:
    """Where operations go that one of the threads with the same elements carries out."""
    condition = shares.is_first_of(bits)
    if condition is None:
        return at
    inside = Block()
    branch = scf.If(condition, Region([inside]), Region(), outs=[], loc=loc)
    at.insert(branch)
    inside.append(scf.Yield(loc=loc))
    return Builder.before_op(inside.last)  # type: ignore[arg-type]


def _alone(shares: Shares, op: Operation, at: Builder) -> None:
    """What all threads would do alike to memory, one does."""
    inside = at if op.results else _guarded(shares, 0, at, op.loc)
    shares.put(op, inside, op.result_types)


def _constant(shares: Shares, op: Operation, at: Builder) -> None:
    (type,) = shares.result_types(op)
    if isinstance(op, ub.Poison):
        shares.put(op, at, [type])
        return
    value = op.properties["value"]
    assert isinstance(value, DenseElements)
    if not value.is_splat:
        _table(shares, op, value, at)
        return
    splat = DenseElements(type, value.data)
    made = op.create([], [type], {}, {"value": splat}, (), [], op.loc)
    at.insert(made)
    shares.set(op.results[0], made.results[0])
    shares.layouts[op.results[0]] = layouts_of(op)[0]  # type: ignore[assignment]


def _table(shares: Shares, op: Operation, value: DenseElements, at: Builder) -> None:
    """A constant whose elements grow evenly: its first one, and steps along each dimension."""
    (layout,), (type,) = layouts_of(op), shares.result_types(op)
    found = steps_of(value)
    assert found is not None and layout is not None
    first, steps = found
    element = type.element_type
    total = at.insert(arith.Constant.of(first, type)).result
    for d, (along, step) in enumerate(zip(layout.dims, steps, strict=True)):
        if not step:
            continue
        row = VectorType((along.each,), index)
        places = at.insert(vector.Step(result=row)).results[0]
        offset = shares.offset(along)
        if offset is not None:
            start = at.insert(vector.Broadcast(offset, vector=row)).results[0]
            places = at.insert(arith.AddI(places, start)).result
        if element is not index:
            places = at.insert(arith.IndexCast(places, out=VectorType(row.shape, element))).results[
                0
            ]
        by = at.insert(arith.Constant.of(step, places.type)).result
        grown = at.insert(arith.MulI(places, by)).result
        column = VectorType((along.each, *[1] * (len(steps) - d - 1)), element)
        grown = at.insert(vector.ShapeCast(grown, result=column)).results[0]
        grown = at.insert(vector.Broadcast(grown, vector=type)).results[0]
        total = at.insert(arith.AddI(total, grown)).result
    shares.layouts[op.results[0]] = layout
    shares.set(op.results[0], total)


def _same(shares: Shares, op: Operation, at: Builder) -> None:
    shares.put(op, at, shares.result_types(op))


def _step(shares: Shares, op: vector.Step, at: Builder) -> None:
    made = shares.put(op, at, shares.result_types(op))
    offset = shares.offset(shares.layout(op.results[0]).dims[0])
    if offset is not None:
        here = at.insert(vector.Broadcast(offset, vector=made.results[0].type)).results[0]
        shares.set(op.results[0], at.insert(arith.AddI(made.results[0], here)).results[0])


def _mask(shares: Shares, op: Any, at: Builder) -> None:
    (layout,), (type,) = layouts_of(op), shares.result_types(op)
    assert layout is not None
    if isinstance(op, vector.CreateMask):
        sizes = [shares.of(size) for size in op.sizes]
    else:
        sizes = [shares.number(size) for size in op.mask_dim_sizes]
    shares.layouts[op.results[0]] = layout
    shares.set(op.results[0], _bounded(shares, layout.dims, sizes, type, at))


def _bounded(
    shares: Shares, dims: Sequence[Along], sizes: Sequence[Value], type: Any, at: Builder
) -> Value:
    """The mask of a share's elements that are before the sizes, counted in the whole vector."""
    left = []
    for along, size in zip(dims, sizes, strict=True):
        offset = shares.offset(along)
        left.append(size if offset is None else at.insert(arith.SubI(size, offset)).result)
    return at.insert(vector.CreateMask(left, result=type)).results[0]


def _within(
    shares: Shares, dims: Sequence[Along], shape: Sequence[int], mask: Value | None, at: Builder
) -> Value | None:
    """A mask without what lies beyond the vector in the last thread's share."""
    if all(a.each * a.threads == n for a, n in zip(dims, shape, strict=True)):
        return mask
    type = VectorType(tuple(a.each for a in dims), i1)
    own = _bounded(shares, dims, [shares.number(n) for n in shape], type, at)
    return own if mask is None else at.insert(arith.AndI(mask, own)).result


def _transfer(shares: Shares, op: Any, at: Builder) -> None:
    reads = isinstance(op, vector.TransferRead)
    held = op.results[0] if reads else op.valueToStore
    layout = layouts_of(op)[0] if reads else shares.layout(held)
    assert layout is not None
    lanes = {e.position: lane for lane, e in enumerate(op.map.results) if isinstance(e, AffineDim)}
    indices = []
    for position, value in enumerate(op.indices):
        i, lane = shares.of(value), lanes.get(position)
        offset = shares.offset(layout.dims[lane]) if lane is not None else None
        indices.append(i if offset is None else at.insert(arith.AddI(i, offset)).result)
    ordered = [lanes[position] for position in sorted(lanes)]
    mask = shares.of(op.mask) if op.mask is not None else None
    dims = [layout.dims[lane] for lane in ordered]
    mask = _within(shares, dims, [held.type.shape[lane] for lane in ordered], mask, at)
    flags, base = list(op.bounds), shares.of(op.base)
    if reads:
        (type,) = shares.result_types(op)
        new = vector.TransferRead.of(
            base, indices, shares.of(op.padding), type, op.map, flags, mask
        )
        new.loc = op.loc
        shares.layouts[held] = layout
        shares.set(held, at.insert(new).results[0])
    else:
        inside = _guarded(shares, layout.bits, at, op.loc)
        inside.insert(
            vector.TransferWrite.of(shares.of(held), base, indices, op.map, flags, mask)
        ).loc = op.loc


def _row(shares: Shares, op: Any, at: Builder) -> None:
    """Masked reads and writes of rows, gathers and scatters."""
    held = next(v for v in (*op.results, *op.operands) if is_vector(v))
    layout = layouts_of(op)[0] if op.results else shares.layout(held)
    assert layout is not None
    mapping = dict(shares.mapping.values)
    mask = _within(shares, layout.dims, held.type.shape, shares.of(op.mask), at)
    shares.mapping[op.mask] = mask  # type: ignore[assignment]
    if isinstance(op, vector.MaskedLoad | vector.MaskedStore):
        offset = shares.offset(layout.dims[0])
        last = op.indices[-1]
        if offset is not None:
            shares.mapping[last] = at.insert(arith.AddI(shares.of(last), offset)).result
    inside = at if op.results else _guarded(shares, layout.bits, at, op.loc)
    shares.put(op, inside, shares.result_types(op))
    for value in op.operands:
        shares.mapping[value] = mapping[value]


def _reduction(shares: Shares, op: vector.MultiReduction, at: Builder) -> None:
    source, layout = shares.of(op.source), shares.layout(op.source)
    shape, dims = op.source.type.shape, list(op.reduction_dims)
    element, kind = op.source.type.element_type, op.kind
    beyond = any(layout.dims[d].each * layout.dims[d].threads != shape[d] for d in dims)
    if beyond:
        mask = _within(shares, layout.dims, shape, None, at)
        neutral = at.insert(arith.Constant.of(identity(kind, element), source.type)).result
        source = at.insert(arith.Select(mask, source, neutral)).result  # type: ignore[arg-type]
    (type,) = shares.result_types(op)
    start = at.insert(arith.Constant.of(identity(kind, element), type)).result
    total = at.insert(
        vector.MultiReduction(CombiningKind(kind).value, source, start, tuple(dims), loc=op.loc)
    ).results[0]
    total = _over_threads(shares, total, sum(layout.dims[d].bits for d in dims), kind, at)
    combine = combiner_op(kind, element)
    done = at.insert(combine(total, shares.of(op.acc))).results[0]  # type: ignore[call-arg]
    if is_vector(op.results[0]):
        shares.layouts[op.results[0]] = layouts_of(op)[0]  # type: ignore[assignment]
    shares.set(op.results[0], done)


def _over_threads(shares: Shares, value: Value, bits: int, kind: str, at: Builder) -> Value:
    """The values of all threads that differ in these bits, combined, in each of them."""
    near = bits & (shares.subgroup - 1)
    if near:
        value = _over_subgroup(shares, value, near, kind, at)
    far = bits & ~near
    return _over_group(shares, value, far, kind, at) if far else value


def _over_subgroup(shares: Shares, value: Value, bits: int, kind: str, at: Builder) -> Value:
    type = value.type
    element = getattr(type, "element_type", type)
    is_flat = not isinstance(type, VectorType) or type.rank == 1
    flat = value
    if not is_flat:
        row = VectorType((type.num_elements,), element)  # type: ignore[attr-defined]
        flat = at.insert(vector.ShapeCast(value, result=row)).results[0]
    combine = combiner_op(kind, element)
    width = at.insert(arith.Constant.of(shares.subgroup, i32)).result
    bit = 1
    while bit <= bits:
        if bits & bit:
            by = at.insert(arith.Constant.of(bit, i32)).result
            other = at.insert(gpu.Shuffle(flat, by, width, "xor")).results[0]
            flat = at.insert(combine(flat, other)).results[0]  # type: ignore[call-arg]
        bit *= 2
    return flat if is_flat else at.insert(vector.ShapeCast(flat, result=type)).results[0]


def _over_group(shares: Shares, value: Value, bits: int, kind: str, at: Builder) -> Value:
    """By way of a buffer in which each thread has a row."""
    type = value.type
    element = getattr(type, "element_type", type)
    shape = type.shape if isinstance(type, VectorType) else ()
    buffer_type = MemRefType((shares.threads, *shape), element)
    buffer = shares.buffer(buffer_type)
    zeros = [shares.number(0)] * len(shape)
    padding = at.insert(arith.Constant.of(0, element)).result

    def read(row: Value) -> Value:
        if not shape:
            return at.insert(memref.Load(buffer, [row])).results[0]
        new = vector.TransferRead.of(buffer, [row, *zeros], padding, type)  # type: ignore[arg-type]
        return at.insert(new).results[0]

    if shape:
        at.insert(vector.TransferWrite.of(value, buffer, [shares.thread, *zeros]))
    else:
        at.insert(memref.Store(value, buffer, [shares.thread]))
    first = shares.without(bits)
    combine = combiner_op(kind, element)
    total: Value | None = None
    for number in subsets(bits):
        row = first
        if number:
            row = at.insert(arith.AddI(first, shares.number(number))).result
        other = read(row)
        total = other if total is None else at.insert(combine(total, other)).results[0]  # type: ignore[call-arg]
    assert total is not None
    return total


def subsets(bits: int) -> Iterator[int]:
    """All numbers that have no other bits, in order."""
    number = 0
    while True:
        yield number
        number = (number - bits) & bits
        if not number:
            return


_Rule = Callable[[Shares, Any, Builder], None]
_RULES: dict[type[Operation], _Rule] = {
    vector.Broadcast: _same,
    vector.Transpose: _same,
    vector.Contract: _same,
    vector.Step: _step,
    vector.CreateMask: _mask,
    vector.ConstantMask: _mask,
    vector.TransferRead: _transfer,
    vector.TransferWrite: _transfer,
    vector.Gather: _row,
    vector.Scatter: _row,
    vector.MaskedLoad: _row,
    vector.MaskedStore: _row,
    vector.MultiReduction: _reduction,
}
