"""Devices that browsers reach by WebGPU, with the limits that all of them have.

A group has 256 threads and 16,384 bytes at most, a kernel 8 buffers, and a buffer that a kernel
sees 128 MiB: WebGPU's default limits (the specification's table of supported limits). The rest are
numbers of a small graphics card, as OpenCL's are. Threads exchange data through memory only:
subgroups are a feature that not every browser has. One of the 8 buffers is reserved for the status
of checks. A kernel may not read a buffer that it writes, not even at another offset: so there is no
arena.
"""

from __future__ import annotations

from dataclasses import replace

from ..costs import BufferCosts
from ..opencl.devices import ANY

_BYTES = 16 << 10
_COSTS = replace(
    ANY.costs, buffers=BufferCosts(stack=_BYTES, loop_stack=_BYTES, padded_row=1 << 30)
)

BROWSER = replace(
    ANY,
    thread=replace(ANY.thread, widest_lane=4, most_lanes=4, costs=_COSTS),
    workgroup_bytes=_BYTES,
    launch_microseconds=20.0,
    copy_bandwidth=5.0,
    has_arena=False,
    most_buffers=7,
    costs=_COSTS,
)
