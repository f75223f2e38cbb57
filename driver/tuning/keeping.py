"""The folder that tuning writes to: results are added, files edited by a person stay."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...ir.diagnostics import NncError
from ...ir.files import write_whole
from ...ir.version import VERSION
from ...kernels.tuned import TunedFolder, TunedSchedule, numbers_digest
from ...targets.attribute import machine_name
from ...targets.base import Target

Say = Callable[[str], None]


@dataclass(frozen=True)
class Origin:
    """What measurements depend on, except the default schedule they are compared with."""

    machine: str
    numbers: str
    threads: int
    version: str = VERSION

    @staticmethod
    def of(target: Target, threads: int) -> Origin:
        return Origin(machine_name(target), numbers_digest(target), threads)

    def holds_for(self, one: TunedSchedule, default: str) -> bool:
        """Whether a stored measurement still holds; `default` is the digest of the schedule that it
        is compared with.
        """
        relied = (one.machine, one.numbers, one.threads, one.version, one.default)
        mine = (self.machine, self.numbers, self.threads, self.version, default)
        return relied == mine and not one.edited


class Keeper:
    """The schedules of a folder, which is created if it is missing. Raises NncError."""

    def __init__(self, folder: Path, say: Say = lambda message: None) -> None:
        self.folder, self._say = folder, say
        self.there = TunedFolder(folder).read() if folder.is_dir() else {}
        self._before = {key: _bytes(one) for key, one in self.there.items()}
        self._told: set[Path] = set()
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise NncError(f"cannot write '{folder}': {error.strerror or error}") from None

    def of(self, machine: str) -> dict[str, TunedSchedule]:
        """The schedules for a machine, by the fingerprints of their kernels."""
        return {one.kernel: one for one in self.there.values() if one.machine == machine}

    def store(self, one: TunedSchedule) -> None:
        """Write a schedule over its kernel's old one, or beside one that was edited by hand."""
        old = self.there.get((one.kernel, one.machine))
        if old is None or old.path is None:
            path = one.write(self.folder)
        elif not old.edited:
            path = one.write(self.folder, old.path)
        else:
            beside = _beside(old.path)
            if str(_renamed(old, one)) == str(one.schedule):
                return
            one.write(self.folder, beside)
            if beside not in self._told:
                self._told.add(beside)
                self._say(f"{old.path} was edited by hand and stays; what is faster is in {beside}")
            return
        self.there[one.kernel, one.machine] = TunedSchedule.read(path)

    def finish(
        self,
        kept: Mapping[str, TunedSchedule],
        kernels: set[str],
        machine: str,
        holding: Collection[str] = (),
    ) -> None:
        """Write the schedules to keep, and remove all others of these kernels for this machine.

        Kernels in `holding` keep, or get back, the file from before the search.
        """
        for one in kept.values():
            self.store(one)
        for (kernel, where), one in list(self.there.items()):
            if where != machine or kernel not in kernels or kernel in kept or one.path is None:
                continue
            if kernel in holding and (before := self._before.get((kernel, where))) is not None:
                if before != _bytes(one):
                    write_whole(one.path, before)
                continue
            if one.edited:
                remove(_beside(one.path))
                self._say(f"{one.path} was edited by hand and stays; it is not faster")
                continue
            remove(one.path)
            del self.there[kernel, where]


def _bytes(one: TunedSchedule) -> bytes:
    """The contents of a schedule's file; empty if a person has removed the file meanwhile."""
    assert one.path is not None
    try:
        return one.path.read_bytes()
    except OSError:
        return b""


def remove(path: Path) -> None:
    """Remove a file, if it is there. Raises NncError."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise NncError(f"cannot remove '{path}': {error.strerror or error}") from None


def _beside(path: Path) -> Path:
    """The path for a result that must not replace an edited file."""
    return path.with_name(f"{path.name}.new")


def _renamed(old: TunedSchedule, one: TunedSchedule) -> object:
    copy = old.copy()
    copy.kernel = one.schedule.kernel
    return copy
