"""Operating systems: their names, libraries, and thread properties.

A system other than the usual one is a suffix of the target's name: `x86-64-v3-windows`,
`apple-m1-linux`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

WINDOWS_START = Path(__file__).with_name("windows_start.c")
"""The source of the start-up code of programs that use only Windows' own C library."""


@dataclass(frozen=True)
class System:
    """An operating system. Units: bytes."""

    name: str
    """The name from `platform.system()`, in lower case."""
    word: str
    """The name in targets' names."""
    title: str
    triple: str
    """The part after the architecture in LLVM's triples."""
    linker: str
    """The same in triples of the cross linker."""
    object_format: Literal["elf", "macho", "coff"]
    library: str
    """The suffix of shared libraries."""
    thread_stack: int
    """The default stack size of a thread, in bytes."""

    def library_name(self, name: str) -> str:
        """The file name of a shared library, by its name for linking."""
        return (
            f"{name}{self.library}" if self.object_format == "coff" else f"lib{name}{self.library}"
        )


LINUX = System("linux", "linux", "Linux", "unknown-linux-gnu", "linux-gnu", "elf", ".so", 8 << 20)
WINDOWS = System(
    "windows", "windows", "Windows", "w64-windows-gnu", "windows-gnu", "coff", ".dll", 1 << 20
)
MACOS = System(
    "darwin",
    "macos",
    "macOS",
    "apple-macosx11.0.0",
    "macos.11.0-none",
    "macho",
    ".dylib",
    512 << 10,
)
"""macOS 11 is the first version for Apple's own processors. The stack is that of threads other than
a program's first (see Apple's "Thread Management"), as callers and the pool's threads may be."""

SYSTEMS = (LINUX, WINDOWS, MACOS)


def system_of(triple: str) -> System:
    """The system of an LLVM triple; Linux if it names none of the others."""
    return next((one for one in SYSTEMS if triple.endswith(one.triple)), LINUX)
