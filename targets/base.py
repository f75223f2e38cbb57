"""What a target is, and the table of all there are.

A family is a package or a module here that lists its targets as `TARGETS` and tells by `host()`
which of them this machine is. Adding one takes that and its name in `FAMILIES`; a target more
in a family takes an entry of its list.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from ..ir.diagnostics import NncError
from ..ir.timing import Timed, untimed
from .emulator import Runner
from .machine import Machine

if TYPE_CHECKING:
    from .linker import Toolchain

FAMILIES = ("x86", "aarch64", "armv7", "riscv", "power", "wasm")
"""The packages and modules here that hold targets, loaded when a name is looked for in them."""

HOST = "host"
"""What stands for the target that this machine is."""


@dataclass(frozen=True, kw_only=True)
class Target(ABC):
    """A kind of processor that code is made for.

    Units: bits. `processor` tells apart targets of one name whose machine was measured or
    edited, see `attribute.py`; `aliases` are further names.
    """

    name: str
    summary: str
    family: str
    machine: Machine
    """What cost models, layouts and thresholds need to know."""
    aliases: tuple[str, ...] = ()
    processor: str = ""
    pointer_bits: int = 64
    byte_order: Literal["little", "big"] = "little"
    system: str = "linux"
    """The operating system, as `platform.system()` names it, in lower case; empty for none."""
    library: str = ".so"
    """The suffix of its shared libraries."""
    level: int = 0
    """Of two targets of one family, the one of the higher level runs the other's code; 0 where they
    form no such line."""
    variants: tuple[Target, ...] = field(default=(), repr=False)
    """The same processor under other systems, by names such as `x86-64-v3-windows`."""
    object_format: Literal["elf", "macho", "coff", "wasm"] = "elf"
    threads: Literal["posix", "none"] = "posix"
    """Which threads the code may use."""
    pause: tuple[str, int | None] | None = None
    """The intrinsic that tells the processor that its thread only waits, and its argument."""
    exact_fma: bool = True
    """Whether `llvm.fma` rounds once there, by an instruction or in libm."""
    has_maxnum: bool = True
    """Whether `llvm.maxnum` and `minnum` of vectors are instructions there, or a few."""
    adds_offsets: bool = False
    """Whether a load or store adds an unsigned constant to its address, and the sum may not wrap:
    what says that it does not has to be kept."""
    has_half: bool = True
    """Whether instructions turn floats of 16 bits into such of 32, and back."""
    emulator: Runner | None = None
    """What runs its code on other machines."""

    @abstractmethod
    def emit(self, text: str, scalar_loops: bool = True, timed: Timed = untimed) -> bytes:
        """An object file of what the llvm dialect was translated to. Raises NncError.

        Without `scalar_loops` the code has no loops that are worth vectorizing.
        """

    @abstractmethod
    def emit_assembly(self, text: str, scalar_loops: bool = True) -> str:
        """Assembler text of the same, for people. Raises NncError."""

    @abstractmethod
    def toolchain(self) -> Toolchain:
        """What links for this target. Raises NncError that says what to install."""

    @abstractmethod
    def obstacle(self) -> str | None:
        """Why its code cannot run in this process; None where it can."""

    def check_runs_here(self) -> None:
        """Raise NncError where its code cannot run in this process."""
        obstacle = self.obstacle()
        if obstacle is not None:
            raise NncError(f"code for '{self.name}' does not run here: {obstacle}")

    @abstractmethod
    def load(self, code: bytes, exports: tuple[str, ...]) -> Any:
        """Link an object file into this process; `[name]` of what is returned is an address.

        Raises NncError where the code does not run here or does not link.
        """


def target(name: str) -> Target:
    """The target of a name or an alias; `host` is this machine. Raises NncError."""
    if name == HOST:
        return host()
    for row in all_targets():
        for one in (row, *row.variants):
            if name == one.name or name in one.aliases:
                return one
    if "," in name:
        raise NncError(f"several targets, '{name}', are for the library of `nnc compile`")
    from difflib import get_close_matches

    near = get_close_matches(name, target_names(), 3)
    meant = f"; near: {', '.join(near)}" if near else ""
    raise NncError(f"no target is named '{name}'{meant}; `nnc targets` lists all")


def all_targets() -> Iterator[Target]:
    """Every target under its usual system, family by family."""
    for family in FAMILIES:
        yield from _room(family).TARGETS


def target_names() -> list[str]:
    """`host`, then every name followed by its aliases, and by those under other systems."""
    found = (one for row in all_targets() for one in (row, *row.variants))
    return [HOST, *(name for one in found for name in (one.name, *one.aliases))]


@cache
def find_host() -> Target | None:
    """This machine, with what is known of its processor; None where no family has it."""
    found = (_room(family).host() for family in FAMILIES)
    return next((one for one in found if one is not None), None)


def host() -> Target:
    """This machine. Raises NncError where no family has its processor."""
    found = find_host()
    if found is not None:
        return found
    import platform

    raise NncError(
        f"no target describes this machine's processor ({platform.machine()}); "
        "name one, `nnc targets` lists all"
    )


def _room(family: str) -> Any:
    return import_module(f".{family}", __package__)
