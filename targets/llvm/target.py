"""Targets whose code LLVM makes: processors that run a program of their own."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from ...artifacts.options import ArtifactOptions, FileKind
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.stages import Stage
from ...ir.timing import Timed, untimed
from ...runtime.systems import LINUX, SYSTEMS, System
from ..attribute import target_of
from ..base import Listing, Symbols, Target, find_host
from ..emulator import Emulator, Runner
from ..linker import Toolchain, find_toolchain
from .dots import Dot
from .processor import LlvmProcessor
from .stages import STAGES

if TYPE_CHECKING:
    from ...runtime.model import Model
    from ...runtime.program import Program
    from .native import LoadedCode


@cache
def have(features: str) -> frozenset[str]:
    """The names behind the plus signs of `+neon,-sve`."""
    return frozenset(one[1:] for one in features.split(",") if one.startswith("+"))


_LIBRARY = FileKind(holds_weights=True, makes_weights=True)
_TEXT = FileKind(is_text=True)
_CODES = {".ll": _TEXT, ".s": _TEXT, ".o": FileKind(makes_weights=True)}


@dataclass(frozen=True, kw_only=True)
class LlvmTarget(LlvmProcessor):
    """A target described in LLVM's terms: triple, processor, features, ABI, code model."""

    needs: frozenset[str] = frozenset()
    """The features that its code may use and that not every processor of the family has."""
    dots: tuple[Dot, ...] = field(default=(), repr=False)
    """Its instructions for dot products of small integers."""
    system: str = "linux"
    """The operating system: `platform.system()` in lower case; empty for none."""
    library: str = ".so"
    """The suffix of shared libraries."""
    object_format: Literal["elf", "macho", "coff", "wasm"] = "elf"
    pause: tuple[str, int | None] | None = None
    """The intrinsic (and its argument) for waiting in a spin loop."""
    exact_fma: bool = True
    """Whether `llvm.fma` rounds once, as an instruction or in libm."""
    has_maxnum: bool = True
    """Whether `llvm.maxnum` and `minnum` of vectors are one or a few instructions."""
    adds_offsets: bool = False
    """Whether loads and stores can add an unsigned constant to the address if the sum is known not
    to wrap around; lowering then preserves such facts."""
    has_half: bool = True
    """Whether there are instructions to convert between f16 and f32."""
    emulator: Runner | None = None
    """The emulator that runs its code on other machines."""

    def under(self, system: System, emulator: Emulator | None = None) -> Self:
        """The same processor under another system, where `emulator` runs its code.

        Stack buffers are scaled by the size of that system's thread stacks.
        """
        buffers = self.machine.costs.buffers
        stack = buffers.stack * system.thread_stack // LINUX.thread_stack
        costs = replace(self.machine.costs, buffers=replace(buffers, stack=stack))
        return replace(
            self,
            name=f"{self.name}-{system.word}",
            summary=f"{self.summary}, under {system.title}",
            aliases=tuple(f"{alias}-{system.word}" for alias in self.aliases),
            machine=replace(self.machine, costs=costs),
            triple=f"{self.triple.partition('-')[0]}-{system.triple}",
            system=system.name,
            library=system.library,
            object_format=system.object_format,
            emulator=emulator,
        )

    # -- from the schedule to code -----------------------------------------------------------

    @property
    def stages(self) -> tuple[Stage, ...]:
        return STAGES

    @property
    def keeps_threads_awake(self) -> bool:
        return True

    def emit(self, module: Operation, symbols: Symbols, timed: Timed = untimed) -> bytes:
        from .ir import llvm_ir
        from .symbols import renamed

        with timed("LLVM IR"):
            text = renamed(llvm_ir(module), symbols)
        with timed("LLVM"):
            return self.object_of(text, timed)

    def object_of(self, text: str, timed: Timed = untimed) -> bytes:
        """An object file of LLVM IR text. Raises NncError."""
        from .native import emit_object

        return emit_object(text, self, timed=timed)

    def assembly_of(self, text: str) -> str:
        """Assembler text of LLVM IR text, for people. Raises NncError."""
        from .native import emit_assembly

        return emit_assembly(text, self)

    def text(self, module: Operation, suffix: str) -> str:
        from .ir import llvm_ir

        text = llvm_ir(module)
        return text if suffix == ".ll" else self.assembly_of(text)

    def listing(self, module: Operation, line_of: Mapping[Operation, int]) -> Listing:
        from .ir import llvm_ir
        from .places import taken_apart

        text = llvm_ir(module, {op: line + 1 for op, line in line_of.items()})
        lines, places = taken_apart(self.assembly_of(text).splitlines())
        return Listing(".s", lines, [None if one is None else one - 1 for one in places])

    @property
    def all_features(self) -> frozenset[str]:
        """The features that its code may use beyond those of its processor's name."""
        return have(self.features) | self.needs

    def dot(self, packing: str, lanes: int, *, accumulates: bool) -> Dot | None:
        """The target's dot product instruction on so many lanes; None if it has none."""
        for one in self.dots:
            known = (one.packing, one.lanes, one.accumulates) == (packing, lanes, accumulates)
            if known and (not one.features or one.features & self.all_features):
                return one if 32 * lanes <= self.machine.vector_bits else None
        return None

    # -- what the user takes away ------------------------------------------------------------

    @property
    def files(self) -> Mapping[str, FileKind]:
        return _CODES | {self.library: _LIBRARY, ".a": _LIBRARY}

    def file_in(self, path: Path, options: ArtifactOptions) -> Path:
        if not options.bindings:
            return path
        system = next((one for one in SYSTEMS if one.name == self.system), LINUX)
        return path / system.library_name(options.prefix)

    def check_file(self, path: Path, options: ArtifactOptions) -> None:
        from .library import check_bindings, check_system

        check_bindings(self, options)
        check_system(self, path)
        if self.files.get(path.suffix) == _LIBRARY:
            self.toolchain()

    def write(
        self, program: Program, path: Path, options: ArtifactOptions, timed: Timed = untimed
    ) -> list[Path]:
        from .library import write_binary

        return write_binary(self, program, path, options, timed)

    def joins(self, other: Target) -> bool:
        if not isinstance(other, LlvmTarget) or not (self.level and other.level):
            return False
        return (self.family, self.system) == (other.family, other.system)

    def toolchain(self) -> Toolchain:
        """The toolchain that links for this target. Raises NncError that says what to install."""
        return find_toolchain(None if self.is_native else self.triple)

    def foreign_triple(self) -> str | None:
        return None if self.is_native else self.triple

    # -- what runs it ------------------------------------------------------------------------

    @property
    def is_native(self) -> bool:
        """Whether this machine's own tools build code for the target."""
        here = find_host()
        if not isinstance(here, LlvmTarget):
            return False
        return (here.family, here.system) == (self.family, self.system)

    def obstacle(self) -> str | None:
        here = find_host()
        if not self.is_native or not isinstance(here, LlvmTarget):
            return f"this machine is {platform.machine()} on {platform.system()}"
        if missing := sorted(self.needs.difference(have(here.features))):
            return f"this machine has no {', '.join(missing)}"
        if self.scalable and here.scalable != self.scalable:
            return f"this machine's scalable vectors are not of {128 * self.scalable} bits"
        return None if self.level <= here.level else f"this machine is no more than {here.name}"

    def check_runs(self, emulate: bool = True) -> None:
        obstacle = self.obstacle()
        if obstacle is None:
            return
        if self.emulator is None or not emulate:
            self.check_runs_here()
        elif missing := self.emulator.missing():
            raise NncError(f"code for '{self.name}' does not run here: {obstacle}, and {missing}")
        else:
            self.toolchain()

    @property
    def has_clock(self) -> bool:
        return bool(self.system)

    def replaces_kernels(self, threads: int) -> bool:
        return self.obstacle() is None

    def load(self, code: bytes, exports: tuple[str, ...]) -> LoadedCode:
        self.check_runs_here()
        from .native import load_object

        return load_object(code, exports)

    def load_beside(
        self, code: bytes, exports: tuple[str, ...], given: Mapping[str, int]
    ) -> LoadedCode:
        self.check_runs_here()
        from .native import load_object

        return load_object(code, exports, given)

    def running(
        self, program: Program, threads: int, progress: Callable[[str], None] | None = None
    ) -> Model:
        if self.obstacle() is None or self.emulator is None:
            return super().running(program, threads, progress)
        from .emulated import emulated

        return emulated(self, self.emulator, program, threads, progress)

    def where_it_runs(self) -> str:
        emulated = self.emulator is not None and self.emulator.missing() is None
        found = super().where_it_runs()
        return "emulated" if found == "compiles only" and emulated else found


def llvm_target_of(op: Operation, name: str | None = None) -> LlvmTarget:
    """The target of an operation's module, as `target_of` finds it; for a device, that of its
    caller.

    Raises NncError.
    """
    found = target_of(op, name).caller
    if not isinstance(found, LlvmTarget):
        raise NncError(f"the module is for '{found.name}', whose code LLVM does not make", op.loc)
    return found
