"""Schedules that `nnc tune` has found: a folder with a file of text for each kind of kernel.

    module attributes {nnc.tuned = {kernel = "8f3c..", gain = 0.083 : f64, spread = 0.012 : f64,
                                    machine = "'x86-64-v3' (processor znver3, cores 2)", ..}} {
      schedule.for @blocked_conv_0 {
        ..
      }
    }

`kernel` is the fingerprint of the kernels that it is for: they differ in names and places only. A
schedule may be edited; where it is not legal any more, the default is taken, and that is said. The
first line of a file has a digest of all others, by which an edited one is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from ..dialects import func, schedule
from ..dialects.builtin import ModuleOp
from ..dialects.marks import CYCLES
from ..dialects.strict_math import STRICT_MATH
from ..ir.attributes import DictAttr, FloatAttr, I64Attr, IntegerAttr, StringAttr
from ..ir.core import Block, Operation
from ..ir.diagnostics import NncError
from ..ir.files import read_text, write_whole
from ..ir.syntax.parser import parse_module
from ..ir.syntax.printer import print_op
from ..ir.types import f64
from ..ir.version import VERSION
from ..targets.attribute import detailed, machine_name
from ..targets.base import Target
from .model.nest import build_nest
from .model.places import place_nests
from .model.stages import stages_of
from .policy.candidates import discard_made
from .primitives.primitive import Progress

TUNED = "nnc.tuned"
"""On a module: the kernel that its schedule is for, and what was measured."""

_TEXTS = ("kernel", "machine", "version", "told")
_NUMBERS = ("gain", "spread")
_LATER_TEXTS = ("default", "numbers")
"""Entries that older files lack; a schedule without them is measured again."""
_WRITTEN = re.compile(r"// Written by nnc tune (\S*) \(digest ([0-9a-f]*)\)")
_DIGITS = 16
"""The number of hexadecimal digits of digests in files."""


def fingerprint(function: func.FuncOp) -> str:
    """A digest of a kernel without its name, its places and the names of its values."""
    copy = function.clone()
    assert isinstance(copy, func.FuncOp)
    copy.sym_name = "kernel"
    copy.attributes.pop(CYCLES, None)
    module = function.parent_op
    strict = module is not None and STRICT_MATH in module.attributes
    return sha256(f"{strict} {print_op(copy, generic=True)}".encode()).hexdigest()


def schedule_digest(one: schedule.For) -> str:
    """A digest of a schedule without the name of its kernel."""
    copy = one.clone()
    assert isinstance(copy, schedule.For)
    copy.kernel = "kernel"
    return digest_of(str(copy))


def numbers_digest(target: Target) -> str:
    """A digest of all numbers of a target that the choice of schedules depends on."""
    return digest_of(detailed(target))


def digest_of(text: str) -> str:
    """A digest of a text, independent of how its lines end."""
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return sha256(lines.encode()).hexdigest()[:_DIGITS]


@dataclass(frozen=True)
class TunedSchedule:
    """A schedule, the fingerprint of its kernels, and its measurements.

    `gain` is the part of the kernel's time that it saves, `spread` its uncertainty; `machine`
    is the target that it was measured on, `told` the decisions that differ from the default's. The
    gain is valid for the `version` of nnc, `threads` (0: not known), and the digests of the
    `default` schedule and of the machine's `numbers`. If the schedule was read from a file, `path`
    is the file, and `edited` says whether it was edited by hand.
    """

    kernel: str
    schedule: schedule.For
    gain: float = 0.0
    spread: float = 0.0
    machine: str = ""
    version: str = ""
    told: str = ""
    default: str = ""
    numbers: str = ""
    threads: int = 0
    path: Path | None = field(default=None, compare=False)
    edited: bool = field(default=False, compare=False)

    def copy(self) -> schedule.For:
        """The schedule, to be put into a module."""
        made = self.schedule.clone()
        assert isinstance(made, schedule.For)
        return made

    @property
    def file_name(self) -> str:
        """The name of its file: the kernel's name, then digests of the kernel and of the machine.

        The name comes from a text, and may be `../x`: what is no letter of a name is replaced.
        """
        machine = sha256(self.machine.encode()).hexdigest()
        name = re.sub(r"[^\w.-]", "_", self.schedule.kernel)
        return f"{name}-{self.kernel[:12]}-{machine[:6]}.mlir"

    @property
    def text(self) -> str:
        """The text of a module with the schedule and its measurements."""
        texts = [(name, StringAttr(getattr(self, name))) for name in (*_TEXTS, *_LATER_TEXTS)]
        numbers = [(name, FloatAttr(round(getattr(self, name), 5), f64)) for name in _NUMBERS]
        module = ModuleOp.of([self.copy()])
        threads = ("threads", I64Attr(self.threads))
        module.attributes[TUNED] = DictAttr((*texts, *numbers, threads))
        return f"{module}\n"

    def content(self) -> str:
        """The content of its file: comments for readers, a digest of the rest, and the text."""
        rest = (
            f"// {self.gain:.1%} faster than the default, +- {self.spread:.1%}. Used by --tuned.\n"
            f"// It may be edited: nnc tune does not overwrite edited files.\n{self.text}"
        )
        return f"// Written by nnc tune {self.version} (digest {digest_of(rest)})\n{rest}"

    def write(self, folder: Path, path: Path | None = None) -> Path:
        """Write it as a file, by default `file_name` in the folder, and return the path.

        Raises NncError.
        """
        path = path or folder / self.file_name
        write_whole(path, self.content())
        return path

    @staticmethod
    def read(path: Path) -> TunedSchedule:
        """The schedule in a file. Raises NncError with the location if it is not such a file."""
        return replace(TunedSchedule.parse(read_text(path), str(path)), path=path)

    @staticmethod
    def parse(text: str, name: str) -> TunedSchedule:
        """The schedule in the text of a file called `name`. Raises NncError."""
        first, _, rest = text.partition("\n")
        written = _WRITTEN.match(first)
        try:
            module = parse_module(text, name)
            module.verify()
            found = _content(module)
        except NncError as error:
            if written is None or written[1] == VERSION:
                raise
            about = f"{error.message}; it was written by nnc {written[1]}, this is {VERSION}"
            raise NncError(replace(error.diagnostic, message=about)) from None
        edited = written is None or written[2] != digest_of(rest)
        return replace(found, edited=edited)


def _content(module: ModuleOp) -> TunedSchedule:
    """The schedule in a file's module. Raises NncError for another kind of module."""
    about = module.attributes.get(TUNED)
    found = [op for op in module.body_block if isinstance(op, schedule.For)]
    if not isinstance(about, DictAttr) or len(found) != 1 or len(list(module.body_block)) != 1:
        message = f"is not a file of nnc tune: a module with '{TUNED}' and one schedule is expected"
        raise module.error(message)
    given = dict(about.items())
    expected = [(name, StringAttr) for name in _TEXTS] + [(name, FloatAttr) for name in _NUMBERS]
    later = [(name, StringAttr) for name in _LATER_TEXTS] + [("threads", IntegerAttr)]
    for name, kind in (*expected, *(row for row in later if row[0] in given)):
        if not isinstance(given.get(name), kind):
            raise module.error(f"'{TUNED}': '{name}' is missing, or of another type than expected")
    names = [name for name, _ in (*expected, *later) if name in given]
    values = {name: given[name].value for name in names}  # type: ignore[attr-defined]
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
        return sorted(set(self.path.glob("*.mlir")).difference(self.choice_files()))

    def choice_files(self) -> list[Path]:
        """The files of its choices on graphs, ordered by name."""
        return sorted(self.path.glob("*.choice.mlir"))

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
        """A digest of the folder's schedules and choices, for the key of a cached compilation.

        Raises NncError if there is no folder, or a file cannot be read.
        """
        digest = sha256(f"{self.anywhere}".encode())
        for path in (*self.files(), *self.choice_files()):
            try:
                digest.update(sha256(path.read_bytes()).digest())
            except OSError as error:
                raise NncError(f"cannot read '{path}': {error.strerror or error}") from None
        return digest.hexdigest()


