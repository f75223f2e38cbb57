"""OpenCL: kernels as text that the driver of any device compiles."""

from __future__ import annotations

from ctypes.util import find_library
from dataclasses import dataclass
from pathlib import Path

from ...ir.core import Operation
from ..device.target import DeviceTarget
from ..groups import GroupMachine
from ..source.kernels import Kernels
from . import devices

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

    def obstacle(self) -> str | None:
        if find_library("OpenCL") is None:
            return "no libOpenCL is here: install the driver of a device (on Debian, PoCL)"
        return super().obstacle()

    def replaces_kernels(self, threads: int) -> bool:
        return self.obstacle() is None

    def code_of(self, kernels: Operation) -> Kernels:
        from .language import opencl_kernels

        return opencl_kernels(kernels)


def host() -> None:
    """None: this machine counts as its processor, never as an OpenCL device."""


def _named(name: str, summary: str, machine: GroupMachine) -> OpenClTarget:
    return OpenClTarget(name=name, summary=summary, family="opencl", machine=machine)


TARGETS = (
    _named("opencl", "OpenCL 1.2: any device with a driver", devices.ANY),
    _named("opencl-mali", "OpenCL for Arm's Mali (G710): phones, boards", devices.MALI),
    _named("opencl-intel", "OpenCL for Intel's Xe graphics", devices.INTEL),
    _named("opencl-cpu", "OpenCL for processors: PoCL, Intel's runtime", devices.CPU),
)
