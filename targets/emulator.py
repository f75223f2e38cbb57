"""Emulators: programs that run code of other processors, or systems, on this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..ir.cache_home import cache_home
from ..ir.diagnostics import NncError


class Runner(Protocol):
    """A program that runs code of a target on this machine."""

    @property
    def program(self) -> str:
        """The program's name."""
        ...

    def missing(self) -> str | None:
        """The packages to install first; None if nothing is missing."""
        ...

    def command(self) -> list[str]:
        """The start of a command line that runs a program. Raises NncError if it is missing."""
        ...

    def argument(self, path: Path) -> str:
        """A file's path as the emulated program sees it."""
        ...


@dataclass(frozen=True)
class Emulator:
    """A user-mode QEMU, and the libc that emulated programs load.

    `libraries` is the name of the libc's folder, `architecture` Debian's name of the architecture.
    """

    program: str
    processor: str
    """The emulated processor, as QEMU's `-cpu` takes it."""
    libraries: str
    architecture: str
    newer: str = ""
    """The processor for QEMU 9 and later, if it differs."""

    @property
    def root(self) -> Path:
        """The folder whose `lib` has the libc: QEMU_LD_PREFIX, or else the system's."""
        return Path(os.environ.get("QEMU_LD_PREFIX") or f"/usr/{self.libraries}")

    def missing(self) -> str | None:
        """The packages to install first; None if nothing is missing."""
        package = f"libc6-{self.architecture}-cross"
        install = f"`apt-get install qemu-user {package}`, or what has them elsewhere"
        if not shutil.which(self.program):
            return f"{self.program} is not installed: {install}"
        if not (self.root / "lib").is_dir():
            return f"{self.program} needs the processor's libc in {self.root}: {install}"
        return None

    def command(self) -> list[str]:
        """The start of a command line that runs a program. Raises NncError if it is missing."""
        if missing := self.missing():
            raise NncError(missing)
        newer = self.newer and self.version() >= (9, 0)
        processor = self.newer if newer else self.processor
        return [self.program, "-cpu", processor, "-L", str(self.root)]

    def version(self) -> tuple[int, int]:
        """The version of the installed emulator; (0, 0) if unknown."""
        command = [self.program, "--version"]
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        found = re.search(r"version (\d+)\.(\d+)", said)
        return (int(found[1]), int(found[2])) if found else (0, 0)

    def argument(self, path: Path) -> str:
        """A file's path as the emulated program sees it."""
        return str(path)


@dataclass(frozen=True)
class Wine(Emulator):
    """Wine, which runs Windows programs for this machine's processor.

    `processor` is the name of a target whose code this machine must be able to run.
    """

    program: str = "wine"
    processor: str = "x86-64"
    libraries: str = ""
    architecture: str = ""

    def missing(self) -> str | None:
        from .base import target

        obstacle = target(self.processor).obstacle()
        if obstacle is not None:
            return f"wine runs code for '{self.processor}' where Linux does: {obstacle}"
        if not shutil.which(self.program):
            return "wine is not installed: `apt-get install wine64 wine`"
        return None

    def command(self) -> list[str]:
        if missing := self.missing():
            raise NncError(missing)
        home = Path(os.environ.get("WINEPREFIX") or cache_home() / "wine")
        command = ["env", f"WINEPREFIX={home}", "WINEDEBUG=-all", self.program]
        _make_once(home, [*command, "wineboot", "--init"])
        return command

    def argument(self, path: Path) -> str:
        return f"Z:{path}"


def _make_once(home: Path, command: list[str]) -> None:
    """Let Wine create its home folder, unless it exists.

    If two programs start Wine at once without that folder, one of them fails. Raises NncError.
    """
    import fcntl

    made = home / "drive_c"
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        with home.with_name(f"{home.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not made.is_dir():
                subprocess.run(command, check=True, capture_output=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as error:
        raise NncError(f"wine cannot make its folder '{home}': {error}") from None
