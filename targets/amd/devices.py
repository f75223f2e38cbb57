"""AMD's devices, as their maker describes them.

Sources: the instruction set guides of CDNA 2, CDNA 3 and RDNA 3 (registers of 32 bits of a lane,
64 KiB of LDS a group, 32 banks of 4 bytes, wavefronts of 64 or 32); white papers of CDNA 2 and 3
and data sheets for compute units, clocks, L2 caches and memory:

| | | CUs | GHz | GB/s | L2 |
|---|---|---|---|---|---|
| gfx90a | MI210; one die of MI250X | 104 | 1.7 | 1638 | 8 MB |
| gfx942 | MI300X | 304 | 2.1 | 5300 | 4 MB for each of 8 dies |
| gfx1100 | RX 7900 XTX | 96 | 2.5 | 960 | 6 MB |

A compute unit has 4 SIMDs, each with 512 registers for 64 lanes; on RDNA 3 it has 2, each with
1536 registers for 32 lanes. The L2 cache moves 128 bytes a cycle on each of 16 channels, which
all compute units share evenly.
"""

from __future__ import annotations

from dataclasses import replace

from ..groups import GroupMachine, core_bandwidth, one_thread

_WORKGROUP = 64 << 10

_THREAD = one_thread(
    _WORKGROUP, gigahertz=1.7, l1_bytes=16 << 10, l2_bytes=8 << 20, l3_bytes=8 << 20
)


GFX90A = GroupMachine(
    thread=_THREAD,
    cores=104,
    gigahertz=1.7,
    line_bytes=128,
    memory_bandwidth=core_bandwidth(1638, 104, 1.7),
    has_fma=True,
    subgroup=64,
    group_threads=1024,
    core_threads=2048,
    core_groups=32,
    core_registers=128 << 10,
    thread_registers=256,
    units=64.0,
    workgroup_bytes=_WORKGROUP,
    core_workgroup_bytes=_WORKGROUP,
    workgroup_bandwidth=128.0,
    l2_bytes=8 << 20,
    l2_bandwidth=20.0,
    launch_microseconds=6.0,
    copy_bandwidth=25.0,
    latency=600,
    costs=_THREAD.costs,
)
GFX942 = replace(
    GFX90A,
    cores=304,
    gigahertz=2.1,
    memory_bandwidth=core_bandwidth(5300, 304, 2.1),
    l2_bytes=4 << 20,
    l2_bandwidth=54.0,
    copy_bandwidth=50.0,
)
GFX1100 = replace(
    GFX90A,
    cores=96,
    gigahertz=2.5,
    memory_bandwidth=core_bandwidth(960, 96, 2.5),
    subgroup=32,
    core_threads=1024,
    core_registers=96 << 10,
    units=128.0,
    l2_bytes=6 << 20,
    l2_bandwidth=21.0,
)
