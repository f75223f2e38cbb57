"""AMD: kernels as code objects, each for one architecture."""

from __future__ import annotations

import subprocess
import sys
from ctypes.util import find_library
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from ...artifacts.options import IR, ArtifactOptions
from ...ir.diagnostics import NncError
from ..groups import GroupMachine
from ..llvm.kernels import KernelTarget
from ..llvm.threads import Threads
from . import devices
from .threads import AmdThreads

_HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class AmdTarget(KernelTarget):
    """A device whose kernels are code objects, which HIP loads."""

    triple: ClassVar[str] = "amdgcn-amd-amdhsa"
    asks: ClassVar[Threads] = AmdThreads()

    @property
    def code_suffix(self) -> str:
        return ".s"

    @property
    def source(self) -> Path:
        return _HERE / "hip.c"

    def obstacle(self) -> str | None:
        if find_library("amdhip64") is None:
            return "no libamdhip64 is here: install ROCm"
        return super().obstacle()

    def check_file(self, path: Path, options: ArtifactOptions) -> None:
        super().check_file(path, options)
        if path.suffix not in (self.code_suffix, IR):
            check_linker()

    def made(self, text: str) -> bytes:
        return linked(self.generated(text, "object"))


def check_linker() -> None:
    """Raise NncError if no linker for code objects is installed."""
    if not find_spec("ziglang"):
        raise NncError("code objects need a linker: `pip install 'nnc[cross]'`")


def linked(code: bytes) -> bytes:
    """The code object linked from an object file. Raises NncError."""
    check_linker()
    with TemporaryDirectory(prefix="nnc-") as folder:
        source, made = Path(folder) / "kernels.o", Path(folder) / "kernels.hsaco"
        source.write_bytes(code)
        command = [sys.executable, "-m", "ziglang", "ld.lld", "-shared", "-o", made, source]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NncError(f"the kernels do not link: {done.stderr.strip()}")
        return made.read_bytes()


def host() -> None:
    """None: this machine counts as its processor, never as an AMD device."""


def _named(name: str, summary: str, machine: GroupMachine) -> AmdTarget:
    return AmdTarget(name=f"amd-{name}", summary=summary, family="amd", machine=machine, cpu=name)


TARGETS = (
    _named("gfx90a", "AMD Instinct MI200 (MI210, MI250)", devices.GFX90A),
    _named("gfx942", "AMD Instinct MI300", devices.GFX942),
    _named("gfx1100", "AMD Radeon RX 7900", devices.GFX1100),
)
