"""The interface of targets, and the table of all targets.

A family is a package or a module here that lists its targets as `TARGETS` and tells by `host()`
which of them this machine is. To add a family, add it and its name in `FAMILIES`; to add a target
to a family, add an entry to its list.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..artifacts.options import DEFAULT_PREFIX, IR, ArtifactOptions, FileKind, listed
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
"""The name of the target for this machine."""


@dataclass(frozen=True)
class Symbols:
    """The names of a program's functions, for programs that link to its code.

    All start with `prefix`; if `hidden`, they are visible only inside of a library.
    """

    prefix: str = DEFAULT_PREFIX
    hidden: bool = False


@dataclass(frozen=True)
class Listing:
    """Code as text: the suffix of its file, its lines, and for each line the line, from 0, of the
    last stage's text that it came from; None if unknown.
    """

    suffix: str
    lines: list[str]
    origins: list[int | None]

    @staticmethod
    def of(suffix: str, text: str) -> Listing:
        """A listing of a text whose lines have unknown origins."""
        lines = text.splitlines()
        return Listing(suffix, lines, [None] * len(lines))


@dataclass(frozen=True)
class TrialCode:
    """Kernels that a web page can call: a WebAssembly module that exports them. For kernels of a
    device, `device` (JSON) has their texts and what a page needs to open the device.
    """

    code: bytes
    device: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Target(ABC):
    """A kind of machine to compile for, with the stages from the schedule down to code.

    The driver and the tools know only this interface. `pointer_bits` is the width of addresses.
    `processor` distinguishes targets of one name whose machine was measured or edited, see
    `attribute.py`; `aliases` are further names.
    """

    name: str
    summary: str
    family: str
    machine: Machine
    """The numbers that cost models, layouts and thresholds use."""
    aliases: tuple[str, ...] = ()
    processor: str = ""
    pointer_bits: int = 64
    policy: str = "processor"
    """The policy that writes its schedules: a key of `POLICIES` in `kernels/policy`."""
    level: int = 0
    """Within a family, code of a lower level runs on targets of higher levels; 0 if the family has
    no levels."""
    variants: tuple[Target, ...] = field(default=(), repr=False)
    """The same machine with other operating systems, such as `x86-64-v3-windows`."""

    # -- from the schedule to code -----------------------------------------------------------

    @property
    @abstractmethod
    def stages(self) -> tuple[Stage, ...]:
        """The stages after the schedule; earlier stages are common to all targets."""

    @abstractmethod
    def emit(self, module: Operation, symbols: Symbols, timed: Timed = untimed) -> bytes:
        """The code of a module after the last stage. Raises NncError."""

    @property
    def ends_in_llvm(self) -> bool:
        """Whether the last stage leaves the callable functions in the llvm dialect."""
        return True

    @property
    def caller(self) -> Target:
        """The target of the code that callers call and that launches kernels: the target itself,
        except for devices.
        """
        return self

    @property
    def threads(self) -> Threads | None:
        """The device's thread intrinsics, if LLVM makes its kernels; None for all other targets."""
        return None

    def lacks(self, op: Operation) -> str | None:
        """A feature that an operation of a kernel needs and the target lacks, such as `f64`; None
        if it lacks none. The caller runs such a kernel itself.
        """
        return None

    def here(self) -> Target:
        """This target; if its name (such as `c`) stands for this machine, with this machine's
        numbers.
        """
        return self

    def has_pool(self, module: Operation) -> bool:
        """Whether the code of a module starts threads of its own."""
        defined = {op.properties.get("sym_name") for op in module.body_block}
        return all(StringAttr(name) in defined for name in POOL_SYMBOLS)

    @property
    def keeps_threads_awake(self) -> bool:
        """Whether the threads of its pool wait for a while after a parallel loop, without sleep."""
        return False

    @property
    def proof(self) -> Stage | None:
        """The passes after the schedule that prove its kernels correct; None if there are none."""
        return None

    def notes(self, module: Operation) -> list[str]:
        """Notes for the user about a compiled module, in its state after the last stage."""
        return []

    def told(self, module: Operation) -> str:
        """The line that `nnc compile` prints about a module's work and cost; empty for none."""
        return ""

    def fallbacks(self, module: Operation) -> list[str]:
        """The parts of a module that run elsewhere than on the target, each with the reason."""
        return []

    def text(self, module: Operation, suffix: str) -> str:
        """The module's code as text in the format of a suffix of `files`. Raises NncError."""
        raise NncError(f"'{self.name}' has no {suffix} files")

    def listing(self, module: Operation, line_of: Mapping[Operation, int]) -> Listing | None:
        """The readable code of a module after the last stage; None if it has none. Raises NncError.

        `line_of` has the line, from 0, of each operation in the module's text.
        """
        suffix = next((suffix for suffix, kind in self.files.items() if kind.is_text), None)
        if suffix is None:
            return None
        return Listing.of(suffix, self.text(module, suffix))

    def trial(self, module: Operation, kernels: Sequence[str]) -> TrialCode | None:
        """These kernels as a module that a web page can load and time; None if pages run no such
        code.

        The module, after the last stage, is consumed. Raises NncError.
        """
        return None

    # -- what the user takes away ------------------------------------------------------------

    @property
    @abstractmethod
    def files(self) -> Mapping[str, FileKind]:
        """The kinds of files that a program can be written as, by suffix."""

    @abstractmethod
    def write(
        self, program: Program, path: Path, options: ArtifactOptions, timed: Timed = untimed
    ) -> list[Path]:
        """Write a program as `path` and the files beside it; returns these files, `path` first.

        Raises NncError.
        """

    def for_file(self, path: Path) -> Target:
        """The target to compile for if the code goes into a file of this name: this one, or another
        one of its family whose files have this suffix.
        """
        return self

    def file_in(self, path: Path, options: ArtifactOptions) -> Path:
        """The file to write: `path`, or, with bindings, the library in the folder `path`."""
        return path

    def check_file(self, path: Path, options: ArtifactOptions) -> None:
        """Raise NncError, before any work, for a file that the target cannot be written as."""
        if options.bindings:
            raise NncError(f"bindings call libraries; '{self.name}' has none")
        suffixes = [*self.files, IR]
        if path.suffix not in suffixes:
            raise NncError(f"'{self.name}' is written as {listed(suffixes)}, not as '{path.name}'")

    def joins(self, other: Target) -> bool:
        """Whether one library can hold the code of both targets: two levels of one family."""
        return False

    # -- what runs it ------------------------------------------------------------------------

    @abstractmethod
    def obstacle(self) -> str | None:
        """Why the target's code cannot run in this process; None if it can."""

    def check_runs_here(self) -> None:
        """Raise NncError if the target's code cannot run in this process."""
        obstacle = self.obstacle()
        if obstacle is not None:
            raise NncError(f"code for '{self.name}' does not run here: {obstacle}")

    def check_runs(self, emulate: bool = True) -> None:
        """Raise NncError, saying what to install, if nothing on this machine runs the target's
        code.

        Without `emulate` the runs are to be timed: an emulator, slower than any machine, does not
        count; an engine that makes code for this processor does.
        """
        self.check_runs_here()

    def not_timed(self) -> str | None:
        """Why the times of runs here mean nothing for the target; None if they do."""
        return self.obstacle()

    def foreign_triple(self) -> str | None:
        """The triple of a foreign system to link libraries for; None if the linker needs no C
        library of another system.
        """
        return None

    @property
    def has_clock(self) -> bool:
        """Whether the target's code can read a clock before and after each kernel."""
        return False

    def engine(self) -> Sequence[str] | None:
        """The command of an engine that runs JavaScript on libraries of this target and times them
        by its own clock; None if the code runs in this process. Raises NncError if the engine is
        missing.
        """
        return None

    def replaces_kernels(self, threads: int) -> bool:
        """Whether kernels of a program on this number of threads can be replaced at run time."""
        return False

    def replacing(self, program: Program, kernels: int) -> ReplacingModel | None:
        """A callable program with `kernels` replaceable kernels; None if code is linked into this
        process.

        Raises NncError.
        """
        return None

    @abstractmethod
    def load(self, code: bytes, exports: tuple[str, ...]) -> LinkedCode:
        """Link code into this process; `[name]` of the result is an address.

        Raises NncError if the code does not run here or does not link.
        """

    def built(self, code: bytes) -> bytes:
        """Code in the form that `load_built` takes, which loads fastest. Raises NncError."""
        return code

    def load_built(self, code: bytes, exports: tuple[str, ...]) -> LinkedCode:
        """The result of `built`, linked into this process. Raises NncError."""
        return self.load(code, exports)

    def load_beside(
        self, code: bytes, exports: tuple[str, ...], given: Mapping[str, int]
    ) -> LinkedCode:
        """`load` for code that calls functions of a program, whose addresses are `given`."""
        raise NncError(f"code for '{self.name}' is not linked beside other code")

    def apart(self, module: Operation) -> tuple[bytes, bytes, str]:
        """The parts of a device's module that is added to a running program and has no entry: the
        object file of the code around its kernels, the kernels' code, and a line for each kernel.
        Raises NncError.
        """
        raise NncError(f"'{self.name}' has no kernels apart from its code")

    def running(
        self, program: Program, threads: int, progress: Callable[[str], None] | None = None
    ) -> Model:
        """A program as a callable, by whatever runs it on this machine. Raises NncError."""
        from ..runtime.executable import Executable

        return Executable(program, threads=threads)

    def where_it_runs(self) -> str:
        """`runs here`, `emulated` or `compiles only`, for the list of targets."""
        return "runs here" if self.obstacle() is None else "compiles only"

    @property
    def word(self) -> str:
        """The target's name as a part of C identifiers."""
        return re.sub(r"\W", "_", self.name)


