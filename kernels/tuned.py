"""Schedules that `nnc tune` has found: a folder with a file of text for each kind of kernel.

    module attributes {nnc.tuned = {kernel = "8f3c..", gain = 0.083 : f64, spread = 0.012 : f64,
                                    machine = "'x86-64-v3' (processor znver3, cores 2)", ..}} {
      schedule.for @blocked_conv_0 {
        ..
      }
    }

`kernel` is the fingerprint of the kernels that it is for: they differ in names and places only. A
schedule may be edited; where it is not legal any more, the default is taken, and that is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ..dialects import func, schedule
from ..dialects.builtin import ModuleOp
from ..dialects.marks import CYCLES
from ..dialects.strict_math import STRICT_MATH
from ..ir.attributes import DictAttr, FloatAttr, StringAttr
from ..ir.core import Block, Operation
from ..ir.diagnostics import NncError
from ..ir.files import write_whole
from ..ir.syntax.parser import parse_module
from ..ir.syntax.printer import print_op
from ..ir.types import f64
from .model.nest import build_nest
from .model.places import place_nests
from .model.stages import stages_of
from .policy.candidates import discard_made
from .primitives.primitive import Progress

TUNED = "nnc.tuned"
"""Of a module: which kernel its schedule is for, and what was measured."""

_TEXTS = ("kernel", "machine", "version", "told")
_NUMBERS = ("gain", "spread")


def fingerprint(function: func.FuncOp) -> str:
    """A digest of a kernel without its name, its places and the names of its values."""
    copy = function.clone()
    assert isinstance(copy, func.FuncOp)
    copy.sym_name = "kernel"
    copy.attributes.pop(CYCLES, None)
    module = function.parent_op
    strict = module is not None and STRICT_MATH in module.attributes
    return sha256(f"{strict} {print_op(copy, generic=True)}".encode()).hexdigest()


@dataclass(frozen=True)
class TunedSchedule:
    """A schedule, the fingerprint of its kernels, and what was found of it.

    `gain` is the part of the kernel's time that it saves, `spread` how sure that is; `machine`
    the target that it was measured on; `told` what was decided otherwise than by default.
    """

    kernel: str
    schedule: schedule.For
    gain: float = 0.0
    spread: float = 0.0
    machine: str = ""
    version: str = ""
    told: str = ""

    def copy(self) -> schedule.For:
        """The schedule, to be put into a module."""
        made = self.schedule.clone()
        assert isinstance(made, schedule.For)
        return made

    @property
    def file_name(self) -> str:
        """The name of its file: a kernel's, and what tells kernels and machines apart.

        A kernel that a text names may be called anything, `../x` too.
        """
        machine = sha256(self.machine.encode()).hexdigest()
        name = re.sub(r"[^\w.-]", "_", self.schedule.kernel)
        return f"{name}-{self.kernel[:12]}-{machine[:6]}.mlir"

    @property
    def text(self) -> str:
        """A module with the schedule and what is known of it."""
        texts = [(name, StringAttr(getattr(self, name))) for name in _TEXTS]
        numbers = [(name, FloatAttr(round(getattr(self, name), 5), f64)) for name in _NUMBERS]
        module = ModuleOp.of([self.copy()])
        module.attributes[TUNED] = DictAttr((*texts, *numbers))
        return f"{module}\n"

    def write(self, folder: Path) -> Path:
        """Write its file, whole, and return its path. Raises NncError."""
        about = (
            f"// Written by nnc tune {self.version}: {self.gain:.1%} faster than the default, "
            f"+- {self.spread:.1%}.\n// Used by --tuned; it may be edited.\n"
        )
        path = folder / self.file_name
        write_whole(path, about, self.text)
        return path

    @staticmethod
    def read(path: Path) -> TunedSchedule:
        """What a file has. Raises NncError with file and place where it is none of these files."""
        try:
            text = path.read_bytes().decode("utf-8")
        except OSError as error:
            raise NncError(f"cannot read '{path}': {error.strerror or error}") from None
        except UnicodeDecodeError as error:
            raise NncError(f"{path}: not UTF-8 text (byte {error.start})") from None
        module = parse_module(text, str(path))
        module.verify()
        about = module.attributes.get(TUNED)
        found = [op for op in module.body_block if isinstance(op, schedule.For)]
        if not isinstance(about, DictAttr) or len(found) != 1 or len(list(module.body_block)) != 1:
            message = (
                f"is no file of nnc tune: a module with '{TUNED}' and one schedule is expected"
            )
            raise module.error(message)
        given = dict(about.items())
        wrong = [n for n in _TEXTS if not isinstance(given.get(n), StringAttr)]
        wrong += [n for n in _NUMBERS if not isinstance(given.get(n), FloatAttr)]
        if wrong:
            raise module.error(f"'{TUNED}' has no '{wrong[0]}', or not of its type")
        values = {name: given[name].value for name in (*_TEXTS, *_NUMBERS)}  # type: ignore[attr-defined]
        return TunedSchedule(schedule=found[0], **values)


@dataclass(frozen=True)
class TunedFolder:
    """A folder of schedules; those of other machines count only with `anywhere`."""

    path: Path
    anywhere: bool = False

    def files(self) -> list[Path]:
        """Its schedules' files, ordered by name. Raises NncError where there is no folder."""
        if not self.path.is_dir():
            raise NncError(f"cannot read tuned schedules: there is no folder '{self.path}'")
        return sorted(self.path.glob("*.mlir"))

    def read(self) -> dict[tuple[str, str], TunedSchedule]:
        """The schedules by the fingerprints of their kernels and the machine. Raises NncError."""
        found: dict[tuple[str, str], TunedSchedule] = {}
        for path in self.files():
            one = TunedSchedule.read(path)
            if (one.kernel, one.machine) in found:
                raise NncError(f"{path}: the folder has another schedule of its kernel and machine")
            found[one.kernel, one.machine] = one
        return found

    def digest(self) -> str:
        """A digest of all that a compilation takes from it. Raises NncError."""
        digest = sha256(f"{self.anywhere}".encode())
        for path in self.files():
            try:
                digest.update(sha256(path.read_bytes()).digest())
            except OSError as error:
                raise NncError(f"cannot read '{path}': {error.strerror or error}") from None
        return digest.hexdigest()


