"""WebGPU: kernels as WGSL, which browsers and native implementations compile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ...artifacts.options import ArtifactOptions, FileKind
from ...dialects import gpu
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.timing import Timed, untimed
from ..base import Symbols, Target, TrialCode, target
from ..device.target import DeviceTarget, computes_in_f64
from ..llvm.target import LlvmTarget
from ..source.kernels import Kernels
from . import devices

if TYPE_CHECKING:
    from ...runtime.program import LinkedCode, Program

_HERE = Path(__file__).parent
MODULE = ".mjs"
"""The suffix of JavaScript modules."""


@dataclass(frozen=True, kw_only=True)
class WebGpuTarget(DeviceTarget):
    """WGSL; run here by the package `wgpu` on any driver of Vulkan, Metal or Direct3D."""

    @property
    def code_suffix(self) -> str:
        return ".wgsl"

    @property
    def source(self) -> Path:
        return _HERE / "webgpu.c"

    def lacks(self, op: Operation) -> str | None:
        return "f64" if computes_in_f64(op) else None

    def code_of(self, kernels: Operation) -> Kernels:
        from .expressions import wgsl_kernels

        assert isinstance(kernels, gpu.GPUModuleOp)
        return wgsl_kernels(kernels)

    def check_file(self, path: Path, options: ArtifactOptions) -> None:
        if path.suffix == MODULE:
            raise NncError(f"'{path.name}' is compiled for '{BROWSER.name}', not for '{self.name}'")
        if options.bindings or path.suffix in (".a", self.caller.library):
            raise NncError(
                f"a library for '{self.name}' needs WebGPU from the program around it; "
                f"here the kernels can be written, as {self.code_suffix}"
            )
        super().check_file(path, options)

    def for_file(self, path: Path) -> Target:
        return BROWSER if path.suffix == MODULE else self

    def obstacle(self) -> str | None:
        if find_spec("wgpu") is None:
            return "the package 'wgpu' is not installed (pip install nnc[webgpu])"
        return super().obstacle()

    def load(self, code: bytes, exports: tuple[str, ...]) -> LinkedCode:
        self.check_runs_here()
        from .running import load_webgpu_code

        return load_webgpu_code(self, code)


def host() -> None:
    """None: this machine counts as its processor, never as a WebGPU device."""


@dataclass(frozen=True, kw_only=True)
class BrowserTarget(WebGpuTarget):
    """WebGPU in a web page: JavaScript launches the kernels, as WebAssembly code directs."""

    pointer_bits: int = 32

    @property
    def caller(self) -> LlvmTarget:
        found = target("wasm32-simd")
        assert isinstance(found, LlvmTarget)
        return found

    @property
    def files(self) -> Mapping[str, FileKind]:
        return {MODULE: FileKind(has_names=False), self.code_suffix: FileKind(is_text=True)}

    def emit(self, module: Operation, symbols: Symbols, timed: Timed = untimed) -> bytes:
        from .browser import packed

        with timed("Kernels"):
            kernels = self.kernels_of(module)
        with timed("LLVM IR"):
            text = self._around(module)
        with timed("LLVM"):
            return packed(kernels, text, self.caller.object_of(text, timed))

    def check_file(self, path: Path, options: ArtifactOptions) -> None:
        Target.check_file(self, path, options)
        if path.suffix == MODULE:
            self.caller.toolchain()

    def write(
        self, program: Program, path: Path, options: ArtifactOptions, timed: Timed = untimed
    ) -> list[Path]:
        from .browser import write_module

        return write_module(self, program, path, timed)

    def trial(self, module: Operation, kernels: Sequence[str]) -> TrialCode:
        from .browser import kernels_trial

        return kernels_trial(self, module, kernels)

    def obstacle(self) -> str:
        return "it runs in a browser; 'webgpu' runs the same kernels here"


BROWSER = BrowserTarget(
    name="webgpu-browser",
    summary="a module for browsers, which --target webgpu writes as .mjs",
    family="webgpu",
    machine=devices.BROWSER,
)
TARGETS = (
    WebGpuTarget(
        name="webgpu",
        summary="WebGPU: browsers; here any driver of Vulkan",
        family="webgpu",
        machine=devices.BROWSER,
        variants=(BROWSER,),
    ),
)
