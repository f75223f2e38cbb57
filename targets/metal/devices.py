"""Apple's GPUs, by its data and by published measurements.

Sources: Apple's Metal feature set tables (groups of 1024 threads, 32 KiB of threadgroup memory,
family Apple 7 and 8); P. Turner's metal-benchmarks (cores of 128 lanes, 208 KiB of registers, 60
KiB of threadgroup memory, subgroups of 32, clocks, caches); Apple's data sheets (8 and 10 cores, 68
and 100 GB/s). Host and device share memory, so that the processor copies between them.
"""

from __future__ import annotations

from dataclasses import replace

from ..groups import GroupMachine, one_thread

_THREAD = one_thread(
    32 << 10,
    gigahertz=1.278,
    vector_registers=32,
    fma_latency=3,
    l1_bytes=8 << 10,
    l2_bytes=768 << 10,
    l3_bytes=8 << 20,
)

M1 = GroupMachine(
    thread=_THREAD,
    cores=8,
    gigahertz=1.278,
    line_bytes=128,
    memory_bandwidth=6.6,
    has_fma=True,
    has_f64=False,
    subgroup=32,
    group_threads=1024,
    core_threads=1024,
    core_groups=16,
    core_registers=52 << 10,
    thread_registers=128,
    units=128.0,
    workgroup_bytes=32 << 10,
    core_workgroup_bytes=60 << 10,
    workgroup_bandwidth=128.0,
    l2_bytes=768 << 10,
    l2_bandwidth=32.0,
    launch_microseconds=4.0,
    copy_bandwidth=30.0,
    costs=_THREAD.costs,
)
M2 = replace(
    M1, cores=10, gigahertz=1.398, memory_bandwidth=7.1, l2_bytes=1 << 20, copy_bandwidth=40.0
)