class TunedSource:
    """Gives kernels their schedules from a folder, and counts."""

    def __init__(self, folder: TunedFolder) -> None:
        self.folder = folder
        self._schedules: Mapping[tuple[str, str], TunedSchedule] = folder.read()
        self._any = {one.kernel: one for one in self._schedules.values()}
        self.used = self.kernels = 0
        self.notes: list[str] = []
        self._foreign: dict[str, int] = {}

    def find(self, function: func.FuncOp, block: Block, machine: str) -> schedule.For | None:
        """A kernel's schedule; None where there is none for it that is legal."""
        self.kernels += 1
        key = fingerprint(function)
        one = self._schedules.get((key, machine)) or self._any.get(key)
        if one is None:
            return None
        if one.machine != machine and not self.folder.anywhere:
            self._foreign[one.machine] = self._foreign.get(one.machine, 0) + 1
            return None
        copy = one.copy()
        copy.kernel = function.sym_name
        try:
            check_schedule(copy, block)
        except NncError as error:
            self.notes.append(f"{error}; the default is taken".replace("error: ", ""))
            return None
        self.used += 1
        return copy

    def summary(self) -> list[str]:
        """Lines that say what became of the folder."""
        where = self.folder.path
        lines = [f"{where}: {self.used} of {self.kernels} kernels have a tuned schedule"]
        for machine, count in self._foreign.items():
            lines.append(f"{where}: {count} schedules are for {machine} and are not used")
        return [*lines, *self.notes]


def check_schedule(one: schedule.For, block: Block) -> None:
    """Raises NncError at the faulty operation where a schedule is not legal for these stages."""
    stages = stages_of(block)
    body = one.regions[0].block
    if len(body.args) != len(stages):
        raise one.error(f"has {len(body.args)} stages, the kernel has {len(stages)}")
    progress = Progress(stages, body.args)
    try:
        for op in body:
            progress.carry_out(op)
        place_nests(block, build_nest(progress.plan))
    finally:
        discard_made(progress.plan)


def kernel_functions(module: Operation) -> list[func.FuncOp]:
    """The functions of a module that may have schedules."""
    return [f for f in module.body_block if isinstance(f, func.FuncOp) and not f.is_declaration]
