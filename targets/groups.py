"""Descriptions of devices that run groups of threads: GPUs, and devices that OpenCL presents so."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .costs import BufferCosts, Costs, LayoutCosts
from .machine import Machine, Memory
from .processor import Processor


@dataclass(frozen=True, kw_only=True)
class GroupMachine(Machine):
    """A device whose cores run groups of threads; each group has memory of its own.

    A core is NVIDIA's multiprocessor, OpenCL's compute unit, AMD's workgroup processor. Units:
    bytes, threads, cycles of a core; bandwidths in bytes per cycle of one core.
    """

    thread: Processor
    """What one thread looks like to a compiler: the vectors it loads at once, its registers, its
    arithmetic. Its caches are not looked at."""
    sector_bytes: int = 0
    """What an access to memory moves at least, where that is less than a line; 0: a line."""
    subgroup: int
    """Threads that exchange values (warp, wavefront); 1 where there is no such thing."""
    in_step: int = 1
    """Threads that step together at least, and whose accesses memory takes as one, where they
    exchange nothing; a subgroup's do anyway."""
    group_threads: int
    """Threads that a group may have."""
    core_threads: int
    """Threads that are at home on a core at once, of all its groups."""
    core_groups: int
    """Groups that are at home on a core at once."""
    core_registers: int
    """Registers of 32 bits of a core, which its threads share."""
    thread_registers: int
    """Registers of 32 bits that one thread may have."""
    units: float
    """Multiply-adds in f32 that a core starts in a cycle."""
    workgroup_bytes: int
    """Memory that one group may have for itself (shared, local, threadgroup memory)."""
    core_workgroup_bytes: int
    """The same of a core, which its groups share."""
    workgroup_bandwidth: float
    cache_bytes: int = 16 << 10
    """The first cache of a core."""
    cache_bandwidth: float = 64.0
    banks: int = 32
    """Words of 4 bytes that workgroup memory hands out at once; threads of a subgroup that want
    two of one bank wait for each other."""
    l2_bytes: int
    l2_bandwidth: float
    memory_bytes: int
    launch_microseconds: float
    """From one launch to the next that waits for it."""
    copy_bandwidth: float
    """Between the host's memory and the device's. Units: gigabytes per second."""
    latency: int = 500
    """Cycles until what is read from memory is there."""
    costs: Costs = field(default_factory=lambda: Costs(layouts=LayoutCosts(block=1)))

    @property
    def moved_bytes(self) -> int:
        """The least number of bytes that a memory access moves."""
        return self.sector_bytes or self.line_bytes

    @property
    def together(self) -> int:
        """How many threads execute in lockstep."""
        return max(self.subgroup, self.in_step)

    @property
    def makes_borders(self) -> bool:
        return self.together > 1

    @property
    def least_cores(self) -> int:
        return self.cores

    @property
    def launch_cycles(self) -> float:
        return self.launch_microseconds * self.cycles_per_microsecond

    @property
    def program(self) -> Processor:
        return self.thread

    def lanes(self, element_bytes: int) -> int:
        """1, as neighbouring threads hold neighbouring elements: no layout has to gather them."""
        return 1

    @property
    def multiply_adds(self) -> float:
        return self.units

    @property
    def nearest_memory(self) -> Memory:
        return Memory(self.workgroup_bytes, self.workgroup_bandwidth)

    @property
    def private_memory(self) -> Memory:
        return Memory(self.core_workgroup_bytes, self.workgroup_bandwidth)

    @property
    def shared_memory(self) -> Memory:
        return Memory(self.l2_bytes, self.l2_bandwidth)


def core_bandwidth(gigabytes: float, cores: int, gigahertz: float) -> float:
    """One core's share of a bandwidth, in bytes per cycle of that core.

    `gigabytes` is what all `cores` move together in a second; a core runs at `gigahertz`.
    """
    return gigabytes / cores / gigahertz


_THREAD = Processor(
    cores=1,
    gigahertz=1.0,
    vector_bits=128,
    vector_registers=64,
    full_width_units=0.25,
    unit_bits=32,
    fma_latency=4,
    loads_per_cycle=1,
    load_bytes_per_cycle=16,
    has_fma=True,
    has_masks=True,
    has_broadcast_operands=False,
    has_heap=False,
    line_bytes=128,
    memory_bandwidth=1.0,
    l1_bytes=32 << 10,
    l1_way_bytes=4 << 10,
    l2_bytes=1 << 20,
    l3_bytes=1 << 20,
    l2_bandwidth=1.0,
    l3_bandwidth=1.0,
)


def one_thread(workgroup_bytes: int, **known: Any) -> Processor:
    """A thread of a device as a processor: it loads 16 bytes at once and computes lane by lane.

    A kernel's buffers are in workgroup memory, of which a group has `workgroup_bytes`. `known` are
    the fields of `Processor` in which the device differs from others.
    """
    buffers = BufferCosts(stack=workgroup_bytes, loop_stack=workgroup_bytes, padded_row=1 << 30)
    costs = Costs(layouts=LayoutCosts(block=1), buffers=buffers)
    return replace(_THREAD, costs=costs, **known)
