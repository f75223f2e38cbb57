"""WebGPU: kernels as WGSL, which browsers and native implementations compile."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ...artifacts.options import ArtifactOptions
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ..device.target import DeviceTarget
from ..groups import GroupMachine
from ..source.kernels import Kernels
from . import devices

if TYPE_CHECKING:
    from ...runtime.program import LinkedCode

_HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class WebGpuTarget(DeviceTarget):
    """WGSL; here it runs by the package `wgpu` on any driver of Vulkan, Metal or Direct3D."""

    @property
    def code_suffix(self) -> str:
        return ".wgsl"

    @property
    def source(self) -> Path:
        return _HERE / "webgpu.c"

    def code_of(self, kernels: Operation) -> Kernels:
        from .printer import wgsl_kernels

        return wgsl_kernels(kernels)

    def check_file(self, path: Path, options: ArtifactOptions) -> None:
        if options.bindings or path.suffix in (".a", self.caller.library):
            raise NncError(
                f"a library for '{self.name}' needs WebGPU from the program around it; "
                f"here the kernels can be written, as {self.code_suffix}"
            )
        super().check_file(path, options)

    def obstacle(self) -> str | None:
        if find_spec("wgpu") is None:
            return "the package 'wgpu' is not installed (pip install nnc[webgpu])"
        return super().obstacle()

    def load(self, code: bytes, exports: tuple[str, ...]) -> LinkedCode:
        self.check_runs_here()
        from .running import load_webgpu_code

        return load_webgpu_code(self, code)


def host() -> None:
    """No machine is one of WebGPU alone."""


def _named(name: str, summary: str, machine: GroupMachine) -> WebGpuTarget:
    return WebGpuTarget(name=name, summary=summary, family="webgpu", machine=machine)


TARGETS = (_named("webgpu", "WebGPU: browsers; here any driver of Vulkan", devices.BROWSER),)
