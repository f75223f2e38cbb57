"""A model's work: kernels with their operations and bytes, memory, and time by target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ...dialects import func, memref, scf
from ...dialects.marks import KERNEL
from ...ir.core import Operation, Value
from ...ir.passes import PassContext, PassManager
from ...ir.types import MemRefType
from ...kernels.kernel_costs import buffer_bytes, kernel_cost
from ...lowering.pipelines import pipeline
from ...memory.memory_plan import Buffer, peak_of
from ...targets.attribute import attach
from ...targets.base import Target
from ...targets.machine import Machine
from ...targets.roofline import Roofline
from ..compile import run_stages
from ..hosting import entry_of

FOLDED_BYTES = 4096
"""The most bytes that are computed at compile time: shapes are, weights are not."""
_PASSES = (
    "canonicalize,outline-regions,fold-constants{limit=%d},infer-shapes,canonicalize,"
    "decompose{level=graph},sink-views,canonicalize,cse,fuse,outline-kernels,cse,lower-to-linalg"
)
"""The passes that make kernels on buffers without a target's layouts and algorithms, so that the
model's own operations are counted."""


@dataclass(frozen=True)
class KernelLoad:
    """One call of a kernel. Units: operations on elements, a multiply-add as two; bytes."""

    operations: int
    weights: int
    activations: int


@dataclass(frozen=True)
class Work:
    """The work of one run. Units: bytes.

    `arena` is the peak memory of intermediate results. Of branches, the one with more operations
    counts; loops count one iteration, and `loops` is their number.
    """

    kernels: tuple[KernelLoad, ...]
    weights: int
    arena: int
    loops: int

    @staticmethod
    def sum(parts: Iterable[Work]) -> Work:
        """The work of several parts, one after the other."""
        parts = list(parts)
        return Work(
            tuple(kernel for one in parts for kernel in one.kernels),
            sum(one.weights for one in parts),
            max((one.arena for one in parts), default=0),
            sum(one.loops for one in parts),
        )

    @property
    def operations(self) -> int:
        return sum(kernel.operations for kernel in self.kernels)

    @property
    def activations(self) -> int:
        """The bytes that kernels read and write, except weights."""
        return sum(kernel.activations for kernel in self.kernels)

    def seconds(self, machine: Machine, threads: int = 1) -> float:
        """The expected seconds of a run on an otherwise idle machine.

        A device's kernels use all of its cores, and each begins with a launch.
        """
        machine = _quiet(machine)
        roofline, all_have = Roofline(machine), machine.least_cores
        threads = max(min(threads, machine.cores), all_have)
        peak = machine.costs.runs.attained * roofline.peak
        least = machine.costs.threads.least_microseconds * machine.cycles_per_microsecond
        resident = self.weights + self.arena
        cycles = 0.0
        for kernel in self.kernels:
            arithmetic = kernel.operations / 2 / peak
            arithmetic /= threads if arithmetic > least else all_have
            weights = kernel.weights / roofline.bandwidth(resident)
            moved = kernel.activations / roofline.bandwidth(kernel.activations)
            cycles += roofline.beside(arithmetic, (weights + moved) / all_have)
            cycles += machine.launch_cycles
        return cycles / machine.cycles_per_microsecond / 1e6


def _quiet(machine: Machine) -> Machine:
    """The machine with the memory bandwidth that it has when nothing else runs."""
    return replace(machine, memory_bandwidth=machine.memory_bandwidth * machine.costs.runs.memory)


def work_of(module: Operation, unknown: int) -> Work:
    """The work of a module of `nn`, which is consumed; unknown extents count as `unknown`.

    Raises NncError.
    """
    passes = pipeline(f"builtin.module({_PASSES % FOLDED_BYTES})")
    PassManager(passes, PassContext(), (), False).run(module)
    return _counted(module, unknown)


def work_on(target: Target, module: Operation, unknown: int) -> Work:
    """The work of a module of `nn`, which is consumed, with a target's layouts and algorithms.

    Folded weights are not computed, so it takes no longer than the passes. Raises NncError.
    """
    attach(module, target)
    run_stages(module, last="bufferize")
    return _counted(module, unknown)


def _counted(module: Operation, unknown: int) -> Work:
    """The work of a module on buffers."""
    weights = sum(
        buffer_bytes(op.type, unknown) or 0
        for op in module.regions[0].ops
        if isinstance(op, memref.Global)
    )
    walk = _Walk(module, unknown)
    entry = entry_of(module)
    kernels = tuple(walk.loads(entry.body.block)) if entry is not None else ()
    arena = walk.arena(entry) if entry is not None else 0
    loops = sum(isinstance(op, scf.While) for op in module.walk())
    return Work(kernels, weights, arena, loops)


class _Walk:
    """Walks through the calls of a module on buffers."""

    def __init__(self, module: Operation, unknown: int) -> None:
        self.unknown = unknown
        self.functions = func.functions_by_name(module)

    def loads(self, ops: Iterable[Operation]) -> Iterator[KernelLoad]:
        """The kernels called by operations, in nested functions and regions too; of a branch, those
        of the side with more operations.
        """
        for op in ops:
            match op:
                case func.Call():
                    called = self.functions[op.callee]
                    if KERNEL in called.attributes:
                        yield self._load(op, called)
                    elif not called.is_declaration:
                        yield from self.loads(called.body.block)
                case scf.If():
                    branches = [list(self.loads(region.ops)) for region in op.regions]
                    yield from max(branches, key=lambda one: sum(k.operations for k in one))
                case _:
                    for region in op.regions:
                        yield from self.loads(region.ops)

    def _load(self, call: func.Call, kernel: func.FuncOp) -> KernelLoad:
        cost = kernel_cost(kernel, self.unknown)
        weights = sum(
            buffer_bytes(v.type, self.unknown) or 0
            for v in call.operands
            if isinstance(v.type, MemRefType) and _is_weight(v)
        )
        return KernelLoad(cost.operations or 0, weights, (cost.bytes or 0) - weights)

    def arena(self, function: func.FuncOp) -> int:
        """The peak memory of a function's buffers, with those of its callees.

        Buffers inside of kernels are left out: schedules keep them in registers and small tiles.
        """
        times = {op: time for time, op in enumerate(function.walk())}
        buffers = []
        for op, time in times.items():
            if isinstance(op, memref.Alloc):
                size = buffer_bytes(op.result.type, self.unknown) or 0
                users = [times[user] for user in op.result.users if user in times]
                buffers.append(Buffer(size, time, max(users, default=time)))
            elif isinstance(op, func.Call):
                called = self.functions[op.callee]
                if not called.is_declaration and KERNEL not in called.attributes:
                    buffers.append(Buffer(self.arena(called), time, time))
        return peak_of(buffers)


def _is_weight(value: Value) -> bool:
    """Whether a value is a constant, or a view of one."""
    op = value.defining_op
    while op is not None and not isinstance(op, memref.GetGlobal | memref.Alloc) and op.operands:
        op = op.operands[0].defining_op
    return isinstance(op, memref.GetGlobal)
