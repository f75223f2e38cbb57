"""Object files into libraries, by the system's C compiler driver or the `ziglang` package."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..ir.diagnostics import NncError


@dataclass(frozen=True)
class Toolchain:
    """The commands of a C compiler driver and of an archiver."""

    driver: tuple[str, ...]
    archiver: tuple[str, ...]

    def compile(self, source: Path, output: Path, defines: dict[str, str]) -> None:
        """An object file of C or assembler text, position-independent. Raises NncError."""
        flags = ["-Os", "-fPIC", "-fvisibility=hidden"]
        flags += [f"-D{name}={value}" for name, value in defines.items()]
        self._run([*self.driver, "-c", *flags, str(source), "-o", str(output)])

    def shared_library(self, objects: Sequence[Path], output: Path) -> None:
        """A stripped shared library that needs libc, libm and the threads library alone."""
        options = ("-shared", "-s", "-Wl,--gc-sections,--build-id=none")
        libraries = ("-lm", "-lpthread")
        self._run([*self.driver, *options, "-o", str(output), *map(str, objects), *libraries])

    def program(self, source: Path, output: Path) -> None:
        """A program of C text that loads libraries, for the libc that is there."""
        self._run([*self.driver, "-Os", "-s", str(source), "-o", str(output), "-ldl"])

    def archive(self, objects: Sequence[Path], output: Path) -> None:
        """A static library with an index of its symbols."""
        self._run([*self.archiver, "rcs", str(output), *map(str, objects)])

    def _run(self, command: list[str]) -> None:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise NncError(f"cannot run {command[0]}: {error.strerror or error}") from None
        if done.returncode:
            raise NncError(f"{command[0]} failed: {done.stderr.strip()}")


def find_toolchain(triple: str | None = None) -> Toolchain:
    """The system's, else the one of the ziglang package, which alone has other systems' too.

    Without a triple it is this system's. Raises NncError where there is none.
    """
    zig = (sys.executable, "-m", "ziglang")
    if triple is not None:
        if not find_spec("ziglang"):
            raise NncError(
                f"a library for {triple} needs a linker: `pip install 'nnc[cross]'`; "
                "or write a .o instead"
            )
        architecture, _, *system = triple.split("-")
        named = "-".join((architecture, *system))
        return Toolchain((*zig, "cc", "-target", named), (*zig, "ar"))
    driver = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    archiver = shutil.which("ar") or shutil.which("llvm-ar")
    if driver and archiver:
        return Toolchain((driver,), (archiver,))
    if find_spec("ziglang"):
        return Toolchain((*zig, "cc"), (*zig, "ar"))
    raise NncError(
        "a library needs a linker: install a C compiler (cc), or `pip install ziglang`; "
        "or write a .o instead"
    )
