"""Devices that OpenCL supports, by their makers' descriptions.

`ANY` has the least that the specification asks for where that limits a kernel, and otherwise the
numbers of a small graphics card. Threads exchange data through memory only: shuffles are an
extension. A vector has 16 elements at most. On Mali and on processors, workgroup memory is cached
memory like any other. Sources: Arm's Mali-G710 performance counter guide and OpenCL developer
guide; Intel's Xe-LP architecture overview (Iris Xe of 96 units). Bandwidths between host and
device: PCIe 3.0, or memory that both share.
"""

from __future__ import annotations

from dataclasses import replace

from ..costs import GroupCosts, LayoutCosts
from ..groups import GroupMachine, one_thread

_THREAD = one_thread(32 << 10, line_bytes=64, most_lanes=16)

ANY = GroupMachine(
    thread=_THREAD,
    cores=16,
    gigahertz=1.2,
    line_bytes=64,
    memory_bandwidth=8.0,
    has_fma=True,
    has_f64=False,
    subgroup=1,
    in_step=32,
    group_threads=256,
    core_threads=1024,
    core_groups=16,
    core_registers=64 << 10,
    thread_registers=128,
    units=64.0,
    workgroup_bytes=32 << 10,
    core_workgroup_bytes=64 << 10,
    workgroup_bandwidth=128.0,
    cache_bytes=16 << 10,
    cache_bandwidth=64.0,
    l2_bytes=2 << 20,
    l2_bandwidth=24.0,
    launch_microseconds=8.0,
    copy_bandwidth=10.0,
    costs=_THREAD.costs,
)
MALI = replace(
    ANY,
    cores=10,
    gigahertz=0.85,
    memory_bandwidth=5.0,
    in_step=16,
    core_threads=1024,
    core_registers=32 << 10,
    thread_registers=64,
    workgroup_bandwidth=32.0,
    cache_bandwidth=32.0,
    core_workgroup_bytes=32 << 10,
    launch_microseconds=20.0,
    copy_bandwidth=20.0,
)
INTEL = replace(
    ANY,
    cores=6,
    gigahertz=1.3,
    memory_bandwidth=9.0,
    in_step=16,
    core_threads=1792,
    core_registers=112 << 10,
    units=128.0,
    core_workgroup_bytes=128 << 10,
    l2_bytes=3840 << 10,
    copy_bandwidth=20.0,
    launch_microseconds=10.0,
)
CPU = replace(
    ANY,
    has_f64=True,
    thread=replace(
        _THREAD,
        vector_bits=256,
        most_lanes=16,
        vector_registers=16,
        full_width_units=2,
        unit_bits=256,
        line_bytes=64,
        has_masks=False,
    ),
    cores=4,
    gigahertz=3.0,
    memory_bandwidth=6.0,
    in_step=1,
    group_threads=64,
    core_threads=64,
    core_groups=1,
    core_registers=64 * 128,
    units=16.0,
    core_workgroup_bytes=32 << 10,
    workgroup_bandwidth=64.0,
    cache_bytes=32 << 10,
    cache_bandwidth=64.0,
    banks=1,
    l2_bytes=8 << 20,
    l2_bandwidth=32.0,
    launch_microseconds=20.0,
    latency=20,
    costs=replace(
        _THREAD.costs,
        layouts=LayoutCosts(block=16),
        groups=GroupCosts(barrier_cycles=600, registers_filled=0.95, side=12),
    ),
)
"""A processor with AVX2, whose loads run ahead of arithmetic. Threads of a group run one after the
other, and write their registers to memory at barriers. Measured on PoCL 3.1: a product takes five
times as long with its operands in workgroup memory, 32 results a thread. Channels in blocks of 16
leave no lanes beyond an edge, which would need conditions; a thread's part is up to 12 vectors of
sums, which leaves registers for operands."""
