"""Emulators: programs that run code of other processors on this machine."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from ..ir.diagnostics import NncError


@dataclass(frozen=True)
class Emulator:
    """A user-mode QEMU, and the libc that emulated programs load.

    `libraries` is the name of the libc's folder, `architecture` Debian's word for it.
    """

    program: str
    processor: str
    """The processor that is emulated, as `-cpu` takes it."""
    libraries: str
    architecture: str

    @property
    def root(self) -> Path:
        """The folder whose `lib` has the libc: what QEMU_LD_PREFIX says, else the system's."""
        return Path(os.environ.get("QEMU_LD_PREFIX") or f"/usr/{self.libraries}")

    def missing(self) -> str | None:
        """What has to be installed first; None where all is there."""
        package = f"libc6-{self.architecture}-cross"
        install = f"`apt-get install qemu-user {package}`, or what has them elsewhere"
        if not shutil.which(self.program):
            return f"{self.program} is not installed: {install}"
        if not (self.root / "lib").is_dir():
            return f"{self.program} needs the processor's libc in {self.root}: {install}"
        return None

    def command(self) -> list[str]:
        """The start of a command line that runs a program. Raises NncError."""
        if missing := self.missing():
            raise NncError(missing)
        return [self.program, "-cpu", self.processor, "-L", str(self.root)]
