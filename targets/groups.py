"""Descriptions of devices that run groups of threads: GPUs, and devices that OpenCL presents so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from .costs import BufferCosts, Costs, LayoutCosts
from .machine import Machine, Memory
from .processor import Processor
from .transactions import DeviceMemory


@dataclass(frozen=True, kw_only=True)
class GroupMachine(Machine):
    """A device whose cores run groups of threads; each group has memory of its own.

    A core is NVIDIA's multiprocessor, OpenCL's compute unit, AMD's workgroup processor. Units:
    bytes, threads, cycles of a core; bandwidths in bytes per cycle of one core.
    """

    thread: Processor
    """One thread as compilers see it: its vector loads, registers and arithmetic. Caches are
    ignored."""
    sector_bytes: int = 0
    """The least bytes that an access to memory moves, if less than a line; 0 for a line."""
    in_step: int = 1
    """Without subgroups: the least number of threads that run in lockstep, whose accesses to memory
    are merged. The threads of a subgroup always run in lockstep."""
    group_threads: int
    """The most threads of a group."""
    core_threads: int
    """The most threads resident on a core, over all its groups."""
    core_groups: int
    """The most groups resident on a core."""
    core_registers: int
    """The 32-bit registers of a core, which its threads share."""
    thread_registers: int
    """The most 32-bit registers of one thread."""
    units: float
    """The f32 multiply-adds that a core starts in a cycle."""
    workgroup_bytes: int
    """The most workgroup memory (shared, local or threadgroup memory) of one group."""
    core_workgroup_bytes: int
    """The workgroup memory of a core, which its groups share."""
    workgroup_bandwidth: float
    cache_bytes: int = 16 << 10
    """The size of a core's L1 cache."""
    cache_bandwidth: float = 64.0
    banks: int = 32
    """The number of banks of workgroup memory, each 4 bytes wide: threads of a subgroup that access
    different words of one bank wait for each other."""
    l2_bytes: int
    l2_bandwidth: float
    launch_microseconds: float
    """The time from one launch to the next one that depends on it."""
    copy_bandwidth: float
    """The bandwidth between the host's memory and the device's. Units: gigabytes per second."""
    latency: int = 500
    """The latency of a load from memory. Units: cycles."""
    costs: Costs = field(default_factory=lambda: Costs(layouts=LayoutCosts(block=1)))
    WHAT_IF: ClassVar[Mapping[str, str]] = {
        "memory_bandwidth": "memory bandwidth",
        "l2_bandwidth": "bandwidth of the L2 cache",
        "cache_bandwidth": "bandwidth of the L1 cache",
        "workgroup_bandwidth": "bandwidth of workgroup memory",
        "core_workgroup_bytes": "workgroup memory",
        "units": "arithmetic units",
        "latency": "latency of memory",
        "launch_microseconds": "time of a launch",
        "cores": "cores",
    }

    @property
    def moved_bytes(self) -> int:
        return self.sector_bytes or self.line_bytes

    @property
    def has_groups(self) -> bool:
        return True

    @property
    def together(self) -> int:
        return max(self.subgroup, self.in_step)

    @property
    def work_while_waiting(self) -> float:
        return self.latency * self.cores * self.units if self.together > 1 else 0.0

    @property
    def device_memory(self) -> DeviceMemory:
        vector_bytes = self.thread.vector_bits // 8
        return DeviceMemory(vector_bytes, self.moved_bytes, self.banks, together=self.together)

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
        """1: neighbouring threads hold neighbouring elements, so layouts need no blocks."""
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
    has_heap=False,
    divides_lanes=True,
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
