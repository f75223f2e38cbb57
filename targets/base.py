"""What a target is, and the table of all there are.

A family is a package or a module here that lists its targets as `TARGETS` and tells by `host()`
which of them this machine is. Adding one takes that and its name in `FAMILIES`; a target more
in a family takes an entry of its list.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..artifacts.options import DEFAULT_PREFIX, ArtifactOptions, FileKind, listed
from ..ir.attributes import StringAttr
from ..ir.diagnostics import NncError
from ..ir.stages import Stage
from ..ir.timing import Timed, untimed
from ..runtime.abi import POOL_SYMBOLS
from .machine import Machine

if TYPE_CHECKING:
    from pathlib import Path

    from ..ir.core import Operation
    from ..runtime.model import Model
    from ..runtime.program import LinkedCode, Program
    from ..runtime.replacing import ReplacingModel
    from .llvm.threads import Threads

FAMILIES = (
    *("x86", "aarch64", "armv7", "riscv", "power", "wasm", "c"),
    *("opencl", "metal", "webgpu", "cuda", "amd", "hls"),
)
"""The packages and modules here that hold targets, loaded when a name is looked for in them."""

HOST = "host"
"""What stands for the target that this machine is."""


@dataclass(frozen=True)
class Symbols:
    """What the functions of a program are called, for programs that link to its code.

    Their names start with `prefix`; `hidden` ones are seen inside of a library alone.
    """

    prefix: str = DEFAULT_PREFIX
    hidden: bool = False


@dataclass(frozen=True)
class Listing:
    """Code as text: its file's suffix, its lines, and for each the line, from 0, of the text of the
    last stage that it came from; None where that is not known.
    """

    suffix: str
    lines: list[str]
    origins: list[int | None]

    @staticmethod
    def of(suffix: str, text: str) -> Listing:
        """A text that does not tell where its lines came from."""
        lines = text.splitlines()
        return Listing(suffix, lines, [None] * len(lines))


@dataclass(frozen=True)
class TrialCode:
    """Kernels that a page can call: a module of WebAssembly that exports them; where they run on a
    device, `device` has what a page opens that by, and their texts, as JSON has it.
    """

    code: bytes
    device: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Target(ABC):
    """A kind of machine that code is made for, with its whole way down from the schedule on.

    The driver and the tools ask it, and know of no kind of target. Units: bits. `processor` tells
    apart targets of one name whose machine was measured or edited, see `attribute.py`; `aliases`
    are further names.
    """

    name: str
    summary: str
    family: str
    machine: Machine
    """What cost models, layouts and thresholds need to know."""
    aliases: tuple[str, ...] = ()
    processor: str = ""
    pointer_bits: int = 64
    policy: str = "processor"
    """Who writes its schedules: a row of `POLICIES` in `kernels/policy`."""
    level: int = 0
    """Of two targets of one family, the one of the higher level runs the other's code; 0 where they
    form no such line."""
    variants: tuple[Target, ...] = field(default=(), repr=False)
    """The same machine under other systems, by names such as `x86-64-v3-windows`."""

    # -- from the schedule to code -----------------------------------------------------------

    @property
    @abstractmethod
    def stages(self) -> tuple[Stage, ...]:
        """Its stages behind the schedule; all targets share those before."""

    @abstractmethod
    def emit(self, module: Operation, symbols: Symbols, timed: Timed = untimed) -> bytes:
        """The code of a module behind the last stage. Raises NncError."""

    @property
    def ends_in_llvm(self) -> bool:
        """Whether what callers call is in the llvm dialect behind the last stage, not printed."""
        return True

    @property
    def caller(self) -> Target:
        """What the code is for that callers call and that launches kernels: the target itself, but
        for devices.
        """
        return self

    @property
    def threads(self) -> Threads | None:
        """What kernels ask a device for whose code LLVM makes; None for all other targets."""
        return None

    def lacks(self, op: Operation) -> str | None:
        """What its code has no form for in an operation of a kernel, as `f64`; None where it has
        all. The caller carries such a kernel out.
        """
        return None

    def here(self) -> Target:
        """The target, with the numbers of this machine where its name stands for that."""
        return self

    def has_pool(self, module: Operation) -> bool:
        """Whether the code of a module has threads of its own to start."""
        defined = {op.properties.get("sym_name") for op in module.body_block}
        return all(StringAttr(name) in defined for name in POOL_SYMBOLS)

    @property
    def proof(self) -> Stage | None:
        """The passes behind the schedule that prove its kernels; None where there are none."""
        return None

    def notes(self, module: Operation) -> list[str]:
        """What to tell who has compiled a module, behind the last stage."""
        return []

    def told(self, module: Operation) -> str:
        """The one of these notes that says what a run does and takes; empty where none does."""
        return ""

    def fallbacks(self, module: Operation) -> list[str]:
        """What of a module runs elsewhere than on the target, each with its reason."""
        return []

    def text(self, module: Operation, suffix: str) -> str:
        """The code of such a module as text, for a suffix of `files` that says so."""
        raise NncError(f"'{self.name}' has no {suffix} files")

    def listing(self, module: Operation, line_of: Mapping[Operation, int]) -> Listing | None:
        """Its code for people, of a module behind the last stage, whose operations stand on these
        lines of a text, from 0; None where it is not to be read. Raises NncError.
        """
        suffix = next((suffix for suffix, kind in self.files.items() if kind.is_text), None)
        if suffix is None:
            return None
        return Listing.of(suffix, self.text(module, suffix))

    def trial(self, module: Operation, kernels: Sequence[str]) -> TrialCode | None:
        """These kernels as a module that a page can load and time, of a module behind the last
        stage, which is consumed; None where no page runs its code. Raises NncError.
        """
        return None

    # -- what the user takes away ------------------------------------------------------------

    @property
    @abstractmethod
    def files(self) -> Mapping[str, FileKind]:
        """By suffix, the files that it is written as."""

    @abstractmethod
    def write(
        self, program: Program, path: Path, options: ArtifactOptions, timed: Timed = untimed
    ) -> list[Path]:
        """Write a program as `path` and what belongs beside it; the files, `path` first.

        Raises NncError.
        """

    def for_file(self, path: Path) -> Target:
        """The target whose code such a file holds: another one where its caller is another."""
        return self

    def file_in(self, path: Path, options: ArtifactOptions) -> Path:
        """The file to write: with bindings, whose `path` is a folder, the library in it."""
        return path

    def check_file(self, path: Path, options: ArtifactOptions) -> None:
        """Refuse, before any work, a file that it cannot be written as. Raises NncError."""
        if options.bindings:
            raise NncError(f"bindings call libraries; '{self.name}' has none")
        if path.suffix not in self.files:
            suffixes = listed([*self.files, ".mlir"])
            raise NncError(f"'{self.name}' is written as {suffixes}, not as '{path.name}'")

    def joins(self, other: Target) -> bool:
        """Whether one library can hold the code of both: levels of one family."""
        return False

    # -- what runs it ------------------------------------------------------------------------

    @abstractmethod
    def obstacle(self) -> str | None:
        """Why its code cannot run in this process; None where it can."""

    def check_runs_here(self) -> None:
        """Raise NncError where its code cannot run in this process."""
        obstacle = self.obstacle()
        if obstacle is not None:
            raise NncError(f"code for '{self.name}' does not run here: {obstacle}")

    def check_runs(self, emulate: bool = True) -> None:
        """Raise NncError where nothing on this machine runs its code: it says what to install.

        Without `emulate` it is for times: an emulator, which is slower than any machine, does not
        count, an engine that makes code of this processor does.
        """
        self.check_runs_here()

    def not_timed(self) -> str | None:
        """Why the times of runs here say nothing of its code; None where they do."""
        return self.obstacle()

    def foreign_triple(self) -> str | None:
        """The triple of the other system that libraries are linked for; None where they are this
        system's, or have no system, so that the linker needs no C library of another one.
        """
        return None

    @property
    def has_clock(self) -> bool:
        """Whether its code can tell the time before and after each kernel."""
        return False

    def engine(self) -> Sequence[str] | None:
        """The command of an engine that runs a script of JavaScript on libraries of this target and
        times them by its own clock; None where the code runs in this process. Raises NncError where
        the engine is missing.
        """
        return None

    def replaces_kernels(self, threads: int) -> bool:
        """Whether kernels of a running program can be replaced, which works on so many threads."""
        return False

    def replacing(self, program: Program, kernels: int) -> ReplacingModel | None:
        """A program of so many kernels that can be replaced, as a callable; None where its code is
        linked into this process. Raises NncError.
        """
        return None

    @abstractmethod
    def load(self, code: bytes, exports: tuple[str, ...]) -> LinkedCode:
        """Link code into this process; `[name]` of what is returned is an address.

        Raises NncError where the code does not run here or does not link.
        """

    def built(self, code: bytes) -> bytes:
        """Code in the form in which `load_built` takes the least time. Raises NncError."""
        return code

    def load_built(self, code: bytes, exports: tuple[str, ...]) -> LinkedCode:
        """What `built` gave, linked into this process. Raises NncError."""
        return self.load(code, exports)

    def load_beside(
        self, code: bytes, exports: tuple[str, ...], given: Mapping[str, int]
    ) -> LinkedCode:
        """The same of code that calls functions of a program, which are at these addresses."""
        raise NncError(f"code for '{self.name}' is not linked beside other code")

    def apart(self, module: Operation) -> tuple[bytes, bytes, str]:
        """Of a device's module without an entry: the code around its kernels; their text, and
        the row of each, as a program takes them that kernels are added to. Raises NncError.
        """
        raise NncError(f"'{self.name}' has no kernels apart from its code")

    def running(
        self, program: Program, threads: int, progress: Callable[[str], None] | None = None
    ) -> Model:
        """A program as a callable, by what runs it on this machine. Raises NncError."""
        from ..runtime.executable import Executable

        return Executable(program, threads=threads)

    def where_it_runs(self) -> str:
        """`runs here`, `emulated` or `compiles only`, for the list of targets."""
        return "runs here" if self.obstacle() is None else "compiles only"

    @property
    def word(self) -> str:
        """Its name as a part of names in C."""
        return re.sub(r"\W", "_", self.name)


def target(name: str) -> Target:
    """The target of a name or an alias; `host` is this machine. Raises NncError."""
    if name == HOST:
        return host()
    for row in all_targets():
        for one in (row, *row.variants):
            if name == one.name or name in one.aliases:
                return one.here()
    if "," in name:
        raise NncError(f"several targets, '{name}', are for the library of `nnc compile`")
    from difflib import get_close_matches

    near = get_close_matches(name, target_names(), 3)
    meant = f"; near: {', '.join(near)}" if near else ""
    raise NncError(f"no target is named '{name}'{meant}; `nnc targets` lists all")


def asked(name: str) -> Target:
    """The target of a name that a user gives: with what was measured of it on this machine, where
    `NNC_CALIBRATION` is `all`. Raises NncError.
    """
    from .calibration import calibrated, is_for_all

    found = target(name)
    if name == HOST or not is_for_all():
        return found
    return replace(found, machine=calibrated(found.name, found.processor, found.machine))


def all_targets() -> Iterator[Target]:
    """Every target under its usual system, family by family."""
    for family in FAMILIES:
        yield from room(family).TARGETS


def target_names() -> list[str]:
    """`host`, then every name followed by its aliases, and by those under other systems."""
    found = (one for row in all_targets() for one in (row, *row.variants))
    return [HOST, *(name for one in found for name in (one.name, *one.aliases))]


@cache
def find_host() -> Target | None:
    """This machine, with what is known and what was measured of its processor; None where no
    family has it.
    """
    from .calibration import calibrated

    found = described_host()
    if found is None:
        return None
    return replace(found, machine=calibrated(found.name, found.processor, found.machine))


def described_host() -> Target | None:
    """This machine without what `nnc calibrate` measured; None where no family has it."""
    found = (room(family).host() for family in FAMILIES)
    return next((one for one in found if one is not None), None)


def processor_name() -> str:
    """This machine's processor, as LLVM and as its maker call it."""
    from .calibration import model_name

    found = described_host()
    return f"{(found.processor or found.name) if found else 'unknown'}, {model_name()}"


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


def room(family: str) -> Any:
    """The package or module of a family."""
    return import_module(f".{family}", __package__)
