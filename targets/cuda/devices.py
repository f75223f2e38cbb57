"""NVIDIA's devices, as their maker describes them.

Sources: CUDA C++ programming guide, "Compute capabilities", for what a group, a thread and a
multiprocessor have; the best practices guide, "Coalesced access to global memory", for lines of
four sectors of 32 bytes, of which an access moves those that it touches; the tuning guides of
each architecture (banks of 4 bytes, 32 of them; groups of 48 KiB of shared memory without asking
for more); architecture whitepapers for multiprocessors, clocks (boost), L2 caches and memory:

| | whitepaper or data sheet | SMs | GHz | GB/s | L2 |
|---|---|---|---|---|---|
| sm_75 | T4 | 40 | 1.59 | 320 | 4 MB |
| sm_80 | A100 40 GB | 108 | 1.41 | 1555 | 40 MB |
| sm_86 | RTX 3080 | 68 | 1.71 | 760 | 5 MB |
| sm_89 | RTX 4090 | 128 | 2.52 | 1008 | 72 MB |
| sm_90 | H100 SXM | 132 | 1.98 | 3350 | 50 MB |
| sm_100 | B200 | 148 | 1.97 | 8000 | 126 MB |
| sm_120 | RTX 5090 | 170 | 2.41 | 1792 | 96 MB |
| sm_121 | GB10 (DGX Spark) | 48 | 2.4 | 273 | 24 MB |

The L2 cache's bandwidth is the A100's 5120 bytes a cycle, 47 per multiprocessor; for others it
is taken to be alike, and less where the cache is small. The bandwidths of copies are those of 16
lanes of PCIe 3, 4 or 5, and on GB10 that of the memory which host and device share.
"""

from __future__ import annotations

from dataclasses import replace

from ..groups import GroupMachine, core_bandwidth, one_thread

_WORKGROUP = 48 << 10
"""The most bytes of shared memory that a kernel can declare statically."""

_THREAD = one_thread(
    _WORKGROUP, gigahertz=1.41, l1_bytes=128 << 10, l2_bytes=4 << 20, l3_bytes=4 << 20
)


SM80 = GroupMachine(
    thread=_THREAD,
    cores=108,
    gigahertz=1.41,
    line_bytes=128,
    sector_bytes=32,
    memory_bandwidth=core_bandwidth(1555, 108, 1.41),
    has_fma=True,
    subgroup=32,
    group_threads=1024,
    core_threads=2048,
    core_groups=32,
    core_registers=64 << 10,
    thread_registers=255,
    units=64.0,
    workgroup_bytes=_WORKGROUP,
    core_workgroup_bytes=164 << 10,
    workgroup_bandwidth=128.0,
    l2_bytes=40 << 20,
    l2_bandwidth=47.0,
    launch_microseconds=3.0,
    copy_bandwidth=25.0,
    latency=470,
    costs=_THREAD.costs,
)
SM75 = replace(
    SM80,
    cores=40,
    gigahertz=1.59,
    memory_bandwidth=core_bandwidth(320, 40, 1.59),
    core_threads=1024,
    core_groups=16,
    core_workgroup_bytes=64 << 10,
    l2_bytes=4 << 20,
    l2_bandwidth=32.0,
    copy_bandwidth=12.0,
)
SM86 = replace(
    SM80,
    cores=68,
    gigahertz=1.71,
    memory_bandwidth=core_bandwidth(760, 68, 1.71),
    core_threads=1536,
    core_groups=16,
    units=128.0,
    core_workgroup_bytes=100 << 10,
    l2_bytes=5 << 20,
    l2_bandwidth=32.0,
)
SM89 = replace(
    SM86,
    cores=128,
    gigahertz=2.52,
    memory_bandwidth=core_bandwidth(1008, 128, 2.52),
    core_groups=24,
    l2_bytes=72 << 20,
)
SM90 = replace(
    SM80,
    cores=132,
    gigahertz=1.98,
    memory_bandwidth=core_bandwidth(3350, 132, 1.98),
    units=128.0,
    core_workgroup_bytes=228 << 10,
    l2_bytes=50 << 20,
    copy_bandwidth=50.0,
)
SM100 = replace(
    SM90,
    cores=148,
    gigahertz=1.97,
    memory_bandwidth=core_bandwidth(8000, 148, 1.97),
    l2_bytes=126 << 20,
)
SM120 = replace(
    SM86,
    cores=170,
    gigahertz=2.41,
    memory_bandwidth=core_bandwidth(1792, 170, 2.41),
    core_groups=24,
    l2_bytes=96 << 20,
    copy_bandwidth=50.0,
)
SM121 = replace(
    SM120,
    cores=48,
    gigahertz=2.4,
    memory_bandwidth=core_bandwidth(273, 48, 2.4),
    l2_bytes=24 << 20,
    copy_bandwidth=100.0,
)
