"""Devices of the tests: a GPU like NVIDIA's T4, and a processor as OpenCL shows it.

They have machines and a policy, and no code: kernels go as far as `nn-run`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nnc.artifacts.options import ArtifactOptions, FileKind
from nnc.ir.core import Operation
from nnc.ir.diagnostics import NncError
from nnc.ir.stages import Stage
from nnc.ir.timing import Timed, untimed
from nnc.runtime.program import Program
from nnc.targets.base import Symbols, Target
from nnc.targets.groups import GroupMachine, one_thread

_THREAD = one_thread(48 << 10, gigahertz=1.5, line_bytes=32, l2_bytes=4 << 20, l3_bytes=4 << 20)

T4 = GroupMachine(
    thread=_THREAD,
    cores=40,
    gigahertz=1.59,
    line_bytes=32,
    memory_bandwidth=5.0,
    has_fma=True,
    subgroup=32,
    group_threads=1024,
    core_threads=1024,
    core_groups=16,
    core_registers=65536,
    thread_registers=255,
    units=64.0,
    workgroup_bytes=48 << 10,
    core_workgroup_bytes=64 << 10,
    workgroup_bandwidth=128.0,
    l2_bytes=4 << 20,
    l2_bandwidth=20.0,
    launch_microseconds=3.0,
    copy_bandwidth=12.0,
    costs=_THREAD.costs,
)
"""Source: NVIDIA's Turing tuning guide and T4 data sheet; bandwidths of 320 GB/s and 1.3 TB/s."""

POCL = GroupMachine(
    thread=replace(
        _THREAD,
        vector_bits=256,
        vector_registers=16,
        full_width_units=2,
        unit_bits=256,
        line_bytes=64,
    ),
    cores=4,
    gigahertz=3.0,
    line_bytes=64,
    memory_bandwidth=6.0,
    has_fma=True,
    subgroup=1,
    group_threads=64,
    core_threads=64,
    core_groups=1,
    core_registers=64 * 128,
    thread_registers=128,
    units=16.0,
    workgroup_bytes=32 << 10,
    core_workgroup_bytes=32 << 10,
    workgroup_bandwidth=64.0,
    banks=1,
    l2_bytes=8 << 20,
    l2_bandwidth=32.0,
    launch_microseconds=20.0,
    copy_bandwidth=10.0,
    latency=20,
    costs=_THREAD.costs,
)
"""A processor with AVX2 of 4 cores: a thread is a vector; its own loads run ahead of arithmetic."""


@dataclass(frozen=True, kw_only=True)
class Device(Target):
    """A device that schedules are made for, and nothing else."""

    policy: str = "groups"

    @property
    def stages(self) -> tuple[Stage, ...]:
        return ()

    def emit(self, module: Operation, symbols: Symbols, timed: Timed = untimed) -> bytes:
        raise NncError("it has no code")

    @property
    def files(self) -> Mapping[str, FileKind]:
        return {}

    def write(
        self, program: Program, path: Path, options: ArtifactOptions, timed: Timed = untimed
    ) -> list[Path]:
        raise NncError("it has no code")

    def obstacle(self) -> str | None:
        return "it has no code"

    def load(self, code: bytes, exports: tuple[str, ...]) -> Any:
        raise NncError("it has no code")


TARGETS = (
    Device(name="t4", summary="a GPU of the tests", family="devices", machine=T4),
    Device(name="pocl", summary="a processor seen by OpenCL", family="devices", machine=POCL),
)


def host() -> Target | None:
    """This machine is none of them."""
    return None
