"""Links object files into libraries, by the system's C compiler driver or the `ziglang` package."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from ..ir.diagnostics import NncError
from ..runtime.systems import LINUX, SYSTEMS, WINDOWS_START, System, system_of

_DATA = {
    "elf": """\
.section .rodata.{0},"a"
.globl {0}
.hidden {0}
.balign {2}
{0}: .incbin "{1}"
.section .note.GNU-stack,""
""",
    "macho": """\
.section __TEXT,__const
.globl _{0}
.private_extern _{0}
.balign {2}
_{0}: .incbin "{1}"
.subsections_via_symbols
""",
    "coff": """\
.section .rdata,"dr"
.globl {0}
.balign {2}
{0}: .incbin "{1}"
""",
}
"""For each object format, assembler text that defines a symbol for a file's bytes with an
alignment."""


def _windows_libraries(*parts: str) -> list[str]:
    """Options that link kernel32 and parts of the Windows C library (since Windows 10)."""
    return [f"-l{one}" for one in ("kernel32", *(f"api-ms-win-crt-{one}-l1-1-0" for one in parts))]


_NO_RUNTIME = ("-nostdlib", "-rtlib=compiler-rt", "-Wl,--gc-sections")
"""Nothing of a compiler's start-up code or C library is linked: Zig would build its own first,
which takes minutes."""
_WINDOWS_LIBRARIES = _windows_libraries("heap", "math", "string", "environment")
"""The system libraries that a library for Windows may need."""
_WINDOWS_PROGRAM = [
    *_NO_RUNTIME,
    "-Wl,--entry,mainCRTStartup,--subsystem,console",
    *_WINDOWS_LIBRARIES,
    *_windows_libraries("convert", "runtime", "stdio")[1:],
]
"""The linker options of a program for Windows."""

GLIBC = {"": "2.28", "powerpc64le": "2.32"}
"""The oldest glibc that cross-compiled libraries run with: that of Debian 10, Raspberry Pi OS of
2019 and RHEL 8. Power has a 128-bit `long double` since the later version."""


@dataclass(frozen=True)
class Toolchain:
    """The commands of a C compiler driver and of an archiver, for a system."""

    driver: tuple[str, ...]
    archiver: tuple[str, ...]
    system: System = LINUX

    def compile(self, source: Path, output: Path, defines: dict[str, str]) -> None:
        """Compile C or assembler text to a position-independent object file. Raises NncError."""
        flags = ["-Os", "-fPIC", "-fvisibility=hidden"]
        flags += [f"-D{name}={value}" for name, value in defines.items()]
        self._run([*self.driver, "-c", *flags, str(source), "-o", str(output)])

    def data_object(self, symbol: str, data: Path, alignment: int, output: Path) -> None:
        """Make an object file that holds a file's bytes at a hidden symbol."""
        text = output.with_suffix(".s")
        text.write_text(_DATA[self.system.object_format].format(symbol, data.name, alignment))
        self._run([*self.driver, "-c", text.name, "-o", output.name], data.parent)

    def shared_library(
        self, objects: Sequence[Path], output: Path, exports: Sequence[str] = ()
    ) -> None:
        """Link a stripped shared library that needs only libc, libm and the threads library.

        A library for Windows gets an import library beside it, with the suffix `.lib`, and exports
        the functions `exports`, or all if these are empty; elsewhere object files mark exports.
        """
        given = list(map(str, objects))
        match self.system.object_format:
            case "elf":
                options = ["-Wl,--gc-sections,--build-id=none", "-lm", "-lpthread"]
            case "macho":
                options = ["-Wl,-x", f"-Wl,-install_name,@rpath/{output.name}"]
            case "coff":
                names = output.with_suffix(".def")
                names.write_text("\n".join(("EXPORTS", *exports, "")))
                given.append(str(names))
                options = [*_NO_RUNTIME, "-Wl,--no-entry"]
                options += [f"-Wl,--out-implib={output.with_suffix('.lib')}"]
                options += _WINDOWS_LIBRARIES
        # Zig links what is not optimized with a library for sanitizers, which it has to make first.
        command = [*self.driver, "-O2", "-shared", "-s", "-o", str(output)]
        self._run([*command, *given, *options])

    def program(
        self,
        source: Path,
        output: Path,
        given: Sequence[Path] = (),
        defines: Mapping[str, str] | None = None,
    ) -> None:
        """Compile and link a C file, and the `given` object files and libraries, to a program.

        It needs the installed libc; for Windows only the C library of Windows. Raises NncError.
        """
        flags = [f"-D{name}={value}" for name, value in (defines or {}).items()]
        libraries = list(map(str, given))
        # Optimized as libraries are: Zig makes what it links for each way of optimizing.
        command = [*self.driver, "-O2", "-s", "-o", str(output)]
        if self.system.object_format != "coff":
            libraries += ["-ldl"] if self.system is LINUX else []
            self._run([*command, *flags, str(source), *libraries])
            return
        with TemporaryDirectory(prefix="nnc-") as folder:
            objects: list[str] = []
            # Zig has no headers of C for what is linked without its C library.
            for i, one in enumerate((source, WINDOWS_START)):
                made = Path(folder) / f"{i}.o"
                self._run([*self.driver, "-O2", "-c", *flags, str(one), "-o", str(made)])
                objects.append(str(made))
            self._run([*command, *objects, *libraries, *_WINDOWS_PROGRAM])

    def archive(self, objects: Sequence[Path], output: Path) -> None:
        """Make a static library with an index of its symbols."""
        self._run([*self.archiver, "rcs", str(output), *map(str, objects)])

    def _run(self, command: list[str], folder: Path | None = None) -> None:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        except OSError as error:
            raise NncError(f"cannot run {command[0]}: {error.strerror or error}") from None
        if done.returncode:
            raise NncError(f"{command[0]} failed: {done.stderr.strip()}")


def find_toolchain(triple: str | None = None) -> Toolchain:
    """The system's toolchain, or else that of the ziglang package, which can target other systems.

    Without a triple it is for this system. Raises NncError if there is none.
    """
    zig = (sys.executable, "-m", "ziglang")
    if triple is not None:
        if not find_spec("ziglang"):
            raise NncError(
                f"a library for {triple} needs a linker: `pip install 'nnc[cross]'`; "
                "or write a .o instead"
            )
        architecture, _, *rest = triple.split("-")
        system = system_of(triple)
        libc = GLIBC.get(architecture, GLIBC[""])
        named = f"{'-'.join((architecture, *rest))}.{libc}"
        if system is not LINUX:
            named = f"{architecture}-{system.linker}"
        return Toolchain((*zig, "cc", "-target", named), (*zig, "ar"), system)
    driver = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    archiver = shutil.which("ar") or shutil.which("llvm-ar")
    here = next((one for one in SYSTEMS if one.name == platform.system().lower()), LINUX)
    if driver and archiver:
        return Toolchain((driver,), (archiver,), here)
    if find_spec("ziglang"):
        return Toolchain((*zig, "cc"), (*zig, "ar"), here)
    raise NncError(
        "a library needs a linker: install a C compiler (cc), or `pip install ziglang`; "
        "or write a .o instead"
    )