def target(name: str) -> Target:
    """The target of a name or alias; `host` is this machine. Raises NncError if unknown."""
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
    """The target of a name that a user gives, with this machine's measured numbers if
    `NNC_CALIBRATION` is `all`. Raises NncError.
    """
    from .calibration import calibrated, is_for_all

    found = target(name)
    if name == HOST or not is_for_all():
        return found
    return replace(found, machine=calibrated(found.name, found.processor, found.machine))


def all_targets() -> Iterator[Target]:
    """Every target of every family, each under its usual system."""
    for family in FAMILIES:
        yield from module_of(family).TARGETS


def target_names() -> list[str]:
    """`host`, and the names of all targets, each followed by its aliases, under all systems."""
    found = (one for row in all_targets() for one in (row, *row.variants))
    return [HOST, *(name for one in found for name in (one.name, *one.aliases))]


@cache
def find_host() -> Target | None:
    """This machine, with the known and the measured numbers of its processor; None if no family has
    it.
    """
    from .calibration import calibrated

    found = described_host()
    if found is None:
        return None
    return replace(found, machine=calibrated(found.name, found.processor, found.machine))


def described_host() -> Target | None:
    """This machine without the numbers that `nnc calibrate` measured; None if no family has it."""
    found = (module_of(family).host() for family in FAMILIES)
    return next((one for one in found if one is not None), None)


def processor_name() -> str:
    """This machine's processor, by LLVM's name and its maker's."""
    from .calibration import model_name

    found = described_host()
    return f"{(found.processor or found.name) if found else 'unknown'}, {model_name()}"


def host() -> Target:
    """This machine as a target. Raises NncError if no family has its processor."""
    found = find_host()
    if found is not None:
        return found
    import platform

    raise NncError(
        f"no target describes this machine's processor ({platform.machine()}); "
        "name one, `nnc targets` lists all"
    )


def module_of(family: str) -> Any:
    """The package or module of a family of targets."""
    return import_module(f".{family}", __package__)
