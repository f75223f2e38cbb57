"""OpenCL: kernels as text that the driver of any device compiles."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...ir.core import Operation
from ..costs import Costs
from ..device.target import DeviceTarget
from ..groups import GroupMachine
from ..processor import Processor
from ..source.kernels import Kernels

_HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class OpenClTarget(DeviceTarget):
    """OpenCL C, built by the driver when a model is first run."""

    @property
    def code_suffix(self) -> str:
        return ".cl"

    @property
    def source(self) -> Path:
        return _HERE / "opencl.c"

    def code_of(self, kernels: Operation) -> Kernels:
        from .language import opencl_kernels

        return opencl_kernels(kernels)


def host() -> None:
    """No machine is one of OpenCL alone."""


_THREAD = Processor(
    vector_bits=128,
    vector_registers=64,
    full_width_units=1,
    unit_bits=128,
    fma_latency=4,
    loads_per_cycle=1,
    load_bytes_per_cycle=16,
    has_fma=True,
    has_masks=True,
    has_broadcast_operands=True,
    widest_lane=8,
    issue_width=2,
    line_bytes=64,
    l1_bytes=32 << 10,
    l1_way_bytes=4 << 10,
    l2_bytes=512 << 10,
    l3_bytes=4 << 20,
    l2_bandwidth=32.0,
    l3_bandwidth=16.0,
    memory_bandwidth=16.0,
    cores=1,
    gigahertz=1.0,
    costs=Costs(),
)
_ANY = GroupMachine(
    cores=8,
    gigahertz=1.0,
    line_bytes=64,
    memory_bandwidth=16.0,
    has_fma=True,
    thread=_THREAD,
    subgroup=1,
    group_threads=128,
    core_threads=1024,
    core_groups=16,
    core_registers=64 << 10,
    thread_registers=128,
    units=64.0,
    workgroup_bytes=32 << 10,
    core_workgroup_bytes=64 << 10,
    workgroup_bandwidth=128.0,
    l2_bytes=1 << 20,
    l2_bandwidth=32.0,
    memory_bytes=2 << 30,
    launch_microseconds=10.0,
    copy_bandwidth=8.0,
)
"""What any device of some years has: the least that the specification asks for, and usual sizes."""

TARGETS = (
    OpenClTarget(
        name="opencl",
        summary="OpenCL 1.2, any device: GPUs, and processors by PoCL or Intel's runtime",
        family="opencl",
        machine=_ANY,
    ),
)
