"""A device with a host: kernels in the device's code, in a library with the usual interface."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...artifacts.options import IR, ArtifactOptions, FileKind
from ...dialects import gpu
from ...dialects.marks import DEVICE, WEIGHTS_BYTES
from ...ir.attributes import ArrayAttr, DictAttr, IntegerAttr
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.stages import Stage
from ...ir.timing import Timed, untimed
from ...ir.types import element_type, f64
from ...runtime.abi import (
    DEVICE_ADD,
    DEVICE_CHECKS,
    DEVICE_CODE,
    DEVICE_KERNELS,
    DEVICE_MAIN,
    DEVICE_WEIGHTS_BYTES,
    RUN,
)
from ..base import Symbols, Target, host
from ..groups import GroupMachine
from ..llvm.target import LlvmTarget
from ..source.kernels import Kernels
from .stages import PROOF, STAGES

if TYPE_CHECKING:
    from ...runtime.program import LinkedCode, Program


@dataclass(frozen=True, kw_only=True)
class DeviceTarget(Target):
    """Kernels for groups of threads, launched by code for this machine's processor."""

    machine: GroupMachine
    policy: str = "groups"

    @property
    @abstractmethod
    def code_suffix(self) -> str:
        """The suffix of files that contain only the kernels."""

    @property
    @abstractmethod
    def source(self) -> Path:
        """The C source of the functions by which a program calls the device, see `device.h`."""

    @abstractmethod
    def code_of(self, kernels: Operation) -> Kernels:
        """The code of a module of kernels."""

    @property
    def caller(self) -> LlvmTarget:
        found = host()
        assert isinstance(found, LlvmTarget)
        return found

    @property
    def stages(self) -> tuple[Stage, ...]:
        return STAGES

    @property
    def proof(self) -> Stage:
        return PROOF

    @property
    def files(self) -> Mapping[str, FileKind]:
        library = FileKind(holds_weights=True)
        found = {self.caller.library: library, ".a": library}
        return found | {self.code_suffix: FileKind(is_text=True)}

    # -- code --------------------------------------------------------------------------------

    def emit(self, module: Operation, symbols: Symbols, timed: Timed = untimed) -> bytes:
        from ..llvm.symbols import renamed

        with timed("Kernels"):
            kernels = self.kernels_of(module)
        with timed("LLVM IR"):
            text = self._around(module).replace(f"@{RUN}(", f"@{DEVICE_MAIN}(")
            text += _constant(DEVICE_CODE, kernels.code or kernels.text.encode())
            text += _constant(DEVICE_KERNELS, _lines(kernels.rows).encode())
            text += _constant(DEVICE_CHECKS, _lines(kernels.checks).encode())
            text += f"@{DEVICE_WEIGHTS_BYTES} = hidden constant i64 {_weights_bytes(module)}\n"
            text = renamed(text, symbols)
        with timed("LLVM"):
            return self.caller.object_of(text, timed)

    def notes(self, module: Operation) -> list[str]:
        steps = self.fallbacks(module)
        return [self.told(module), *(f"on the host: {step}" for step in steps)]

    def told(self, module: Operation) -> str:
        found = module.attributes.get(DEVICE)
        if not isinstance(found, DictAttr):
            return "nothing runs on the device"
        launches, copied, time = (
            getattr(found.get(key), "value", 0) for key in ("launches", "copied", "microseconds")
        )
        return (
            f"{launches} launches on the device, {len(self.fallbacks(module))} steps of the host, "
            f"{copied:,} bytes copied per run, {time / 1000:.3g} ms expected"
        )

    def fallbacks(self, module: Operation) -> list[str]:
        found = module.attributes.get(DEVICE)
        steps = found.get("host") if isinstance(found, DictAttr) else None
        return [one.value for one in steps.elements] if isinstance(steps, ArrayAttr) else []  # type: ignore[attr-defined]

    def text(self, module: Operation, suffix: str) -> str:
        return self.kernels_of(module).text

    def kernels_of(self, module: Operation) -> Kernels:
        """The code of all kernels of a module."""
        found = kernels_in(module)
        return self.code_of(found) if found is not None else Kernels("", [], [])

    def _around(self, module: Operation) -> str:
        """The LLVM IR of the program without its kernels."""
        from ..llvm.ir import llvm_ir

        around = module.clone()
        for op in list(around.body_block):
            if isinstance(op, gpu.GPUModuleOp):
                op.erase()
        return llvm_ir(around)

    # -- what the user takes away, and what runs it --------------------------------------------

    def check_file(self, path: Path, options: ArtifactOptions) -> None:
        from ..llvm.library import check_bindings

        if not options.bindings:
            super().check_file(path, options)
        check_bindings(self.caller, options)
        if path.suffix not in (self.code_suffix, IR):
            self.caller.toolchain()

    def file_in(self, path: Path, options: ArtifactOptions) -> Path:
        return self.caller.file_in(path, options)

    def write(
        self, program: Program, path: Path, options: ArtifactOptions, timed: Timed = untimed
    ) -> list[Path]:
        from ..llvm.library import write_binary

        return write_binary(self.caller, program, path, options, timed, (self.source,))

    def obstacle(self) -> str | None:
        try:
            self.caller.toolchain()
        except NncError as error:
            return error.message
        return None

    def load(self, code: bytes, exports: tuple[str, ...]) -> LinkedCode:
        self.check_runs_here()
        from .running import GrowingDeviceCode, LoadedDeviceCode, load_device_code

        kind = GrowingDeviceCode if DEVICE_ADD in exports else LoadedDeviceCode
        return load_device_code(self.caller, self.source, code, kind)

    def apart(self, module: Operation) -> tuple[bytes, bytes, str]:
        kernels = self.kernels_of(module)
        around = self.caller.object_of(self._around(module))
        return around, kernels.code or kernels.text.encode(), _lines(kernels.rows)


def computes_in_f64(op: Operation) -> bool:
    """Whether an operation has operands or results of f64, or buffers of f64."""
    return any(element_type(value.type) is f64 for value in (*op.operands, *op.results))


def kernels_in(module: Operation) -> gpu.GPUModuleOp | None:
    """The module of a program's kernels, as `outline-launches` makes it; None without kernels.

    Raises NncError if there are several.
    """
    found = [op for op in module.body_block if isinstance(op, gpu.GPUModuleOp)]
    if len(found) > 1:
        raise NncError("the kernels of a program have to be in one module", found[1].loc)
    return found[0] if found else None


def _lines(texts: Sequence[str]) -> str:
    return "".join(f"{text.replace(chr(10), ' ')}\n" for text in texts)


def _weights_bytes(module: Operation) -> int:
    found = module.attributes.get(WEIGHTS_BYTES)
    return found.value if isinstance(found, IntegerAttr) else 0


def _constant(name: str, data: bytes) -> str:
    """LLVM IR of a constant that holds bytes and a final zero."""
    data += b"\0"
    plain = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data)
    return f'\n@{name} = hidden constant [{len(data)} x i8] c"{plain}"\n'
