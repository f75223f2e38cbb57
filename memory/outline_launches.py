"""--outline-launches: the code of kernel functions becomes launches of a device's kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..dialects import arith, cf, func, gpu, memref, scf
from ..dialects.marks import IN_PLACE, KERNEL, ON_HOST, THREADS
from ..dialects.memref import base_buffer
from ..ir.attributes import (
    ArrayAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from ..ir.builder import Builder
from ..ir.core import Block, IRMapping, Operation, Value
from ..ir.passes import Pass, PassContext
from ..ir.symbols import new_name, symbol_name
from ..ir.traits import (
    AllocatesMemory,
    ConstantLike,
    ReadsMemory,
    Terminator,
    WritesMemory,
    is_pure,
)
from ..ir.types import MemRefType, VectorType, i64
from ..kernels.codegen.shares.workgroup_memory import is_of_group, move_to_group
from ..kernels.on_host import VALUES_DECIDE, comes_from_memory, host_reads
from ..targets.attribute import target_of
from .captures import captures, is_index_arithmetic
from .parallel_nest import ParallelNest, move_body, product, unflattened
from .side_by_side import put_side_by_side

MODULE = "kernels"


@dataclass(frozen=True)
class OutlineLaunches(
    Pass,
    name="outline-launches",
    anchor="builtin.module",
    statistics={
        "launches": "Number of launches made",
        "host": "Number of kernels left to the host",
    },
):
    """Turn the parallel loops of kernel functions into device functions and launches of them.

        func.func private @f(%a: memref<?x64xf32>) attributes {nn.kernel} {
          %n = memref.dim %a, %c0 : memref<?x64xf32>
          scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c64) step (%c1, %c16) { body(%i, %j, %a) }
            ->
        gpu.module @kernels {
          gpu.func @f_0(%a: memref<?x64xf32>) kernel { body(block_id y, 16 * block_id x, %a) }
        }
        func.func private @f(%a: memref<?x64xf32>) attributes {nn.kernel} {
          %n = memref.dim %a, %c0 : memref<?x64xf32>
          gpu.launch_func @kernels::@f_0 blocks in (%c4, %n, %c1) threads in (%c1, ..) args(%a)

    An iteration of a parallel loop becomes a group, which as a whole has the vectors of the body; a
    later pass divides them among threads. Iterations without vectors, of one thread each, become
    threads that share groups. The last dimension is counted along x, unless the loop
    has a `mapping`, as `schedule.bind` gives it. Workgroup buffers become the kernel's. Operations
    between parallel loops are run by one group. Sizes, allocations and control flow that depends on
    sizes stay on the host. A function whose control flow depends on the contents of memory, or that
    calls others, stays there as a whole. No result of a launch is written over an operand, because
    a thread may read what another one has written.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        kernels = _Kernels(op)
        machine = target_of(op).machine
        for function in list(op.body_block):
            if not isinstance(function, func.FuncOp) or KERNEL not in function.attributes:
                continue
            if (reason := _stays_on_host(function)) is not None:
                function.attributes[ON_HOST] = StringAttr(reason)
                context.statistic("host")
                continue
            kernels.reads = _host_reads(function)
            for block in _host_blocks(function.body.blocks[0]):
                for loop in [one for one in block if isinstance(one, scf.Parallel)]:
                    put_side_by_side(loop, machine)
                for part in _parts(block, kernels.reads):
                    kernels.launch(part, function.sym_name)
                    context.statistic("launches")
                _erase_copied_reads(block)
            for i in range(len(function.args)):
                function.set_arg_attribute(i, IN_PLACE, None)
        kernels.place()


# -- what stays on the host ------------------------------------------------------------------------


def _stays_on_host(function: func.FuncOp) -> str | None:
    """Why the host runs a kernel's function; None if launches do."""
    marked = function.attributes.get(ON_HOST)
    if isinstance(marked, StringAttr):
        return marked.value
    if function.is_declaration or len(function.body.blocks) != 1:
        return "it branches between blocks"
    if any(isinstance(op, func.Call) for op in function.walk()):
        return "it calls other functions"
    reads = _host_reads(function)
    for block in _host_blocks(function.body.blocks[0]):
        if any(host_reads(v) is None for v in _decided_by(block)):
            return VALUES_DECIDE
        if any(_is_used_outside(part) for part in _parts(block, reads)):
            return "what comes next follows from what it computes"
    return None


def _host_blocks(block: Block) -> Iterator[Block]:
    """The block, and the blocks of the loops and branches in it that the host runs."""
    yield block
    for op in block:
        if _is_host_control(op):
            for region in op.regions:
                for inner in region.blocks:
                    yield from _host_blocks(inner)


def _is_host_control(op: Operation) -> bool:
    """Whether an operation is a loop or branch around parallel loops."""
    if not isinstance(op, scf.For | scf.If) or op.results:
        return False
    return any(isinstance(inner, scf.Parallel) for inner in op.walk())


def _decided_by(block: Block) -> Iterator[Value]:
    """The values that the host must know: bounds, conditions, and sizes of buffers."""
    for op in block:
        if _is_launch(op) or _is_host_control(op) or isinstance(op, memref.Alloc):
            yield from op.operands


def _host_reads(function: func.FuncOp) -> set[Operation]:
    """The reads of numbers that the host must know."""
    decided = (v for block in _host_blocks(function.body.blocks[0]) for v in _decided_by(block))
    return {op for value in decided for op in host_reads(value) or ()}


# -- the parts of a block that a device runs -------------------------------------------------------


def _is_launch(op: Operation) -> bool:
    return isinstance(op, scf.Parallel) and not op.results


def _is_host(op: Operation, reads: set[Operation]) -> bool:
    """Whether an operation stays on the host and is cloned into kernels: it does
    not write memory. `reads` are those of the host.
    """
    if isinstance(op, cf.Assert):
        found = host_reads(op.arg)
        return found is not None and found <= reads
    allocates = op.has_trait(AllocatesMemory) and not is_of_group(op)
    return is_pure(op) or allocates or _is_steady_read(op)


def _is_steady_read(op: Operation) -> bool:
    """Whether an operation reads memory that no later operation of its block writes."""
    if not op.has_trait(ReadsMemory) or op.regions:
        return False
    bases = _buffers(op)
    later = op.next
    while later is not None:
        if bases & _written(later):
            return False
        later = later.next
    return True


def _buffers(op: Operation) -> set[Value]:
    return {base_buffer(v) for v in op.operands if isinstance(v.type, MemRefType)}


def _written(op: Operation) -> set[Value]:
    """The buffers that an operation, or one inside it, may write."""
    writers = [inner for inner in op.walk() if inner.has_trait(WritesMemory)]
    return {base for inner in writers for base in _buffers(inner)}


def _is_used_outside(part: Sequence[Operation]) -> bool:
    """Whether an operation outside of this part uses one of its results."""
    inside = set(part)
    return any(
        _outermost(user, op.parent) not in inside
        for op in part
        for result in op.results
        for user, _ in result.uses
    )


def _outermost(op: Operation, block: Block | None) -> Operation:
    """The operation of `block` that contains an operation, or the operation itself."""
    while op.parent is not block:
        assert op.parent_op is not None
        op = op.parent_op
    return op


def _parts(block: Block, reads: set[Operation]) -> list[list[Operation]]:
    """The operations of each launch of a block: a parallel loop, or those between two of them.

    What the host reads ends a launch.
    """
    parts: list[list[Operation]] = []
    between: list[Operation] = []
    made: set[Value] = set()
    written: set[Value] = set()

    def close() -> None:
        if any(not is_pure(op) for op in between):
            parts.append(list(between))
        between.clear()
        made.clear()
        written.clear()

    def is_of_part(op: Operation) -> bool:
        if not _is_host(op, reads) or any(v in made for v in _used(op)):
            return True
        return op.has_trait(ReadsMemory) and bool(_buffers(op) & written)

    for op in block:
        is_end = op.has_trait(Terminator) or isinstance(op, memref.Dealloc)
        if is_end or _is_host_control(op) or op in reads:
            close()
        elif _is_launch(op):
            close()
            parts.append([op])
        elif is_of_part(op):
            between.append(op)
            made.update(op.results)
            written.update(_written(op))
    close()
    return parts


def _used(op: Operation) -> Iterator[Value]:
    for inner in op.walk():
        yield from inner.operands


def _erase_copied_reads(block: Block) -> None:
    """Erase reads, and computations on them, that only kernels used."""
    for op in reversed(list(block)):
        copied = _is_steady_read(op) or any(comes_from_memory(v) for v in op.operands)
        if copied and op.results and not op.regions and not any(r.uses for r in op.results):
            op.erase()


# -- kernels and launches --------------------------------------------------------------------------


@dataclass
class _Kernels:
    """The module of kernels that is being built."""

    module: Operation
    made: gpu.GPUModuleOp = field(init=False)
    names: set[str] = field(default_factory=set)
    reads: set[Operation] = field(default_factory=set)
    """What the host reads in the present function; kernels get the numbers."""

    def __post_init__(self) -> None:
        taken = {symbol_name(op) for op in self.module.body_block}
        name, number = MODULE, 0
        while name in taken:
            name, number = f"{MODULE}_{number}", number + 1
        self.made = gpu.GPUModuleOp.of(name)

    def place(self) -> None:
        """Insert the module of kernels, if any, before the functions that launch them."""
        if not self.names:
            return
        block = self.module.body_block
        assert block.first is not None
        block.insert_before(self.made, block.first)
        self.module.attributes[gpu.CONTAINER] = UnitAttr()

    def launch(self, part: Sequence[Operation], function: str) -> None:
        """Replace a part of a function by the launch of a kernel with its operations."""
        last = part[-1]
        nest = ParallelNest(last) if isinstance(last, scf.Parallel) else None
        passed, cloned = self._needs(part, nest)
        name = new_name(function, self.names)
        builder = Builder.before_op(last)
        one = builder.insert(arith.Constant.index(1)).result
        grid = _grid(nest, builder) if nest is not None else [one] * len(gpu.AXES)
        launch = builder.insert(
            gpu.LaunchFunc(
                [],
                *grid,
                *([one] * len(gpu.AXES)),
                kernelOperands=passed,
                kernel=SymbolRefAttr(self.made.sym_name, (name,)),
            )
        )
        kernel = gpu.GPUFuncOp.of(name, [v.type for v in passed], loc=last.loc)
        self._mark(kernel, passed)
        self.made.body.blocks[0].append(kernel)
        if nest is not None and THREADS in nest.loop.attributes:
            kernel.attributes[THREADS] = nest.loop.attributes[THREADS]
        mapping = IRMapping()
        for value, argument in zip(passed, kernel.args, strict=True):
            mapping[value] = argument
            argument.name_hint = value.name_hint
        body = Builder.at_end(kernel.body.blocks[0], last.loc)
        for value in cloned:
            assert value.defining_op is not None
            if value not in mapping.values:
                body.insert(value.defining_op.clone(mapping))
        if nest is not None:
            places = _places(nest, body, mapping)
            move_body(nest.loop.body_block, kernel.body.blocks[0], places, mapping)
            nest.loop.erase()
        else:
            for op in part:
                body.insert(op.clone(mapping))
            for op in reversed(part):
                op.erase()
        threads = kernel.attributes.get(THREADS)
        if gpu.is_by_thread(kernel) and isinstance(threads, IntegerAttr):
            kernel.known_block_size = (threads.value, 1, 1)
            count = Builder.before_op(launch).insert(arith.Constant.index(threads.value))
            launch.set_threads(count.result)
        Builder.at_end(kernel.body.blocks[0], last.loc).insert(gpu.Return([]))
        if any(map(is_of_group, kernel.walk())):
            move_to_group(kernel, is_of_group)

    def _needs(
        self, part: Sequence[Operation], nest: ParallelNest | None
    ) -> tuple[list[Value], list[Value]]:
        def is_cloned(op: Operation) -> bool:
            return op not in self.reads and _is_cloned(op)

        if nest is None:
            return captures(part, [], is_cloned)
        bounds = [v for lower, _, step in nest.bounds for v in (lower, step)]
        bounds += [nest.bounds[d][1] for dims in _by_axis(nest).values() for d in dims[1:]]
        body = list(nest.loop.region.ops)
        return captures(body, bounds, is_cloned, nest.loop.body_block.args)

    def _mark(self, kernel: gpu.GPUFuncOp, passed: Sequence[Value]) -> None:
        """Mark buffers of a kernel that do not overlap, and set how many threads
        run in lockstep.
        """
        bases = [base_buffer(v) for v in passed if isinstance(v.type, MemRefType)]
        if len(set(bases)) == len(bases):
            kernel.attributes[KERNEL] = UnitAttr()
        machine = target_of(self.module).machine
        if machine.has_groups:
            kernel.attributes[gpu.SUBGROUP] = IntegerAttr(machine.subgroup, i64)


def _is_cloned(op: Operation) -> bool:
    """Whether a kernel gets a clone of an operation: if it is cheap, a view, or no number."""
    if isinstance(op, memref.GetGlobal):
        return False  # Its name means nothing in the module of kernels.
    if op.has_trait(ConstantLike) or is_index_arithmetic(op) or _is_steady_read(op):
        return True
    in_registers = any(isinstance(r.type, VectorType | MemRefType) for r in op.results)
    return is_pure(op) and (in_registers or any(comes_from_memory(r) for r in op.results))


def _axes(nest: ParallelNest) -> list[str]:
    """The axis of each dimension: as the loop's mapping says, or x for the last one."""
    mapping = nest.loop.attributes.get(gpu.MAPPING)
    entries = list(mapping.elements) if isinstance(mapping, ArrayAttr) else []
    axes = [entry.value for entry in entries if isinstance(entry, gpu.BlockMapping)]
    if len(axes) == nest.rank and set(axes) <= set(gpu.AXES):
        return axes
    last = len(gpu.AXES) - 1
    return [gpu.AXES[min(nest.rank - 1 - d, last)] for d in range(nest.rank)]


def _by_axis(nest: ParallelNest) -> dict[str, list[int]]:
    """For each axis, the dimensions that are counted along it, the last of which runs fastest."""
    axes = _axes(nest)
    found = {axis: [d for d, own in enumerate(axes) if own == axis] for axis in gpu.AXES}
    return {axis: dims for axis, dims in found.items() if dims}


def _grid(nest: ParallelNest, builder: Builder) -> list[Value]:
    """The number of groups along x, y and z."""
    lengths = nest.lengths(builder, IRMapping())
    along = {
        axis: product(builder, [lengths[d] for d in dims]) for axis, dims in _by_axis(nest).items()
    }
    if len(along) == len(gpu.AXES):
        return [along[axis] for axis in gpu.AXES]
    one = builder.insert(arith.Constant.index(1)).result
    return [along.get(axis, one) for axis in gpu.AXES]


def _places(nest: ParallelNest, builder: Builder, mapping: IRMapping) -> list[Value]:
    """The values of the loop's induction variables for a group of the grid."""
    numbers: dict[int, Value] = {}
    for axis, dims in _by_axis(nest).items():
        at = builder.insert(gpu.BlockId(axis)).result
        lengths = [n for d in dims[1:] for n in nest.lengths(builder, mapping, d, d + 1)]
        numbers.update(zip(dims, unflattened(builder, at, lengths), strict=True))
    return nest.counters(builder, [numbers[d] for d in range(nest.rank)], mapping)
