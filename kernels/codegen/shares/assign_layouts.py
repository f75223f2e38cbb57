"""--assign-layouts: which thread of a group has which elements of each vector of a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from ....dialects import gpu, vector
from ....dialects.arith import Constant
from ....dialects.marks import THREADS
from ....ir.attributes import ArrayAttr, IntegerAttr, UnitAttr
from ....ir.builder import Builder
from ....ir.core import Block, Operation, Value
from ....ir.passes import Pass, PassContext, option
from ....ir.traits import ConstantLike
from ....ir.types import VectorType
from ....targets.attribute import target_of
from ....targets.transactions import DeviceMemory
from .alignment import Transfer, aligned_width, fastest_first, fastest_lane, lies_apart
from .layouts import LAYOUT, Layout, balanced, in_rows, is_count_of_threads, power_below
from .links import Link, is_vector, links, obstacle, together
from .padding import pad_buffers, padding_of_rows
from .plain import make_plain, through_memory
from .transpositions import transpose_in_workgroup


@dataclass(frozen=True)
class AssignLayouts(
    Pass,
    name="assign-layouts",
    anchor="builtin.module",
    statistics={
        "kernels": "Number of kernels divided among threads",
        "whole": "Number of kernels that one thread of each group runs",
        "conversions": "Number of vectors whose layout is changed through workgroup memory",
    },
):
    """Assign to each vector of a kernel a layout: which thread has which of its elements.

    %v = vector.transfer_read %a[%i, %j], %p : memref<64x96xf32>, vector<64x96xf32>

        ->

    %v = vector.transfer_read %a[%i, %j], %p
        {nn.layout = [[array<i64: 4, 16, 8, 1>, array<i64: 4, 8, 1, 3>]]} : ..

    For each dimension: how many elements that follow one another a thread has, how many threads
    cover it, the stride of their numbers, and how often that repeats; here thread t has rows
    4 * (t / 8 % 16) and the three after it, of these columns 4 * (t % 8) and the three after it,
    and again 32 and 64 columns further.

    Vectors that are read or written are divided along rows: each thread gets as many elements as
    one access moves, and the neighbouring thread the elements next to them in memory, so that a
    subgroup moves whole lines. Results of products are divided into nearly square shares. Values
    that are computed together have one layout; where an operation needs another one, the vector
    goes through a buffer of the group. The sizes of an access and of a line are the target's if it
    is a device. `known_block_size` and the block sizes of launches become the number of threads. A
    kernel with an operation that cannot be divided among threads is left as it is.
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
            kernel_layouts = _Kernel(kernel, most, target_of(kernel).machine.device_memory)
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
    """The vectors of a kernel; those that must have the same layout form a class."""

    kernel: gpu.GPUFuncOp
    most: int
    memory: DeviceMemory
    conversions: int = 0
    _leader: dict[Value, Value] = field(default_factory=dict)
    _layouts: dict[Value, Layout] = field(default_factory=dict)
    _touching: dict[Value, list[Transfer]] = field(default_factory=dict)
    """The transfers of the vectors of each class."""

    def assign(self) -> None:
        """Choose the layouts, insert conversions, and set the attributes."""
        _separate_constants(self.kernel)
        ops = self._joined()
        self.threads = self._threads(ops)
        if self._in_step > 1:
            self.conversions += transpose_in_workgroup(self.kernel, ops, self._of)
            ops = self._joined()
        for op in ops:
            if isinstance(op, Transfer):
                held = op.results[0] if isinstance(op, vector.TransferRead) else op.valueToStore
                self._touching.setdefault(self._of(held), []).append(op)
        found = [link for op in ops for link in links(op)]
        for value, layout in self._seeds(ops):
            self._set(value, layout, found)
        for op in ops:
            self._convert(op)
        pad_buffers(self.kernel, self._layout, self._in_step, self.memory)
        for op in self.kernel.walk():
            self._write_down(op)
        self.kernel.known_block_size = (self.threads, 1, 1)

    def _joined(self) -> list[Operation]:
        """The kernel's operations, after values that they compute together became classes."""
        self._leader.clear()
        ops = [op for op in self.kernel.walk() if op is not self.kernel]
        for op in ops:
            for values in together(op):
                self._join(values)
        return ops

    @property
    def _in_step(self) -> int:
        """How many threads of a subgroup access memory together."""
        return min(self.threads, max(gpu.subgroup_size(self.kernel), self.memory.together))

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
        """How many threads a group has: as the kernel or its schedule says, else one for every two
        elements of the largest vector.
        """
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
        """Values with the layouts that suit them best, the most important first."""
        for op in ops:
            if isinstance(op, vector.Contract) and is_vector(op.results[0]):
                yield op.results[0], self._of_product(op)
        transfers: dict[Value, tuple[Value, Layout]] = {}
        for op in ops:
            if isinstance(op, vector.TransferWrite):
                transfers.setdefault(
                    self._of(op.valueToStore), (op.valueToStore, self._rows(op.valueToStore, op))
                )
        for op in ops:
            if isinstance(op, vector.TransferRead):
                transfers.setdefault(
                    self._of(op.results[0]), (op.results[0], self._rows(op.results[0], op))
                )
        for op in ops:
            if isinstance(op, vector.MultiReduction):
                seed = transfers.get(self._of(op.source))
                yield seed or (op.source, self._rows(op.source))
        yield from transfers.values()
        for op in ops:
            for value in (*op.operands, *op.results):
                if is_vector(value):
                    yield value, self._rows(value)

    def _rows(self, value: Value, op: Transfer | None = None) -> Layout:
        """The layout in which neighbouring threads have elements that are adjacent in memory."""
        shape = value.type.shape  # type: ignore[attr-defined]
        rank = len(shape)
        fastest = list(reversed(range(rank))) if op is None else fastest_first(op, rank)
        width, line = self._width(value), self._line(value)
        if op is not None:
            for other in self._touching.get(self._of(value), ()):
                width = self._accessed(other, width, fastest_lane(op))
        # In workgroup memory, adjacent threads write adjacent rows, which lie in other banks.
        near = isinstance(op, vector.TransferWrite) and gpu.is_workgroup(op.base.type)
        return in_rows(shape, self.threads, fastest, width, line, near)

    def _width(self, value: Value) -> int:
        """How many elements of a vector a thread accesses at once."""
        element = value.type.element_type  # type: ignore[attr-defined]
        return max(1, self.memory.vector_bytes // max(1, getattr(element, "byte_width", 8)))

    def _line(self, value: Value) -> int:
        """How many elements of a vector make one memory transaction."""
        return self._width(value) * self.memory.line_bytes // self.memory.vector_bytes

    def _accessed(self, op: Transfer, width: int, lane: int | None) -> int:
        """How many elements along dimension `lane` a thread should access at once.

        1 if the elements are unaligned or strided: wider accesses would be split, and accesses of
        neighbouring threads could not be coalesced.
        """
        if self._in_step == 1:
            return width
        if lane is None or lies_apart(op, lane):
            return 1
        return aligned_width(op, width, lane)

    def _shared_width(self, product: vector.Contract) -> int:
        """How many elements of a product's rows a thread accesses at once."""
        lhs, rhs, acc = (
            [e.position for e in m.map.results]  # type: ignore[attr-defined]
            for m in product.indexing_maps
        )
        width = self._width(product.results[0])
        for operand, along in ((product.lhs, lhs), (product.rhs, rhs)):
            read = operand.defined_by(vector.TransferRead)
            if read is not None and acc[-1] in along:
                width = self._accessed(read, width, along.index(acc[-1]))
        for op in self._touching.get(self._of(product.results[0]), ()):
            width = self._accessed(op, width, len(acc) - 1)
        return width

    def _of_product(self, product: vector.Contract) -> Layout:
        """Nearly square shares; neighbouring threads together cover a memory line of a row.

        Where rows do not begin at lines, neighbouring threads cover a whole row and continue with
        the next, unless threads would then read more of the operands.
        """
        result = product.results[0]
        shape = result.type.shape  # type: ignore[attr-defined]
        width, line = self._shared_width(product), self._line(result)
        found = balanced(shape, self.threads, width, line)
        if self._begins_anywhere(result, line):
            whole = balanced(shape, self.threads, width, max(line, shape[-1]))
            if _needed(product, whole) <= _needed(product, found):
                return whole
        return found

    def _begins_anywhere(self, value: Value, line: int) -> bool:
        """Whether rows of a vector begin within lines of global memory."""
        last = value.type.rank - 1  # type: ignore[attr-defined]
        return any(
            not gpu.is_workgroup(op.base.type)
            and not lies_apart(op, last)
            and aligned_width(op, line, last) < line
            for op in self._touching.get(self._of(value), ())
        )

    def _set(self, value: Value, layout: Layout, found: list[Link]) -> None:
        """Set the layout of a value's class, if it has none, and those that follow from it."""
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
                new = self._through_memory(
                    Builder.before_op(op), link.value, self._layout(link.value), wanted
                )
                self._layouts[new] = wanted
                op.set_operand(link.number, new)

    def _convert_result(self, op: Operation, link: Link, made: Layout) -> None:
        """Convert a result that the operation makes in another layout than that of its class."""
        result = op.results[link.number]
        twin = op.clone()
        block = op.parent
        assert block is not None
        if isinstance(op, vector.MultiReduction) and isinstance(twin, vector.MultiReduction):
            acc = self._through_memory(Builder.before_op(op), op.acc, self._layout(op.acc), made)
            self._layouts[acc] = made
            twin.set_operand(list(op.operands).index(op.acc), acc)
        block.insert_before(twin, op)
        new = self._through_memory(
            Builder.before_op(op), twin.results[link.number], made, self._layout(result)
        )
        self._layouts[twin.results[link.number]] = made
        self._layouts[new] = self._layout(result)
        result.replace_all_uses_with(new)
        op.erase()

    def _through_memory(self, at: Builder, value: Value, *layouts: Layout) -> Value:
        """The vector, written to a buffer in one layout and read in another one."""
        self.conversions += 1
        type = value.type
        assert isinstance(type, VectorType)
        size = max(1, getattr(type.element_type, "byte_width", 8))
        padding = padding_of_rows(layouts, type.shape, size, self._in_step, self.memory)
        return through_memory(self.kernel, at, value, type.shape, padding)

    def _write_down(self, op: Operation) -> None:
        if not any(is_vector(v) for v in op.results):
            return
        entries = [self._layout(v).attribute() if is_vector(v) else UnitAttr() for v in op.results]
        op.attributes[LAYOUT] = ArrayAttr(tuple(entries))


def _needed(product: vector.Contract, layout: Layout) -> int:
    """How many operand elements a thread reads in each step of a product with this layout."""
    lhs, rhs, acc = ([e.position for e in m.map.results] for m in product.indexing_maps)  # type: ignore[attr-defined]
    each = dict(zip(acc, layout.share, strict=True))
    return sum(prod(each.get(d, 1) for d in along) for along in (lhs, rhs))


def _separate_constants(kernel: gpu.GPUFuncOp) -> None:
    """Copy constant vectors and masks for each user, so that their layouts are independent."""
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
