"""Targets whose code LLVM makes: processors that run a program of their own."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from ...ir.diagnostics import NncError
from ...ir.timing import Timed, untimed
from ..base import Target, find_host
from ..emulator import Emulator
from ..linker import Toolchain, find_toolchain
from ..system import LINUX, System

if TYPE_CHECKING:
    from .native import LoadedCode

_ARCHITECTURES = frozenset(
    (
        "aarch64",
        "amdgcn",
        "arm",
        "bpf",
        "dx",
        "hexagon",
        "loongarch",
        "mips",
        "nvvm",
        "ppc",
        "r600",
        "riscv",
        "s390",
        "spv",
        "ve",
        "wasm",
        "x86",
        "xcore",
    )
)
"""What `llvm.` is followed by in names of intrinsics that not every processor has."""


@dataclass(frozen=True)
class ProcessorNames:
    """What LLVM's names are for the processors and features of an architecture.

    LLVM ends the process for a processor it does not know, and passes over an unknown feature.
    `python -c 'import llvmlite.binding as b; ..create_target_machine(features="+help")'` shows
    its tables.
    """

    processors: frozenset[str]
    features: frozenset[str]
    intrinsics: str
    """What follows `llvm.` in the names of the architecture's own intrinsics."""

    def check_processor(self, name: str) -> None:
        """Raises NncError that names the nearest, for a name that is none."""
        _check("processor", name, self.processors)

    def check_intrinsic(self, name: str, processor: str) -> None:
        """Raises NncError for an intrinsic of another architecture, where LLVM ends the process."""
        architecture = name.split(".")[1]
        if architecture in _ARCHITECTURES and architecture != self.intrinsics:
            raise NncError(f"'{processor}' has no '{name}', an intrinsic of other processors")

    def check_features(self, text: str) -> None:
        """Of `+avx2,-fma`. Raises NncError that names the nearest, for a name that is none."""
        for one in filter(None, text.split(",")):
            if one[0] not in "+-":
                raise NncError(f"a feature is given as +NAME or -NAME, not '{one}'")
            _check("feature", one[1:], self.features)


def have(features: str) -> set[str]:
    """The names behind the plus signs of `+neon,-sve`."""
    return {one[1:] for one in features.split(",") if one.startswith("+")}


def _check(what: str, name: str, known: frozenset[str]) -> None:
    if name not in known:
        from difflib import get_close_matches

        near = ", ".join(get_close_matches(name, sorted(known), 3))
        raise NncError(f"LLVM knows no {what} '{name}'" + (f"; near: {near}" if near else ""))


@dataclass(frozen=True, kw_only=True)
class LlvmTarget(Target):
    """A target by LLVM's words: triple, processor, features, ABI, and how code is placed."""

    triple: str
    cpu: str
    features: str = ""
    """`+avx2,-fma`: what differs from what `cpu` implies."""
    abi: str = ""
    """LLVM's name, for architectures where the triple does not say it."""
    relocation: str = "pic"
    code_model: str = "small"
    scalable: int = 0
    """The length of scalable vectors that the code counts on, in units of 128 bits: LLVM makes
    fixed vectors of such ones. 0 where it uses none."""
    names: ProcessorNames = field(repr=False)
    needs: frozenset[str] = frozenset()
    """Features that its code may use and not every processor of the family has."""

    def under(self, system: System, emulator: Emulator | None = None) -> Self:
        """The same processor under another system, where `emulator` runs its code.

        Threads may have smaller stacks there, of which buffers get the same part.
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

    def emit(self, text: str, scalar_loops: bool = True, timed: Timed = untimed) -> bytes:
        from .native import emit_object

        return emit_object(text, self, scalar_loops, timed=timed)

    def emit_assembly(self, text: str, scalar_loops: bool = True) -> str:
        from .native import emit_assembly

        return emit_assembly(text, self, scalar_loops)

    def toolchain(self) -> Toolchain:
        return find_toolchain(None if self.is_native else self.triple)

    @property
    def is_native(self) -> bool:
        """Whether this machine's own tools make and link code of its kind."""
        here = find_host()
        return here is not None and (here.family, here.system) == (self.family, self.system)

    def obstacle(self) -> str | None:
        here = find_host()
        if not self.is_native or not isinstance(here, LlvmTarget):
            return f"this machine is {platform.machine()} on {platform.system()}"
        if missing := sorted(self.needs.difference(have(here.features))):
            return f"this machine has no {', '.join(missing)}"
        if self.scalable and here.scalable != self.scalable:
            return f"this machine's scalable vectors are not of {128 * self.scalable} bits"
        return None if self.level <= here.level else f"this machine is no more than {here.name}"

    def load(self, code: bytes, exports: tuple[str, ...]) -> LoadedCode:
        self.check_runs_here()
        from .native import load_object

        return load_object(code, exports)