class TunedSource:
    """Looks up kernels' schedules in a folder, and counts hits and misses."""

    def __init__(self, folder: TunedFolder) -> None:
        self.folder = folder
        self._schedules: Mapping[tuple[str, str], TunedSchedule] = folder.read()
        self._any = {one.kernel: one for one in self._schedules.values()}
        self.used = self.kernels = 0
        self.notes: list[str] = []
        self._counts: dict[str, int] = {}

    def find(self, function: func.FuncOp, block: Block, target: Target) -> schedule.For | None:
        """A kernel's schedule; None where there is none for it that is legal."""
        self.kernels += 1
        key, machine = fingerprint(function), machine_name(target)
        one = self._schedules.get((key, machine)) or self._any.get(key)
        if one is None:
            return None
        if one.machine != machine and not self.folder.anywhere:
            self._count(f"for {one.machine} and are not used: --tuned-anywhere uses them")
            return None
        copy = one.copy()
        copy.kernel = function.sym_name
        try:
            check_schedule(copy, block)
        except NncError as error:
            self.notes.append(f"{error}; the default is taken".replace("error: ", ""))
            return None
        self.used += 1
        self._tell(one, target)
        return copy

    def _tell(self, one: TunedSchedule, target: Target) -> None:
        """Record in what way a schedule's circumstances differ from those of its measurement."""
        again = "nnc tune measures them again"
        if one.edited:
            self._count("edited by hand since they were measured")
        elif one.version != VERSION:
            self._count(f"measured with nnc {one.version}, this is {VERSION}: {again}")
        elif one.machine == machine_name(target) and one.numbers not in (
            "",
            numbers_digest(target),
        ):
            self._count(f"measured before this machine was calibrated anew: {again}")

    def _count(self, what: str) -> None:
        self._counts[what] = self._counts.get(what, 0) + 1

    def summary(self) -> list[str]:
        """Lines for users that tell which schedules of the folder were used."""
        where = self.folder.path
        lines = [f"{where}: {self.used} of {self.kernels} kernels have a tuned schedule"]
        if not self.used and not self._counts and not self.notes and self._schedules:
            what = "an op, a shape or a type differs, or nnc makes other kernels of it now"
            lines.append(f"{where}: its schedules are for other kernels: {what}")
        lines += [f"{where}: {count} schedules are {what}" for what, count in self._counts.items()]
        return [*lines, *self.notes]


def check_schedule(one: schedule.For, block: Block) -> None:
    """Raise NncError at the faulty operation if a schedule is illegal for these stages."""
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
