"""CUDA: kernels as PTX, which the drivers of newer devices can compile too."""

from __future__ import annotations

from ctypes.util import find_library
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ..groups import GroupMachine
from ..llvm.kernels import KernelTarget
from ..llvm.threads import Threads
from . import devices
from .threads import CudaThreads

_HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class CudaTarget(KernelTarget):
    """PTX, compiled by the driver when a model is first run."""

    triple: ClassVar[str] = "nvptx64-nvidia-cuda"
    asks: ClassVar[Threads] = CudaThreads()

    @property
    def code_suffix(self) -> str:
        return ".ptx"

    @property
    def source(self) -> Path:
        return _HERE / "cuda.c"

    def obstacle(self) -> str | None:
        if find_library("cuda") is None:
            return "no libcuda is here: install NVIDIA's driver"
        return super().obstacle()

    def made(self, text: str) -> bytes:
        return self.generated(text, "assembly")


def host() -> None:
    """None: this machine counts as its processor, never as a CUDA device."""


def _named(
    name: str, summary: str, machine: GroupMachine, architecture: str, ptx: int
) -> CudaTarget:
    """A target for an architecture; `ptx` is the first version of PTX that supports it."""
    return CudaTarget(
        name=name,
        summary=summary,
        family="cuda",
        machine=machine,
        cpu=architecture,
        features=f"+ptx{ptx}",
    )


TARGETS = (
    _named("cuda", "CUDA: any NVIDIA GPU since 2018", devices.SM86, "sm_75", 63),
    _named("cuda-sm75", "CUDA: Turing (T4, RTX 20)", devices.SM75, "sm_75", 63),
    _named("cuda-sm80", "CUDA: Ampere (A100, A30)", devices.SM80, "sm_80", 70),
    _named("cuda-sm86", "CUDA: Ampere (RTX 30, A10)", devices.SM86, "sm_86", 71),
    _named("cuda-sm89", "CUDA: Ada (RTX 40, L4, L40)", devices.SM89, "sm_89", 78),
    _named("cuda-sm90", "CUDA: Hopper (H100, H200)", devices.SM90, "sm_90", 78),
    _named("cuda-sm100", "CUDA: Blackwell (B200)", devices.SM100, "sm_100", 86),
    _named("cuda-sm120", "CUDA: Blackwell (RTX 50)", devices.SM120, "sm_120", 87),
    _named("cuda-sm121", "CUDA: Blackwell (DGX Spark)", devices.SM121, "sm_121", 88),
)
