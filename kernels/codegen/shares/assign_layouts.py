"""--assign-layouts: which thread of a group has which elements of each vector of a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from ....dialects import gpu, memref, scf, vector
from ....dialects.arith import Constant
from ....dialects.marks import THREADS
from ....ir.affine import AffineDim
from ....ir.attributes import ArrayAttr, IntegerAttr, UnitAttr
from ....ir.builder import Builder
from ....ir.core import Block, Operation, Value
from ....ir.passes import Pass, PassContext, option
from ....ir.traits import ConstantLike
from ....ir.types import MemRefType
from .layouts import LAYOUT, Layout, balanced, in_rows, is_count_of_threads, power_below
from .links import Link, is_elementwise, is_vector, links, obstacle
from .plain import make_plain


@dataclass(frozen=True)
class AssignLayouts(
    Pass,
    name="assign-layouts",
    anchor="builtin.module",
    statistics={
        "kernels": "Number of kernels dealt out over threads",
        "whole": "Number of kernels that one thread of each group runs",
        "conversions": "Number of vectors that change their layout by way of memory",
    },
):
    """Say of every vector of a kernel which thread has which elements, for `distribute-tiles`.

    %v = vector.transfer_read %a[%i, %j], %p : memref<64x96xf32>, vector<64x96xf32>

        ->

    %v = vector.transfer_read %a[%i, %j], %p
        {nn.layout = [[array<i64: 8, 8, 16>, array<i64: 6, 16, 1>]]} : ..

    For each dimension: how many elements a thread has, how many threads cover it, and the stride
    of their numbers. Products get shares as long as wide, what is read and written shares along
    rows; values that are computed together have one layout, and where an operation asks for
    another, the vector goes through a buffer of the group. `known_block_size`, and what
    launches say, becomes the number of threads. A kernel with an operation that cannot be dealt
    out is left as it is.
    """

    numerics = "rounding"

    threads: int = option(128, help="threads of a group, at most; a power of two", least=1)

    def run(self, op: Operation, context: PassContext) -> None:
        most = power_below(self.threads)
        for kernel in [k for k in op.walk() if isinstance(k, gpu.GPUFuncOp)]:
            if gpu.is_by_thread(kernel) or any(LAYOUT in o.attributes for o in kernel.walk()):
                continue
            size = kernel.known_block_size
            if size is not None and not is_count_of_threads(size):
                context.statistic("whole")
                continue
            make_plain(kernel)
            if any(obstacle(inner) for inner in kernel.walk()):
                context.statistic("whole")
                continue
            kernel_layouts = _Kernel(kernel, most)
            kernel_layouts.assign()
            context.statistic("kernels")
            context.statistic("conversions", kernel_layouts.conversions)
        for launch in [inner for inner in op.walk() if isinstance(inner, gpu.LaunchFunc)]:
            found = gpu.find_kernel(op, launch.kernel)
            if found is not None and found.known_block_size is not None:
                size = Constant.index(int(found.known_block_size[0]), launch.loc)
                launch.set_threads(Builder.before_op(launch).insert(size).result)


@dataclass
class _Kernel:
    """The vectors of a kernel, in groups of those that have one layout."""

    kernel: gpu.GPUFuncOp
    most: int
    conversions: int = 0
    _leader: dict[Value, Value] = field(default_factory=dict)
    _layouts: dict[Value, Layout] = field(default_factory=dict)

    def assign(self) -> None:
        """Choose the layouts, insert conversions, write all down."""
        _separate_constants(self.kernel)
        ops = [op for op in self.kernel.walk() if op is not self.kernel]
        for op in ops:
            for values in _together(op):
                self._join(values)
        self.threads = self._threads(ops)
        found = [link for op in ops for link in links(op)]
        for value, layout in self._seeds(ops):
            self._set(value, layout, found)
        for op in ops:
            self._convert(op)
        for op in self.kernel.walk():
            self._write_down(op)
        self.kernel.known_block_size = (self.threads, 1, 1)

    # -- groups --------------------------------------------------------------------------------

    def _join(self, values: list[Value]) -> None:
        first, *rest = [self._of(v) for v in values] or [None]
        for other in rest:
            if other is not first:
                self._leader[other] = first  # type: ignore[index, assignment]

    def _of(self, value: Value) -> Value:
        while (leader := self._leader.get(value)) is not None:
            value = leader
        return value

    def _threads(self, ops: list[Operation]) -> int:
        """What the kernel or its schedule says, else two elements of the largest vector each."""
        if self.kernel.known_block_size is not None:
            return int(self.kernel.known_block_size[0])
        wanted = self.kernel.attributes.get(THREADS)
        if isinstance(wanted, IntegerAttr) and wanted.value > 0:
            return power_below(wanted.value)
        sizes = [prod(v.type.shape) for op in ops for v in op.results if is_vector(v)]  # type: ignore[attr-defined]
        sizes += [
            prod(op.valueToStore.type.shape) for op in ops if isinstance(op, vector.TransferWrite)
        ]
        return min(self.most, power_below(max(1, max(sizes, default=1) // 2)))

    # -- layouts -------------------------------------------------------------------------------

    def _seeds(self, ops: list[Operation]) -> Iterator[tuple[Value, Layout]]:
        """Values with the layouts that they would like, the most important first."""
        for op in ops:
            if isinstance(op, vector.Contract) and is_vector(op.results[0]):
                yield op.results[0], balanced(op.results[0].type.shape, self.threads)  # type: ignore[attr-defined]
        for op in ops:
            if isinstance(op, vector.MultiReduction):
                yield op.source, self._rows(op.source)
        for op in ops:
            if isinstance(op, vector.TransferWrite):
                yield op.valueToStore, self._rows(op.valueToStore, op)
            elif isinstance(op, vector.TransferRead):
                yield op.results[0], self._rows(op.results[0], op)
        for op in ops:
            for value in (*op.operands, *op.results):
                if is_vector(value):
                    yield value, self._rows(value)

    def _rows(
        self, value: Value, op: vector.TransferRead | vector.TransferWrite | None = None
    ) -> Layout:
        """Neighbours in memory to neighbouring threads."""
        shape = value.type.shape  # type: ignore[attr-defined]
        fastest = list(reversed(range(len(shape))))
        if op is not None:
            where = {
                lane: e.position
                for lane, e in enumerate(op.map.results)
                if isinstance(e, AffineDim)
            }
            fastest.sort(key=lambda lane: -where.get(lane, -1))
        width = getattr(value.type.element_type, "byte_width", 8)  # type: ignore[attr-defined]
        return in_rows(shape, self.threads, fastest, max(1, 16 // max(1, width)))

    def _set(self, value: Value, layout: Layout, found: list[Link]) -> None:
        """Give a group its layout, where it has none, and those that follow from it theirs."""
        waiting = [(value, layout)]
        while waiting:
            value, layout = waiting.pop()
            leader = self._of(value)
            if leader in self._layouts:
                continue
            self._layouts[leader] = layout
            for link in found:
                if self._of(link.like) is leader:
                    waiting.append((link.value, link.layout(layout)))

    def _layout(self, value: Value) -> Layout:
        return self._layouts[self._of(value)]

    # -- conversions ---------------------------------------------------------------------------

    def _convert(self, op: Operation) -> None:
        for link in list(links(op)):
            wanted = link.layout(self._layout(link.like))
            if self._layout(link.value) == wanted:
                continue
            if link.is_result:
                self._convert_result(op, link, wanted)
            else:
                new = self._through_memory(Builder.before_op(op), link.value)
                self._layouts[new] = wanted
                op.set_operand(link.number, new)

    def _convert_result(self, op: Operation, link: Link, made: Layout) -> None:
        """The operation makes its result in a layout that is not that of its group."""
        result = op.results[link.number]
        twin = op.clone()
        block = op.parent
        assert block is not None
        block.insert_before(twin, op)
        new = self._through_memory(Builder.before_op(op), twin.results[link.number])
        self._layouts[twin.results[link.number]] = made
        self._layouts[new] = self._layout(result)
        result.replace_all_uses_with(new)
        op.erase()

    def _through_memory(self, builder: Builder, value: Value) -> Value:
        """The same vector, written to a buffer of the group and read again."""
        type = value.type
        entry = Builder.before_op(self.kernel.body.blocks[0].first)  # type: ignore[arg-type]
        memory = MemRefType(type.shape, type.element_type)  # type: ignore[attr-defined]
        buffer = entry.insert(memref.Alloca([], [], memref=memory)).results[0]
        zero = builder.insert(Constant.index(0)).result
        at = [zero] * memory.rank
        write = vector.TransferWrite.of(value, buffer, at)
        builder.insert(write)
        padding = builder.insert(Constant.of(0, memory.element_type)).result
        read = vector.TransferRead.of(buffer, at, padding, type)  # type: ignore[arg-type]
        self.conversions += 1
        return builder.insert(read).results[0]

    def _write_down(self, op: Operation) -> None:
        if not any(is_vector(v) for v in op.results):
            return
        entries = [self._layout(v).attribute() if is_vector(v) else UnitAttr() for v in op.results]
        op.attributes[LAYOUT] = ArrayAttr(tuple(entries))


def _together(op: Operation) -> Iterator[list[Value]]:
    """The values of an operation that have one layout."""
    match op:
        case scf.For():
            for i, result in enumerate(op.results):
                if is_vector(result):
                    yield [result, op.inits[i], op.iter_args[i], op.yielded[i]]
        case scf.If():
            for i, result in enumerate(op.results):
                if is_vector(result):
                    ends = [region.blocks[0].last for region in op.regions]
                    yield [result, *(end.operands[i] for end in ends if end is not None)]
        case vector.Contract():
            if is_vector(op.results[0]):
                yield [op.results[0], op.acc]
        case vector.MultiReduction():
            if is_vector(op.results[0]):
                yield [op.results[0], op.acc]
        case vector.Gather() | vector.MaskedLoad() | vector.Scatter() | vector.MaskedStore():
            yield [v for v in (*op.operands, *op.results) if is_vector(v)]
        case _ if is_elementwise(op):
            yield [v for v in (*op.operands, *op.results) if is_vector(v)]


def _separate_constants(kernel: gpu.GPUFuncOp) -> None:
    """Give each reader of a constant vector, or of a mask, its own: they cost nothing."""
    for op in list(kernel.walk()):
        if not _is_free(op) or not is_vector(op.results[0]):
            continue
        result = op.results[0]
        for user, number in list(result.uses)[1:]:
            twin = op.clone()
            block: Block | None = op.parent
            assert block is not None
            block.insert_before(twin, op)
            user.set_operand(number, twin.results[0])


def _is_free(op: Operation) -> bool:
    if isinstance(op, vector.Broadcast):
        return not is_vector(op.source)
    return op.has_trait(ConstantLike) or isinstance(
        op, vector.CreateMask | vector.ConstantMask | vector.Step
    )
