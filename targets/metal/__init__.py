"""Metal: kernels as text that macOS and iOS compile."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from ...artifacts.options import ArtifactOptions
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ..device.target import DeviceTarget, computes_in_f64
from ..groups import GroupMachine
from ..source.kernels import Kernels
from . import devices

_HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class MetalTarget(DeviceTarget):
    """Metal Shading Language, compiled by the system when a model is first run."""

    @property
    def code_suffix(self) -> str:
        return ".metal"

    @property
    def source(self) -> Path:
        return _HERE / "metal.m"

    def lacks(self, op: Operation) -> str | None:
        return "f64" if computes_in_f64(op) else None

    def code_of(self, kernels: Operation) -> Kernels:
        from .language import metal_kernels

        return metal_kernels(kernels)

    def check_file(self, path: Path, options: ArtifactOptions) -> None:
        if sys.platform != "darwin" and (options.bindings or path.suffix in (".a", ".so")):
            raise NncError(
                f"a library for '{self.name}' is linked on macOS, with its frameworks; "
                f"here the kernels can be written, as {self.code_suffix}"
            )
        super().check_file(path, options)

    def obstacle(self) -> str | None:
        return super().obstacle() if sys.platform == "darwin" else "Metal needs macOS"


def host() -> None:
    """None: this machine counts as its processor, never as a Metal device."""


def _named(name: str, summary: str, machine: GroupMachine) -> MetalTarget:
    return MetalTarget(name=name, summary=summary, family="metal", machine=machine)


TARGETS = (
    _named("metal", "Metal for Apple's M1 and later; run by an emulation, on no Mac", devices.M1),
    _named("metal-m2", "Metal for Apple's M2; run by an emulation, on no Mac", devices.M2),
)
